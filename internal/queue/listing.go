package queue

import (
	"errors"
	"slices"

	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer/cycle"
)

// listQueue lists the jobs that may start, in order.
func (p *pass) listQueue() error {
	for {
		cancelled := len(p.cancelled)
		p.queue, p.aside, p.waiting = p.lists.queue[:0], nil, 0
		err := p.list()
		p.lists.queue = p.queue
		if err != nil || len(p.cancelled) == cancelled {
			return err
		}
	}
}

// list lists the jobs once. Jobs that it cancels may give others their turn.
func (p *pass) list() error {
	clear(p.EqualTo)
	if line, err := p.played(); line != nil || err != nil {
		for _, q := range line {
			if _, err := p.listed(q.Job); err != nil {
				return err
			}
		}
		return err
	}
	if in, err := p.inLots(); err != nil {
		return err
	} else if in {
		return p.listLots()
	}
	waiting, err := InOrder(p.tx)
	if err != nil {
		return err
	}
	for _, j := range waiting {
		if _, err := p.listed(j); err != nil {
			return err
		}
	}
	return nil
}

// listed lists a job, and reports whether it may start.
func (p *pass) listed(j *row.Job) (stays bool, err error) {
	if _, held := p.held[j.ID]; held {
		p.waiting++
		return false, nil
	}
	if stays, err = p.stays(j); err != nil {
		return false, err
	}
	if stays {
		p.queue = append(p.queue, j)
	} else if j.State.Live() {
		p.aside = append(p.aside, j)
	}
	return stays, nil
}

// Followers implements cycle.Host.
func (p *pass) Followers(c *cycle.Job) (out []*cycle.Job, err error) {
	if p.following == nil {
		p.following = make(map[uint64][]*row.Job)
		for _, j := range p.aside {
			for _, d := range j.After {
				if d.When == row.After {
					p.following[d.Job] = append(p.following[d.Job], j)
				}
			}
		}
	}
	following := p.following[c.ID]
	if j := p.jobs[c.ID]; j != nil && j.Array != 0 && len(p.following[j.Array]) > 0 {
		all, err := p.tx.Progress(row.Dependency{When: row.After, Job: j.Array})
		if err != nil {
			return nil, err
		}
		if all.Started {
			following = slices.Concat(following, p.following[j.Array])
		}
	}
	for _, j := range following {
		waitsFor, err := jobs.Ready(p.tx, j)
		if errors.Is(err, kernel.ErrUnmet) {
			continue // the next listing cancels it
		}
		if err != nil {
			return nil, err
		}
		absent, err := Unattended(p.tx, j)
		if err != nil {
			return nil, err
		}
		if waitsFor == "" && absent == "" && j.State == row.JobQueued && (j.Begin <= p.tx.Now ||
			p.spec.Backfill == kernel.Conservative) {
			next := p.waits(j)
			if p.turn != nil {
				if next.Priority, err = p.turnAmong(j, c.Priority); err != nil {
					return nil, err
				}
			}
			p.queue, out = append(p.queue, j), append(out, next)
		}
	}
	return out, nil
}

// turnAmong returns the priority of a job that is inserted into a sorted queue: behind all jobs
// before it in its class, and behind the job that let it in.
func (p *pass) turnAmong(j *row.Job, behind int64) (int64, error) {
	classOf := func(j *row.Job) (int, error) {
		if p.allotted == nil {
			return 0, nil
		}
		return p.allotted.Place(j)
	}
	class, err := classOf(j)
	if err != nil {
		return 0, err
	}
	if p.rank == nil {
		waiting, err := InOrder(p.tx)
		if err != nil {
			return 0, err
		}
		p.rank = make(map[uint64]int, len(waiting))
		for i, j := range waiting {
			p.rank[j.ID] = i
		}
	}
	for id, turn := range p.turn {
		at, rank := -2*int64(turn)-1, p.rank[id]
		if at >= behind || rank > p.rank[j.ID] || p.jobs[id].State == row.JobRunning {
			continue
		}
		other, err := classOf(p.jobs[id])
		if err != nil {
			return 0, err
		}
		if other == class {
			behind = at
		}
	}
	return behind, nil
}

// stays reports whether a waiting job may start. One that can never start is cancelled.
func (p *pass) stays(j *row.Job) (bool, error) {
	if j.Deadline != 0 && p.tx.Now+j.Walltime > j.Deadline {
		return false,
			p.cancel(j, row.Because(row.CauseDeadline, "it cannot end by its deadline, "+kernel.Stamp(j.Deadline)))
	}
	if j.Deadline != 0 {
		p.at(j.Deadline - j.Walltime + 1)
	}
	waitsFor, err := jobs.Ready(p.tx, j)
	if errors.Is(err, kernel.ErrUnmet) {
		return false, p.cancel(j, row.Because(row.CauseDependency, err.Error()))
	}
	p.waiting++
	if waitsFor != "" && j.State == row.JobReserved {
		err = jobs.MachineOf(p.tx).Do(j,
			jobs.Step{To: row.JobQueued, Reason: row.Because(row.CauseDependency, waitsFor+" again")})
	}
	if err != nil || waitsFor != "" {
		return false, err
	}
	absent, err := Unattended(p.tx, j)
	if err != nil {
		return false, err
	}
	if absent != "" {
		p.absent[j.ID] = true
		return j.State == row.JobReserved, nil // it keeps its plan until that is due, and gets no earlier one
	}
	if j.Begin > p.tx.Now {
		p.at(j.Begin)
	}
	return j.Begin <= p.tx.Now || j.State == row.JobReserved || p.spec.Backfill == kernel.Conservative, nil
}

func (p *pass) cancel(j *row.Job, reason row.Reason) error {
	p.cancelled = append(p.cancelled, j)
	return jobs.MachineOf(p.tx).Do(j, jobs.Step{To: row.JobCancelled, Reason: reason})
}
