package runner

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

	"github.com/placectl/placectl/store"
	"golang.org/x/sys/unix"
)

// beatFile is locked by the one process of a host, user and database that looks at the
// database for all supervisors.
const beatFile = "beat"

// keepBeat waits until nobody else looks at the database, and then does it for all: it
// tells the supervisors of attempts that are to stop, and the database that this host is
// there. It returns with the context, or with the process.
func (r *Runner) keepBeat(ctx context.Context, s *state) {
	f, err := s.epoch.OpenFile(beatFile, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		r.notef("%v", err)
		return
	}
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
	every := time.Second
	if strings.HasPrefix(r.Database, store.URLScheme) {
		every = 10 * time.Second
	}
	var seen string
	told := lastBeat(f)
	for ok := true; ok; ok = sleep(ctx, every) {
		if stamp := r.Stamp(); stamp != seen {
			if r.tellStops(ctx, s) == nil {
				seen = stamp
			}
		}
		if since := time.Since(told); r.Beat != nil && (since >= r.BeatEvery || since < 0) {
			told = time.Now()
			if err := r.Beat(ctx); err != nil {
				r.notef("%v", err)
				told = told.Add(min(beatAgain, r.BeatEvery) - r.BeatEvery)
				continue
			}
			f.WriteAt([]byte(told.UTC().Format(beatTime)), 0) //nolint:errcheck // who comes next tells it once more
		}
	}
}

// beatAgain is after how long the database is told again that did not take it.
const beatAgain = 30 * time.Second

// beatTime is how the file says when the database was told last. It has always the same
// length: whoever holds the file next need not tell it so soon again.
const beatTime = "2006-01-02T15:04:05Z"

// bootAt is where in the file stands for which start of the host Started was called.
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

// KeepBeat does the same for somebody who executes a command himself.
func (r *Runner) KeepBeat(ctx context.Context) {
	s, err := openState(r.StateDir, r.ID, r.Epoch)
	if err != nil {
		r.notef("%v", err)
		return
	}
	defer s.close()
	r.keepBeat(ctx, s)
}

// tellStops tells the supervisors of attempts that are to stop.
func (r *Runner) tellStops(ctx context.Context, s *state) error {
	view, err := r.DB.Look(ctx)
	if err != nil {
		r.notef("%v", err)
		return err
	}
	return r.tellHeld(view, s)
}

// tellHeld tells the supervisors of attempts that are to stop, or to send signals.
func (r *Runner) tellHeld(view *View, s *state) error {
	var failed []error
	for _, h := range view.Held {
		if h.Ending {
			failed = append(failed, s.stopAttempt(h.Key))
		}
		if len(h.Signals) > 0 {
			failed = append(failed, s.signalAttempt(h.Key))
		}
	}
	return errors.Join(failed...)
}
