package store

import (
	"cmp"
	"slices"

	"github.com/placectl/placectl/store/internal/row"
)

// Who places a job at an instant gets a start, and nobody looks at that again. Where an
// overdue job has put it off it would stay late, however soon the overdue one ends. So such
// jobs are listed, and cycles bring them forward once there is room, but not to before the
// instant that was asked for. What waits in the queue is planned anew there.

// postponed is the transaction as far as it is about jobs that were put off.
type postponed struct{ *Tx }

func (ps postponed) row() (*row.Postponed, error) {
	payload, err := ps.file.Get(row.Meta, row.KeyPostponed)
	if err != nil || payload == nil {
		return &row.Postponed{}, err
	}
	return row.DecodePostponed(payload)
}

func (ps postponed) put(p *row.Postponed) error {
	if len(p.Jobs) == 0 {
		return ps.file.Remove(row.Meta, row.KeyPostponed)
	}
	return ps.file.Put(row.Meta, row.KeyPostponed, row.EncodePostponed(p))
}

// add takes note that a job with a plan is about to be put off.
func (ps postponed) add(j *row.Job) error {
	if j.Queued || !ps.Writable() { // a reader forgets it
		return nil
	}
	p, err := ps.row()
	if err != nil {
		return err
	}
	i, known := slices.BinarySearchFunc(p.Jobs, j.ID, func(x row.PostponedJob, id uint64) int { return cmp.Compare(x.Job, id) })
	if known { // for the second time: when it was to start is known
		return nil
	}
	p.Jobs = slices.Insert(p.Jobs, i, row.PostponedJob{Job: j.ID, Wanted: j.Start})
	return ps.put(p)
}

// forward brings jobs forward that were put off, where room was made since they were looked
// at last.
func (p *pass) forward() error {
	ps := postponed{p.tx}
	list, err := ps.row()
	if err != nil || len(list.Jobs) == 0 || list.Tried == p.tx.state.Invalidations && p.tx.state.Invalidations != 0 {
		return err
	}
	var left []row.PostponedJob
	for _, x := range list.Jobs {
		j, err := ps.file.Get(row.Jobs, row.Key64(x.Job))
		if err != nil {
			return err
		}
		if j == nil {
			continue
		}
		job, err := row.DecodeJob(row.Key64(x.Job), j)
		if err != nil {
			return err
		}
		if job.State != JobReserved || job.Start <= x.Wanted {
			continue // it runs, or somebody has seen to it
		}
		if err := p.bring(job, x.Wanted); err != nil {
			return err
		}
		if job.State == JobReserved && job.Start > x.Wanted {
			left = append(left, x)
		}
	}
	list.Jobs, list.Tried = left, p.tx.state.Invalidations
	return ps.put(list)
}

// bring gives a job with a plan the earliest start that there is from an instant on, if that
// is earlier than the one that it has.
func (p *pass) bring(j *row.Job, wanted int64) error {
	tx := p.tx
	spans, err := tx.allocations().spans(j)
	if err != nil {
		return err
	}
	nodes, then := j.AllNodes(), j.Start
	if err := tx.allocations().leave(j); err != nil {
		return err
	}
	a, plan, err := tx.plans().earliest(j, max(wanted, tx.now))
	if isRefusal(err) || err == nil && plan.Start >= then {
		return tx.allocations().takeAgain(j, spans, JobReserved)
	}
	if err != nil {
		return err
	}
	tx.loaded.freed.On(nodes)
	j.Reason = ""
	if err := tx.plans().apply(j, a, plan, JobReserved); err != nil {
		return err
	}
	p.planned = append(p.planned, j)
	if j.State == JobRunning {
		return nil
	}
	return tx.happened(replanned(j, "was to start at "+stamp(then)))
}
