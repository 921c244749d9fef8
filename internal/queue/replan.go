package queue

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer/cycle"
)

// PlaceAnew plans the placed jobs whose plans were removed.
func PlaceAnew(tx *kernel.Tx) error {
	if len(tx.Loaded.Unplaced)+len(tx.Loaded.Stranded) == 0 {
		return nil
	}
	_, err := replan(tx, nil)
	return err
}

// replan plans jobs that were put off, and those that were displaced, in the order of the queue. It
// reports whether plans may have moved: whether there were such jobs.
func replan(tx *kernel.Tx, late []*row.Job) (moved bool, err error) {
	if err := jobs.TakeOffStranded(tx); err != nil {
		return false, err
	}
	displaced := tx.Loaded.Displaced
	late = slices.Concat(late, tx.Loaded.Unplaced)
	if len(late)+len(displaced) == 0 {
		return false, nil
	}
	tx.Loaded.Displaced, tx.Loaded.Unplaced = nil, nil
	set, err := tx.Settings()
	if err != nil {
		return false, err
	}
	p := newPass(tx, CycleSpec{Backfill: kernel.Conservative, Silent: true, stands: set.Backfill == kernel.Relaxed,
		slack: set.Slack})
	p.late = make(map[uint64]row.Reason)
	known := make(map[uint64]*row.Job)
	for _, j := range late {
		known[j.ID], p.late[j.ID] = j, j.Reason
		if !j.Queued {
			p.placed = append(p.placed, placedJob{j, j.Start})
		}
	}
	line, err := InOrder(tx)
	if err != nil {
		return false, err
	}
	for _, j := range line {
		if known[j.ID] != nil {
			j = known[j.ID]
		} else if slices.Contains(displaced, j.ID) && j.State == row.JobQueued {
			p.late[j.ID] = j.Reason
			if waitsFor, err := jobs.Ready(tx, j); waitsFor != "" || err != nil {
				if err != nil && !errors.Is(err, kernel.ErrUnmet) {
					return false, err
				}
				continue
			}
			if absent, err := Unattended(tx, j); err != nil {
				return false, err
			} else if absent != "" {
				continue
			}
		} else if j.State != row.JobReserved {
			continue
		}
		p.queue = append(p.queue, j)
	}
	err = p.shares()
	if err == nil {
		err = p.schedule()
	}
	if err != nil {
		return false, err
	}
	tx.Loaded.Freed.Anywhere() // the next cycle examines everything again
	return true, nil
}

// placedJob is a job placed at an instant that was put off.
type placedJob struct {
	*row.Job
	wanted int64 // its requested start
}

// putOffs lists the jobs placed at an instant that were put off, in the order of these
// instants, for the pass to bring them forward.
func (p *pass) putOffs() error {
	list, err := jobs.Postponed(p.tx.File)
	if err != nil {
		return err
	}
	for _, x := range list.Jobs {
		j, err := p.tx.Job(x.Job)
		if errors.Is(err, row.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if j.State == row.JobReserved && (j.Start > x.Wanted || p.delayed[j.ID]) {
			p.placed = append(p.placed, placedJob{j, x.Wanted})
		}
	}
	slices.SortFunc(p.placed, func(a, b placedJob) int {
		return cmp.Or(cmp.Compare(a.wanted, b.wanted), cmp.Compare(a.ID, b.ID))
	})
	return nil
}

// keepPutOffs stores which of them are still put off.
func (p *pass) keepPutOffs() error {
	list, err := jobs.Postponed(p.tx.File)
	if err != nil || len(list.Jobs) == 0 {
		return err
	}
	wanted := make(map[uint64]int64)
	for _, x := range p.placed {
		if x.State == row.JobReserved && x.Start > x.wanted {
			wanted[x.ID] = x.wanted
		}
	}
	if len(wanted) == len(list.Jobs) {
		return nil
	}
	list.Jobs = nil
	for _, id := range slices.Sorted(maps.Keys(wanted)) {
		list.Jobs = append(list.Jobs, row.PostponedJob{Job: id, Wanted: wanted[id]})
	}
	return jobs.KeepPostponed(p.tx.File, list)
}

// awaits returns the jobs placed at an instant, which wait before the queue.
func (p *pass) awaits() (out []*cycle.Job) {
	for i, x := range p.placed {
		if x.State == row.JobRunning || !x.State.Live() { // it ended, or started, since the queue was processed before
			continue
		}
		j := p.waits(x.Job)
		j.Placed, j.Begin = true, x.wanted
		j.Priority = math.MaxInt64 - int64(i)
		out = append(out, j)
	}
	return out
}
