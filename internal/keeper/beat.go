package keeper

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// beatFile is locked by the one process of a host, user and database that sends the database this
// host's heartbeat.
const beatFile = "beat"

// keepBeat begins to wait until no other process sends the database this host's heartbeat, and then to do so itself,
// until the context ends.
func (r *Runner) keepBeat(ctx context.Context, s *state) {
	f, err := s.epoch.OpenFile(beatFile, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		r.notef("%v", err)
		return
	}
	go r.beatFrom(ctx, f)
}

func (r *Runner) beatFrom(ctx context.Context, f *os.File) {
	defer f.Close()
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.EINTR) {
			r.notef("%s: %v", beatFile, err)
			return
		}
	}
	for wait, told := time.Duration(0), lastBeat(f); r.Beat != nil && sleep(ctx, wait); {
		if wait = time.Until(told.Add(r.BeatEvery)); wait > 0 && wait <= r.BeatEvery {
			continue
		}
		if err := r.Beat(ctx); err != nil {
			r.notef("%v", err)
			wait = min(beatAgain, r.BeatEvery)
			continue
		}
		told, wait = time.Now(), r.BeatEvery
		f.WriteAt([]byte(told.UTC().Format(beatTime)), 0) //nolint:errcheck // the next process sends it again
	}
}

// beatAgain is the pause after a heartbeat that failed.
const beatAgain = 30 * time.Second

// beatTime formats the time of the last heartbeat in the file. Its length is always the same. The
// next process to lock the file need not send a heartbeat so soon again.
const beatTime = "2006-01-02T15:04:05Z"

// bootAt is the offset in the file of the boot id for which Started was last called.
const bootAt = int64(len(beatTime))

func lastBeat(f *os.File) time.Time {
	text := make([]byte, len(beatTime))
	if _, err := f.ReadAt(text, 0); err != nil {
		return time.Time{}
	}
	at, err := time.Parse(beatTime, string(text))
	if err != nil {
		return time.Time{}
	}
	return at
}

// KeepBeat does what keepBeat does, for a process that executes a command itself.
func (r *Runner) KeepBeat(ctx context.Context) {
	s, err := openState(r.StateDir, r.ID, r.Epoch)
	if err != nil {
		r.notef("%v", err)
		return
	}
	defer s.close()
	r.keepBeat(ctx, s)
}
