package store

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store/internal/row"
)

// queue goes through the waiting jobs.
func (p *pass) queue() error {
	if len(p.line) == 0 {
		p.whole = true
		return nil
	}
	if err := p.tx.loaded.releases.hold(); err != nil {
		return err
	}
	if err := p.mindSets(); err != nil {
		return err
	}
	for i, j := range p.line {
		if p.spec.Enough != nil && p.spec.Enough() {
			p.Unreached = len(p.line) - i
			return p.leaveRest(p.line[i:])
		}
		if err := p.clearTheWay(j, p.line[i+1:]); err != nil {
			return err
		}
		blocked, err := p.turn(j)
		if err != nil {
			return fmt.Errorf("job %d: %w", j.ID, err)
		}
		if blocked && p.spec.Backfill == FCFS {
			return errors.Join(p.leaveRest(p.line[i+1:]), p.restore())
		}
		if blocked && p.spec.WidestFirst && p.planned == p.spec.depth() {
			if err := p.widestFirst(p.line[i+1:]); err != nil {
				return err
			}
			p.spec.WidestFirst = false // they are in order now
		}
	}
	p.whole = true
	return p.restore()
}

// restore gives the jobs whose plans were put back another turn: now that all plans are
// in place again, one may come sooner.
func (p *pass) restore() error {
	for i, j := range p.restored {
		if p.spec.Enough != nil && p.spec.Enough() {
			p.Unreached, p.whole = len(p.restored)-i, false
			return nil
		}
		if _, err := p.turn(j); err != nil {
			return fmt.Errorf("job %d: %w", j.ID, err)
		}
	}
	return nil
}

// mindSets finds out whether there are placement sets.
func (p *pass) mindSets() error {
	set, err := p.tx.settings()
	if err != nil {
		return err
	}
	queues, err := p.tx.Queues()
	p.sets = len(set.GroupKey) > 0 || slices.ContainsFunc(queues, func(q Queue) bool { return len(q.GroupKey) > 0 })
	return err
}

// lineUp lists the jobs whose turn it could be, in order.
func (p *pass) lineUp() error {
	var waiting []*Job
	err := p.tx.file.Each(row.Waiting, nil, func(key, _ []byte) (bool, error) {
		j, err := p.tx.waitingJob(key)
		waiting = append(waiting, j)
		return true, err
	})
	if err != nil {
		return err
	}
	for _, j := range waiting {
		stays, err := p.stays(j)
		if err != nil {
			return err
		}
		if stays {
			p.line = append(p.line, j)
		} else if j.State.Live() {
			p.aside = append(p.aside, j)
		}
	}
	return nil
}

// stays reports whether a waiting job may be given its turn. One that waits in vain
// is cancelled.
func (p *pass) stays(j *Job) (bool, error) {
	if j.Deadline != 0 && p.tx.now+j.Walltime > j.Deadline {
		return false, p.cancel(j, "it cannot end by its deadline, "+stamp(j.Deadline))
	}
	waitsFor, err := p.tx.ready(j)
	if errors.Is(err, errUnmet) {
		return false, p.cancel(j, err.Error())
	}
	p.Waiting++
	if waitsFor != "" && j.State == JobReserved {
		err = p.tx.unplan(j, JobQueued, waitsFor+" again")
	}
	if err != nil || waitsFor != "" {
		return false, err
	}
	return j.Begin <= p.tx.now || j.State == JobReserved || p.spec.Backfill == Conservative, nil
}

func (p *pass) cancel(j *Job, reason string) error {
	p.Cancelled = append(p.Cancelled, j)
	return p.tx.ended(j, JobCancelled, reason)
}

// clearTheWay takes the plans of all jobs behind one off the calendar that has none
// and may fit, or get one, or whose plan an overdue job is in the way of: it comes
// before them. Those ahead of it have had their turn with all plans in place.
func (p *pass) clearTheWay(j *Job, behind []*Job) error {
	if p.cleared {
		return nil
	}
	if needs, err := p.needsRoom(j); !needs || err != nil {
		return err
	}
	p.cleared = true
	for _, j := range behind {
		if j.State != JobReserved {
			continue
		}
		if err := p.lift(j); err != nil {
			return err
		}
	}
	return nil
}

// needsRoom reports whether a job may be started or planned anew in its turn.
func (p *pass) needsRoom(j *Job) (bool, error) {
	if j.State != JobQueued {
		return p.delayed[j.ID], nil
	}
	v, err := p.verdict(j)
	if err != nil || v.err != nil {
		return false, err
	}
	settled, err := p.settled(v, j)
	return !settled || !v.never && p.planned < p.spec.depth(), err
}

// lift takes a job's plan off the calendar.
func (p *pass) lift(j *Job) error {
	spans, err := p.tx.spansOf(j)
	if err != nil {
		return err
	}
	p.lifted[j.ID] = spans
	return p.tx.leave(j)
}

// leaveRest puts plans back that were lifted and not made anew, as far as what came
// before them has left room.
func (p *pass) leaveRest(rest []*Job) error {
	for _, j := range rest {
		if _, lifted := p.lifted[j.ID]; !lifted {
			continue
		}
		if err := p.putBack(j); err != nil {
			return err
		}
	}
	return nil
}

// putBack gives a lifted job its old plan, or none where that does not fit any more.
func (p *pass) putBack(j *Job) error {
	spans := p.lifted[j.ID]
	delete(p.lifted, j.ID)
	taken, err := p.tx.delayed(j)
	if err != nil {
		return err
	}
	if taken {
		return p.tx.withdrawn(j, "jobs before it took its place")
	}
	p.taken++
	return p.tx.takeAgain(j, spans, JobReserved)
}

// withdrawn is a job whose plan is off the calendar already and whose state is to
// say so.
func (tx *Tx) withdrawn(j *Job, reason string) error {
	if err := tx.woke(j.AllNodes()); err != nil {
		return err
	}
	j.unplace()
	j.State, j.Reason = JobQueued, reason
	return tx.putJob(j, JobReserved)
}

// widestFirst puts the jobs in order that have no plan: those that ask for most
// processors first, and of equals those in more chunks, whatever their priority, as
// BESTFIT of Maui does. Of those that fit the widest then starts, and so on until none
// does. Those that have a plan come before them, and keep it.
func (p *pass) widestFirst(rest []*Job) error {
	defs, err := p.tx.Resources()
	if err != nil {
		return err
	}
	type size struct{ processors, chunks int64 }
	sizes := make(map[uint64]size, len(rest))
	for _, j := range rest {
		v, err := p.verdict(j)
		if err != nil {
			return err
		}
		s := size{chunks: int64(v.ask.NumChunks())}
		for _, w := range v.ask.Totals(defs) {
			if w.Res == index.NCPUs {
				s.processors = w.Value.Num
			}
		}
		sizes[j.ID] = s
	}
	slices.SortStableFunc(rest, func(a, b *Job) int {
		if order := cmp.Compare(b.State, a.State); order != 0 || a.State == JobReserved {
			return order // reserved comes after queued in number
		}
		return cmp.Or(cmp.Compare(sizes[b.ID].processors, sizes[a.ID].processors), cmp.Compare(sizes[b.ID].chunks, sizes[a.ID].chunks))
	})
	p.reordered = true
	return nil
}
