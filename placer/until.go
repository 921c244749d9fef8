package placer

import (
	"math"

	"github.com/RoaringBitmap/roaring/v2"
)

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
