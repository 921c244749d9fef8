package main

import (
	"fmt"

	"github.com/placectl/placectl/timeline"
)

// A plan is an implementation to measure. Spans are named by small numbers.
type plan interface {
	add(id int, s timeline.Span) bool
	remove(id int) bool
	change(after, duration, amount int64) int64
	earliest(after, duration, amount int64) int64
	freeAt(t int64) int64
	freeDuring(start, duration int64) int64
	fits(start, duration, amount int64) bool
}

func newPlan(impl string, st *stream) (plan, error) {
	switch impl {
	case "planner":
		p, err := timeline.New(st.total, 0, st.horizon)
		return &planner{p, make([]timeline.SpanID, st.ids)}, err
	case "flat":
		return newFlat(st.total, st.horizon, st.ids), nil
	}
	return nil, fmt.Errorf("no implementation %q: want planner or flat", impl)
}

type planner struct {
	p   *timeline.Planner
	ids []timeline.SpanID
}

func (p *planner) add(id int, s timeline.Span) bool {
	var err error
	p.ids[id], err = p.p.Add(s)
	return err == nil
}

func (p *planner) remove(id int) bool { return p.p.Remove(p.ids[id]) == nil }

func (p *planner) change(after, duration, amount int64) int64 {
	return answer(p.p.EarliestChange(after, duration, amount))
}

func (p *planner) earliest(after, duration, amount int64) int64 {
	return answer(p.p.EarliestStart(after, duration, amount))
}

func (p *planner) freeAt(t int64) int64 { return answer(p.p.FreeAt(t)) }

func (p *planner) freeDuring(start, duration int64) int64 {
	return answer(p.p.FreeDuring(start, duration))
}

func (p *planner) fits(start, duration, amount int64) bool {
	ok, err := p.p.Fits(start, duration, amount)
	return ok && err == nil
}

func answer(v int64, err error) int64 {
	if err != nil {
		return -1
	}
	return v
}
