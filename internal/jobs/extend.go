package jobs

import (
	"fmt"
	"strconv"
	"time"

	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/row"
)

// Extend gives a waiting, planned or running job another walltime, counted from its start. It
// fails with a Conflict if the job has ended, would have ended by now, or if its nodes are
// taken before the new end.
func (js Jobs) Extend(id uint64, walltime time.Duration) (*kernel.Job, error) {
	return kernel.JobResult(extend(js.tx, id, kernel.Seconds(walltime)))
}

func extend(tx *kernel.Tx, id uint64, walltime int64) (*row.Job, error) {
	j, err := owned(tx, id)
	if err != nil {
		return nil, err
	}
	what := "job " + strconv.FormatUint(id, 10)
	if walltime < 1 || walltime > kernel.MaxWalltime {
		return nil, fmt.Errorf("%w walltime of %d s: it must be from 1 s to %d s", row.ErrInvalid, walltime,
			kernel.MaxWalltime)
	}
	if j.Ending {
		return nil, row.Clash(what, "it is "+kernel.Why(j.Ending, j.Reason.String()))
	}
	if j.State == row.JobRunning && j.Start+walltime <= tx.Now {
		return nil, row.Clash(what, fmt.Sprintf("it would have ended at %s already; release it instead",
			kernel.Stamp(j.Start+walltime)))
	}
	if err := plan.MayLast(tx, j, walltime); err != nil {
		return nil, err
	}
	s := Step{To: j.State, Reason: j.Reason, change: func() { j.Walltime = walltime }}
	shorter := walltime < j.Walltime && j.State != row.JobRunning
	accept := func() error {
		if shorter {
			tx.Loaded.Freed.Anywhere() // other requests may fit now
		}
		return MachineOf(tx).Do(j, s)
	}
	if j.State == row.JobQueued || j.State == row.JobHeld {
		s.change = func() { j.Walltime, j.Promised, j.Earliest = walltime, 0, 0 } // these were for a shorter job
		if err := tx.Counters().Rules.Disclaim(id); err != nil {
			return nil, tx.Spoil(err)
		}
		return j, accept()
	}
	spans, err := tx.Allocations().Spans(j)
	if err != nil {
		return nil, err
	}
	if j.State == row.JobRunning || j.State == row.JobReserved {
		if err := plan.MayReach(tx, j, spans, j.Start+walltime); err != nil {
			return nil, err
		}
		if err := untilAnother(tx, j, j.Start+walltime, &s); err != nil {
			return nil, err
		}
	}
	return j, accept()
}
