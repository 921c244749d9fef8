package store

import (
	"fmt"
	"time"

	"github.com/placectl/placectl/store/internal/file"
)

// Rows, the calendar and the placer count in whole Unix seconds, 0 for none. What goes
// in and out of the package is time.Time, its zero value for none, and time.Duration.

// instant is an instant as callers get it.
func instant(unix int64) time.Time {
	if unix == 0 {
		return time.Time{}
	}
	return time.Unix(unix, 0)
}

// unix is an instant as callers give it.
func unix(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

// lasting is so many seconds.
func lasting(seconds int64) time.Duration { return time.Duration(seconds) * time.Second }

// seconds is how long something lasts, in whole seconds, rounded away from 0: as the
// placer reads a walltime.
func seconds(d time.Duration) int64 {
	s := int64(d / time.Second)
	switch rest := d % time.Second; {
	case rest > 0:
		s++
	case rest < 0:
		s--
	}
	return s
}

// The file stands for an instant, and no writer may come from before it. So one with a
// clock that is wrong, or with an instant that was chosen, would lock out all others,
// and end jobs before their time. Databases for tests and simulations say so when they
// are made, and take any time. Those of older formats do not: nobody has said of any that
// it is for tests, and of a wrong guess the production would suffer, not a test.

// ahead is how far, in seconds, a writer's clock may be ahead of this machine's.
const ahead = 60

// mayWriteNow refuses a writer whose time is none that the file takes.
func (db *DB) mayWriteNow(r *file.Recorder) error {
	now, clock := db.opt.Now(), time.Now()
	far := now.Unix() > clock.Unix()+ahead
	if !far && !db.opt.Chosen {
		return nil
	}
	id, err := r.Identity()
	switch {
	case err != nil || id.AnyTime:
		return err
	case db.opt.Chosen:
		return fmt.Errorf("--now %s: an instant that is chosen may not write, because the file would stand at it; %w. --dry-run is free", stamp(now.Unix()), ErrAnyTime)
	}
	return fmt.Errorf("the clock says %s, %d s ahead of this machine's; %w", stamp(now.Unix()), now.Unix()-clock.Unix(), ErrAnyTime)
}

// allowAnyTime makes a file one for tests.
func allowAnyTime(r *file.Recorder) (bool, error) {
	id, err := r.Identity()
	if err != nil {
		return false, err
	}
	id.AnyTime = true
	return true, r.PutIdentity(id)
}
