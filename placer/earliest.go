package placer

import (
	"cmp"
	"iter"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// Earliest finds the first instant at or after a given one at which the request fits, with its
// plan.
func (s *Snapshot) Earliest(a Ask, after int64) (*Plan, error) {
	plans, err := s.Starts(a, after, 1)
	if err != nil {
		return nil, err
	}
	return plans[0], nil
}

// Starts finds the first count instants, from a given one on, at which the request fits, with its
// plans: the given one if it fits, and each later one at which nodes are given back. At any other
// instant the same nodes were free a moment before. The error is a *Refusal if there is none.
func (s *Snapshot) Starts(a Ask, after int64, count int) ([]*Plan, error) {
	var m mapping
	if err := m.prepareToPlace(s, a); err != nil {
		return nil, err
	}
	return m.starts(after, count)
}

func (m *mapping) starts(after int64, count int) ([]*Plan, error) {
	if len(m.Demands) > 0 {
		return m.jointStarts(after, count)
	}
	return m.nodeStarts(after, count)
}

// nodeStarts is starts as far as nodes are concerned.
func (m *mapping) nodeStarts(after int64, count int) ([]*Plan, error) {
	var plans []*Plan
	var short shortfall
	opened := openings{mapping: m}
	enough := 0 // the request cannot fit until so many nodes, or chunks, have opened
	first := max(after, m.Now)
	sweeps := m.sweeps()
	if sweeps && m.Calendar.Stepped() {
		if swept, err := m.sweepAll(first, count); swept != nil || err != nil {
			return swept, err
		}
		sweeps = false
	}
	for in := range m.instants(first) {
		if sweeps && m.impatient() { // those before it have been looked at
			sweeps = false
			if swept, err := m.sweepAll(in.at, count-len(plans)); swept != nil || err != nil {
				return append(plans, swept...), err
			}
		}
		if opened.pass(in); opened.count() < enough && !in.last {
			continue
		}
		m.last = in.last
		plan, missing, err := m.place(in.at, in.ended)
		if err != nil {
			return nil, err
		}
		if plan == nil {
			if err := m.never(); err != nil {
				return nil, err
			}
			short, enough = missing, m.wait(missing)
			opened.reset()
			continue
		}
		if plans = append(plans, plan); len(plans) >= count {
			return plans, nil
		}
	}
	switch {
	case len(plans) > 0:
		return plans, nil
	case m.mayMissAll() && !m.exactly():
		m.order = leadsNowhere
		return m.nodeStarts(after, count)
	}
	return nil, m.noStart(short)
}

// mayMissAll reports whether the request may have no start though it would fit the
// empty cluster: the reservation that it insists on is over before all else is.
func (m *mapping) mayMissAll() bool { return m.path == NodePath && m.insists }

// noStart is the refusal of a request for which there is no start.
func (m *mapping) noStart(short shortfall) *Refusal {
	r := m.notNow(short)
	if m.mayMissAll() {
		r.Kind = ErrNever
		r.Why += "; the reservation that it insists on has no room for it before it ends"
	}
	return r
}

// wait is the least number of nodes that must open, and be free long enough, before a request fits
// that was just found short. On the node path it is room for so many chunks. As time goes on, some
// nodes that were free are lost, and none is gained. So a chunk that was short of all nodes, not
// just of those that other chunks left, stays short until enough have opened. For chunks that other
// chunks left short, and for placement sets, each of which falls short by itself, one node might
// do.
func (m *mapping) wait(short shortfall) int {
	if len(m.sets) > 0 || !short.alone {
		return 1
	}
	if m.path == NodePath {
		if len(m.Chunks) > 1 || m.policy == Contiguous || !m.ruled.IsEmpty() {
			return 1
		}
		return max(1, m.Chunks[0].Count-short.found)
	}
	need, most := m.Chunks[short.chunk].Count, 1
	for _, c := range short.cands[short.chunk] {
		for _, cell := range c.Cells {
			most = max(most, m.perNode(cell))
		}
	}
	missing := need - short.found
	return max(1, (missing-1)/most+1)
}

// instant is one at which a request is tried.
type instant struct {
	at    int64
	ended *roaring.Bitmap // the nodes given back by then, nil for now
	back  []uint32        // those given back at this instant
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
		for t, nodes := range m.givenBack() {
			if t > in.at {
				if !yield(in) {
					return
				}
				in.at, in.ended, in.back = t, ended, in.back[:0]
			}
			ended.AddMany(nodes)
			in.back = append(in.back, nodes...)
		}
		in.last = true
		yield(in)
	}
}

// givenBack is the releases after now, and between them the instants at which
// reservations that the request may use come to be of use.
func (m *mapping) givenBack() iter.Seq2[int64, []uint32] {
	var extra []instant
	for _, o := range m.opportunities() {
		if o.at > m.Now {
			extra = append(extra, instant{at: o.at, back: o.nodes.ToArray()})
		}
	}
	if len(extra) == 0 {
		return m.Releases(m.Now)
	}
	slices.SortFunc(extra, func(a, b instant) int { return cmp.Compare(a.at, b.at) })
	return func(yield func(int64, []uint32) bool) {
		for t, nodes := range m.Releases(m.Now) {
			for len(extra) > 0 && extra[0].at <= t {
				if !yield(extra[0].at, extra[0].back) {
					return
				}
				extra = extra[1:]
			}
			if !yield(t, nodes) {
				return
			}
		}
		for _, in := range extra {
			if !yield(in.at, in.back) {
				return
			}
		}
	}
}
