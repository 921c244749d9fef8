package runner

import (
	"context"
	"errors"
	"os"
	"strings"
	"time"

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
	if strings.Contains(r.Database, "://") {
		every = 10 * time.Second
	}
	var seen string
	var told time.Time
	for ok := true; ok; ok = sleep(ctx, every) {
		if stamp := r.Stamp(); stamp != seen {
			if r.tellStops(ctx, s) == nil {
				seen = stamp
			}
		}
		if r.Beat != nil && time.Since(told) >= r.BeatEvery {
			if err := r.Beat(ctx); err != nil {
				r.notef("%v", err)
				continue
			}
			told = time.Now()
		}
	}
}

// tellStops tells the supervisors of attempts that are to stop.
func (r *Runner) tellStops(ctx context.Context, s *state) error {
	view, err := r.DB.Look(ctx)
	if err != nil {
		r.notef("%v", err)
		return err
	}
	return r.stopEnding(view, s)
}

func (r *Runner) stopEnding(view *View, s *state) error {
	var failed []error
	for _, h := range view.Held {
		if h.Ending {
			failed = append(failed, s.stopAttempt(h.Key))
		}
	}
	return errors.Join(failed...)
}
