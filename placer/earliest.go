package placer

import (
	"github.com/RoaringBitmap/roaring/v2"
)

// Earliest finds the first instant at or after a given one at which the request
// fits, and its plan then.
func (s *Snapshot) Earliest(a Ask, after int64) (*Plan, error) {
	plans, err := s.Starts(a, after, 1)
	if err != nil {
		return nil, err
	}
	return plans[0], nil
}

// Starts finds the first count instants, from a given one on, at which the
// request fits, and its plans then: the given one if it fits, and each later
// one at which nodes are given back. At any other the same nodes were free a
// moment before. The error is a *Refusal when there is none.
func (s *Snapshot) Starts(a Ask, after int64, count int) ([]*Plan, error) {
	var m mapping
	if err := m.prepare(s, a); err != nil {
		return nil, err
	}
	var plans []*Plan
	var short shortfall
	for at, ended := range m.instants(max(after, s.Now)) {
		plan, missing, err := m.place(at, ended)
		if err != nil {
			return nil, err
		}
		if plan == nil {
			short = missing
			continue
		}
		if plans = append(plans, plan); len(plans) >= count {
			return plans, nil
		}
	}
	if len(plans) == 0 {
		return nil, m.notNow(short)
	}
	return plans, nil
}

// instants lists the given instant and each later one at which nodes are given
// back, with all the nodes given back by then (nil for now).
func (m *mapping) instants(after int64) func(yield func(int64, *roaring.Bitmap) bool) {
	return func(yield func(int64, *roaring.Bitmap) bool) {
		at, ended := after, roaring.New()
		first := ended
		if after == m.Now {
			first = nil
		}
		for t, nodes := range m.Endings(m.Now) {
			if t > at {
				if !yield(at, first) {
					return
				}
				at = t
				first = ended
			}
			ended.AddMany(nodes)
		}
		yield(at, first)
	}
}
