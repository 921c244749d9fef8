package placer

import (
	"math"

	"github.com/RoaringBitmap/roaring/v2"
)

// A node that has no room for a chunk of a request from one instant on has none from
// a later one on either, unless something is given back there in between: as time
// passes a request's window only moves towards what is planned. So a search that goes
// from instant to instant need not look at such a node again before that, nor need the
// search for another request which asks for no less, as long as nobody has left a
// plan. With nodes by name, hosts, sets or reservations it is not that simple: those
// look at every node each time.

// Bars is what a search knows of nodes at an instant.
type Bars struct {
	At    int64
	Nodes *roaring.Bitmap // those that have no room for a chunk from then on; nil: not known
	Ended *roaring.Bitmap // those of which something was given back by then; nil: not known
}

// EarliestPast is Earliest for a request that cannot start before an instant, where
// it is known which nodes have no room then. It returns what is known of nodes at the
// plan's start.
func (s *Snapshot) EarliestPast(a Ask, after int64, known Bars) (*Plan, Bars, error) {
	var m mapping
	if err := m.prepare(s, a); err != nil {
		return nil, Bars{}, err
	}
	if known.At != after {
		known = Bars{}
	}
	if m.bars() {
		m.barred = roaring.New()
		if known.Nodes != nil {
			m.barred = known.Nodes.Clone()
		}
	}
	if len(m.Grants) == 0 && known.Ended != nil {
		m.given = known.Ended.Clone()
	}
	plans, err := m.starts(after, 1)
	if err != nil {
		return nil, Bars{}, err
	}
	return plans[0], Bars{plans[0].Start, m.barred, m.given}, nil
}

// bars reports whether it is enough to look at a node again when something was given
// back there.
func (m *mapping) bars() bool {
	return m.path == NodePath && m.bucketable == math.MaxInt64 && len(m.Chunks) == 1 && m.packed == nil && m.ruled.IsEmpty() && len(m.Grants) == 0 &&
		len(m.sets) == 0 && m.policy != Contiguous
}

// bar notes that a node has no room for a chunk at the instant that is looked at.
func (m *mapping) bar(node uint32) {
	if m.barred != nil {
		m.barred.Add(node)
	}
}

// unbar notes that something was given back on nodes.
func (m *mapping) unbar(nodes []uint32) {
	if m.barred == nil {
		return
	}
	for _, n := range nodes {
		m.barred.Remove(n)
	}
}
