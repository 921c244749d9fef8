package backfill

import (
	"github.com/placectl/placectl/timeline"
)

// A plan is conservative backfilling.
type plan struct {
	sim     *simulation
	planned *timeline.Planner
	span    []timeline.SpanID
	waiting []int32
}

func newPlan(s *simulation, procs, first, end int64) (*plan, error) {
	planned, err := timeline.New(procs, first, end)
	return &plan{sim: s, planned: planned, span: make([]timeline.SpanID, len(s.jobs))}, err
}

func (p *plan) submitted(job int32, now int64) error {
	p.waiting = append(p.waiting, job)
	at, err := p.put(job, now)
	p.sim.decide(job, at)
	return err
}

func (p *plan) put(job int32, now int64) (int64, error) {
	j := &p.sim.jobs[job]
	at, err := p.planned.EarliestStart(now, j.Request, j.Procs)
	if err != nil {
		return 0, err
	}
	p.span[job], err = p.planned.Add(timeline.Span{Start: at, Duration: j.Request, Amount: j.Procs})
	return at, err
}

func (p *plan) ended(job int32, now int64) error {
	if err := p.planned.Remove(p.span[job]); err != nil {
		return err
	}
	waiting := p.waiting[:0]
	for _, job := range p.waiting {
		if p.sim.start[job] <= now {
			continue
		}
		waiting = append(waiting, job)
		if err := p.planned.Remove(p.span[job]); err != nil {
			return err
		}
		at, err := p.put(job, now)
		if err != nil {
			return err
		}
		if at != p.sim.start[job] {
			p.sim.decide(job, at)
		}
	}
	p.waiting = waiting
	return nil
}
