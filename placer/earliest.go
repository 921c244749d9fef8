package placer

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// Earliest finds the first instant, from after on, at which the request fits, and returns its plan.
// The error is a *Refusal if there is none.
func (s *Snapshot) Earliest(a Ask, after int64) (*Plan, error) {
	plans, err := s.Starts(a, after, 1)
	if err != nil {
		return nil, err
	}
	return plans[0], nil
}

// Starts finds the first count instants, from after on, at which the request fits, and returns a
// plan for each. It tries after itself and each later instant at which nodes are given back: at any
// other instant, the same nodes were free a moment before. The error is a *Refusal if there is
// none.
func (s *Snapshot) Starts(a Ask, after int64, count int) ([]*Plan, error) {
	var m mapping
	err := m.prepareToPlace(s, a)
	if err != nil {
		return nil, s.unlessAbsent(a, err)
	}
	plans, err := m.starts(after, count)
	if err != nil {
		return nil, s.unlessAbsent(a, err)
	}
	return plans, nil
}

func (m *mapping) starts(after int64, count int) ([]*Plan, error) {
	if len(m.Demands) > 0 {
		return m.jointStarts(after, count)
	}
	return m.nodeStarts(after, count)
}

// nodeStarts finds starts by nodes alone, without counters.
func (m *mapping) nodeStarts(after int64, count int) ([]*Plan, error) {
	var plans []*Plan
	var short shortfall
	opened := openings{mapping: m}
	enough := 0 // the request cannot fit until this many nodes, or chunks, have opened
	first := max(after, m.Now)
	sweeps := m.sweeps()
	if sweeps && m.Calendar.Stepped() {
		if swept, err := m.sweepAll(first, count); swept != nil || err != nil {
			return swept, err
		}
		sweeps = false
	}
	for in := range m.instants(first) {
		if sweeps && m.impatient() { // earlier instants have been tried
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

// mayMissAll reports whether the request may have no start although it would fit the empty cluster.
// That happens if the reservation that it insists on ends before the nodes are free.
func (m *mapping) mayMissAll() bool { return m.path == NodePath && m.insists }

// noStart returns the refusal of a request that has no start.
func (m *mapping) noStart(short shortfall) *Refusal {
	r := m.notNow(short)
	if m.mayMissAll() {
		r.Kind = ErrNever
		r.Why += "; the reservation that it insists on has no room for it before it ends"
	}
	return r
}

// wait returns how many nodes must open, and stay free long enough, before a request that fell
// short can fit. On the node path, it is how many chunks there must be room for. As time goes on,
// free nodes may be lost, but none are gained. So if a chunk fell short with all nodes to choose
// from, it stays short until enough have opened. If other chunks took its nodes, or if there are
// several placement sets, one node might be enough.
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

// instant is an instant at which a request is tried.
type instant struct {
	at    int64
	ended *roaring.Bitmap // the nodes given back by then, nil for now
	back  []uint32        // nodes given back at this instant
	last  bool            // nothing is given back later
}

// instants lists the instant after, then each later one at which nodes are given back.
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

// givenBack lists the releases after now and, between them, the instants at which a reservation
// becomes useful to the request.
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

// A request that does not fit now may come to fit although nothing is given back. That happens when
// a reservation begins that it insists on. It happens when the rest of a reservation is as short as
// the part that it may use. And it happens when it has waited long enough for a placement set.
// Between those instants, time alone makes no room: the window that a request needs only moves
// towards what is planned. So a refusal holds until the next of them, unless something is given
// back before.
//
// That only holds if less room can only make things worse. Several kinds of chunks that share nodes
// are handed out first fit. As in bin packing, a chunk that is kept off one node may then leave
// another for the next chunk. Such a refusal holds for its instant alone, and only while nothing
// else is taken.

// until returns the instant until which a refusal holds: the present one if it holds for that
// alone.
func (m *mapping) until() int64 {
	if !m.steady() {
		return m.Now
	}
	until := int64(math.MaxInt64)
	for _, o := range m.opportunities() {
		if o.at > m.Now {
			until = min(until, o.at)
		}
	}
	return until
}

// steady reports whether a request that does not fit now can never come to fit by having less room.
func (m *mapping) steady() bool {
	switch {
	case m.path == BucketPath:
		return true
	case len(m.onHosts) > 0:
		return false
	case len(m.Chunks) == 1 || m.Now >= m.bucketable && m.policy != Contiguous:
		return true
	}
	apart := m.ruled.IsEmpty() && m.policy != Contiguous && m.apart(m.whole)
	return apart || !m.shares && m.policy == FirstAvailable
}

// opportunity is an instant at which the request may come to fit although nothing is given back,
// and the nodes where it may.
type opportunity struct {
	at    int64
	nodes *roaring.Bitmap
}

// opportunities returns the beginnings of reservations that the request insists on, the instants
// from which the part of a reservation that it may use is enough, and the end of its wait for
// placement sets.
func (m *mapping) opportunities() []opportunity {
	var out []opportunity
	if m.Rules.SetDelay > 0 && len(m.sets) > 0 {
		out = append(out, opportunity{m.Since + m.Rules.SetDelay, m.serving()})
	}
	for i := range m.Grants {
		g := &m.Grants[i]
		switch {
		case g.Affinity == Required:
			out = append(out, opportunity{g.Start, g.Nodes})
		case g.Limit > 0:
			out = append(out, opportunity{g.End - g.Limit, g.Nodes})
		}
	}
	return out
}
