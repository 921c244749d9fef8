package placer

import (
	"iter"

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
	enough := 0 // the request cannot fit until so many nodes are back
	for in := range m.instants(max(after, s.Now)) {
		if in.back < enough && !in.last {
			continue
		}
		plan, missing, err := m.place(in.at, in.ended)
		if err != nil {
			return nil, err
		}
		if plan == nil {
			short, enough = missing, in.back+m.wait(missing)
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

// wait is how many nodes at least have to be given back before a request fits
// that has just been found short. Until a node is given back it can only be lost
// as time goes on, for what is planned on it draws nearer. So a chunk that was
// short of all nodes, not just of those that other chunks left, stays so until
// those given back could make it up. Each placement set falls short by itself:
// nothing is said for them.
func (m *mapping) wait(short shortfall) int {
	if len(m.sets) > 0 || !short.alone {
		return 0
	}
	need, most := m.Chunks[short.chunk].Count, 1
	for _, c := range short.cands[short.chunk] {
		most = max(most, m.perNode(c.Cells[0]))
	}
	missing := need - short.found
	return (missing-1)/most + 1
}

// instant is one at which a request is tried.
type instant struct {
	at    int64
	ended *roaring.Bitmap // the nodes given back by then, nil for now
	back  int             // how often nodes were, one may be more than once
	last  bool            // nothing is given back later
}

// instants lists the given instant and each later one at which nodes are given
// back.
func (m *mapping) instants(after int64) iter.Seq[instant] {
	return func(yield func(instant) bool) {
		in, ended := instant{at: after}, roaring.New()
		if after > m.Now {
			in.ended = ended
		}
		for t, nodes := range m.Endings(m.Now) {
			if t > in.at {
				if !yield(in) {
					return
				}
				in.at, in.ended = t, ended
			}
			ended.AddMany(nodes)
			in.back += len(nodes)
		}
		in.last = true
		yield(in)
	}
}
