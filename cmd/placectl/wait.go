package main

import (
	"errors"
	"os"
	"time"

	"github.com/placectl/placectl/placer"
)

// pollInterval is how often waiting looks whether the file has changed. It holds
// no lock meanwhile.
const pollInterval = 200 * time.Millisecond

// keepTrying tries, for as long as patience lasts, until the answer is not "not
// now": again when the file has changed, and when the time has come that the
// refusal named. Patience is measured by the clock, whatever --now says.
func (r *runner) keepTrying(patience time.Duration, try func() error) error {
	if patience > 0 && r.tx != nil {
		return usageOf("tx", "--wait cannot be part of a transaction")
	}
	deadline := r.env.now().Add(patience)
	for {
		seen := r.fileStamp()
		err := try()
		if !errors.Is(err, placer.ErrNotNow) || patience == 0 {
			return err
		}
		if waited := r.waitForChange(seen, deadline, earliestOf(err)); waited != nil {
			return errors.Join(waited, err)
		}
		if !r.env.now().Before(deadline) {
			return err
		}
	}
}

// earliestOf is when a refused request could start, zero when that is not known.
func earliestOf(err error) time.Time {
	var refused interface{ Earliest() (int64, bool) }
	if errors.As(err, &refused) {
		if at, ok := refused.Earliest(); ok {
			return time.Unix(at, 0)
		}
	}
	return time.Time{}
}

// waitForChange sleeps until the file is not as it was seen, the deadline, or
// the time that was named. It fails when the run is interrupted.
func (r *runner) waitForChange(seen time.Time, deadline, named time.Time) error {
	ticks := time.NewTicker(pollInterval)
	defer ticks.Stop()
	for {
		if !r.env.now().Before(deadline) || !named.IsZero() && !r.now().Before(named) || !r.fileStamp().Equal(seen) {
			return nil
		}
		select {
		case <-r.ctx.Done():
			return r.ctx.Err()
		case <-ticks.C:
		}
	}
}

// waitForFile sleeps until the file is not as it was seen. It fails when the run is
// interrupted.
func (r *runner) waitForFile(seen time.Time) error {
	for r.fileStamp().Equal(seen) {
		if err := r.waitForChange(seen, r.env.now().Add(time.Hour), time.Time{}); err != nil {
			return err
		}
	}
	return r.ctx.Err()
}

// fileStamp is when the database was last written to.
func (r *runner) fileStamp() time.Time {
	info, err := os.Stat(r.DB)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}
