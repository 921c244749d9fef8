package placer

import (
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/timeline"
)

// judge examines one node that has what a chunk asks for.
func (x *explainer) judge(node uint32, b *index.Bucket, class index.Class, kind int) Reason {
	r := reason(CauseFits)
	switch n, way := x.fitsAt(x.Now, node, b, class, kind); {
	case way == inTheWayNothing:
		r.Until, r.Chunks = x.Now, int64(n)
	case way == inTheWayHost:
		r = reason(CauseHost)
	case way == inTheWayAmounts:
		r = x.tooLittle(node, kind)
	default:
		r = x.keptOut(node, kind)
	}
	if r.Cause != CauseFits {
		r.Until = x.opens(node, b, class, kind)
	}
	r.Nodes = []uint32{node}
	return r
}

// inTheWay says what stops the node path from placing a chunk on a node.
type inTheWay uint8

const (
	inTheWayNothing inTheWay = iota
	inTheWayNode             // the node takes nothing of the request
	inTheWayAmounts          // too little is left
	inTheWayHost             // something is on another node of the host
)

// fitsAt returns how many of a chunk the node path could place on a node at an instant. It leaves
// what it learnt of the node in x.spot.
func (x *explainer) fitsAt(at int64, node uint32, b *index.Bucket, class index.Class, kind int) (int, inTheWay) {
	s := x.probe
	s.at, s.end = at, at+x.Duration
	if !s.look(&x.spot, node, b, class) {
		return 0, inTheWayNode
	}
	n := s.holds(&x.spot, kind, x.Chunks[kind].Count)
	switch {
	case n == 0:
		return 0, inTheWayAmounts
	case !s.takeHost(&x.spot):
		return 0, inTheWayHost
	}
	return n, inTheWayNothing
}

// keptOut returns the reason for a node that takes nothing of the request now.
func (x *explainer) keptOut(node uint32, kind int) Reason {
	sp := &x.spot
	if sp.one && x.severalPacked() {
		return reason(CauseOneChunk)
	}
	if x.insists && sp.level != required {
		return x.notOpen(node)
	}
	from, to := x.Now, x.Now+x.Duration
	list := x.minded(node, from, to)
	for _, s := range list {
		if s.Claim && (s.Use == nil || sp.whole) {
			return x.reserved(s)
		}
	}
	for _, s := range list {
		if !s.Claim && s.Start <= from && (s.Use == nil || sp.whole) {
			r := reason(CauseTaken)
			r.Whole = slices.ContainsFunc(list, func(s timeline.Busy) bool { return s.Start <= from && s.Use == nil })
			return r
		}
	}
	if !sp.whole {
		if r, ok := x.shortOf(kind, from, from+1, &x.probe.guest); ok {
			return r
		}
	}
	for _, s := range list {
		if s.Start > from && (s.Use == nil || sp.whole) {
			return x.tooSoon(list)
		}
	}
	if sp.whole {
		r := reason(CauseReservation)
		r.Owner, r.Whole = sp.within, true
		return r
	}
	if _, short := x.shortOf(kind, from, to, &x.probe.guest); short {
		return x.tooSoon(list)
	}
	return reason(CauseUser)
}

// minded returns the stretches on a node in a window that keep the request out or take something
// from it.
func (x *explainer) minded(node uint32, from, to int64) []timeline.Busy {
	var out []timeline.Busy
	for _, b := range x.Calendar.At(node) {
		if b.Start < to && x.Calendar.End(b) > from && !x.probe.guest.Ignores(&b, from, to) {
			out = append(out, b)
		}
	}
	return out
}

func (x *explainer) reserved(b timeline.Busy) Reason {
	r := reason(CauseReserved)
	r.Owner, r.Whole = b.Owner, true
	if b.Start > x.Now {
		r.From = b.Start
	}
	return r
}

// tooSoon returns the reason for a node that is taken again before the request would end.
func (x *explainer) tooSoon(list []timeline.Busy) Reason {
	r := reason(CauseTooSoon)
	for _, b := range list {
		if b.Start > x.Now {
			r.From = min(r.From, b.Start)
		}
	}
	return r
}

// notOpen returns the reason for a node in a reservation that the request insists on, but that has
// not begun or ends too soon.
func (x *explainer) notOpen(node uint32) Reason {
	r := reason(CauseReservation)
	for i := range x.Grants {
		g := &x.Grants[i]
		if g.Affinity != Required || !g.Nodes.Contains(node) {
			continue
		}
		if r.Owner = g.Owner; g.Start > x.Now {
			r.From = min(r.From, g.Start)
		} else {
			r.Over = min(r.Over, g.End)
		}
	}
	return r
}

// tooLittle returns the reason for a shared node that has less left than the request asks for. It
// tells apart a shortage now, one later in the request's time, and one that only reservations
// cause.
func (x *explainer) tooLittle(node uint32, kind int) Reason {
	from, to := x.Now, x.Now+x.Duration
	if x.spot.level == required { // it can only have what its reservation keeps
		r := reason(CauseShort)
		want, q := x.wanting(kind, x.spot.left)
		r.Want, r.Best.Num = want, x.spot.left[q]
		return r
	}
	if _, short := x.shortOf(kind, from, to, everyone{&x.probe.guest}); !short {
		for _, s := range x.minded(node, from, to) {
			if s.Claim {
				r := x.reserved(s)
				r.Whole = false
				return r
			}
		}
	}
	if r, short := x.shortOf(kind, from, from+1, &x.probe.guest); short {
		return r
	}
	return x.tooSoon(x.minded(node, from, to))
}

// shortOf examines what is left in a window of the last node examined, whatever uses it, and
// reports whether it is too little for a chunk.
func (x *explainer) shortOf(kind int, from, to int64, guest timeline.Guest) (Reason, bool) {
	peak := make([]int64, len(x.quantities))
	left := make([]int64, len(x.quantities))
	standing := x.Calendar.Taken(x.spot.node, from, to, guest, x.quantities, peak)
	for q, id := range x.quantities {
		if left[q] = x.probe.of(&x.spot, index.ResID(id)); standing == timeline.Open {
			left[q] = max(0, left[q]-peak[q])
		}
	}
	r := reason(CauseShort)
	want, q := x.wanting(kind, left)
	if q < 0 || standing == timeline.Whole {
		return r, false
	}
	r.Want, r.Best.Num = want, left[q]
	return r, true
}

// wanting returns the first want of a chunk that exceeds the amount left, and its place among the
// quantities, or -1 if there is none.
func (x *explainer) wanting(kind int, left []int64) (Want, int) {
	for _, w := range x.Chunks[kind].Wants {
		if q, ok := slices.BinarySearch(x.quantities, uint16(w.Res)); ok && left[q] < w.Value.Num {
			return w, q
		}
	}
	return Want{}, -1
}

// opens returns the earliest instant at which a node could serve a chunk. The candidates are the
// instants at which something on the node or its host is given back, or at which a reservation
// becomes useful to the request.
func (x *explainer) opens(node uint32, b *index.Bucket, class index.Class, kind int) int64 {
	var at []int64
	ends := func(node uint32) {
		for _, s := range x.Calendar.At(node) {
			if end := x.Calendar.End(s); end > x.Now && end < never-x.Duration {
				at = append(at, end)
			}
		}
	}
	if ends(node); x.spot.all {
		for it := x.mates(x.spot.host).Iterator(); it.HasNext(); {
			ends(it.Next())
		}
	}
	for i := range x.Grants {
		if g := &x.Grants[i]; g.Affinity == Required && g.Start > x.Now {
			at = append(at, g.Start)
		} else if g.Limit > 0 && g.End-g.Limit > x.Now {
			at = append(at, g.End-g.Limit)
		}
	}
	slices.Sort(at)
	for _, t := range slices.Compact(at) {
		if _, way := x.fitsAt(t, node, b, class, kind); way == inTheWayNothing {
			return t
		}
	}
	return never
}

// everyone is a guest that every reservation lets in.
type everyone struct{ *Guest }

// Ignores makes it a timeline.Guest.
func (g everyone) Ignores(b *timeline.Busy, from, to int64) bool {
	return b.Claim || g.Guest.Ignores(b, from, to)
}
