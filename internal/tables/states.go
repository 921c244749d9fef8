package tables

import (
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/timeline"
)

// nodesByState holds the nodes by their state at an instant.
type nodesByState struct {
	in    [index.NodeStates]*roaring.Bitmap
	later *roaring.Bitmap // of the free ones those on which something is planned
}

// of returns the state of a node.
func (s *nodesByState) of(node uint32) index.NodeState {
	for state, nodes := range s.in {
		if nodes.Contains(node) {
			return index.NodeState(state)
		}
	}
	return index.NodeFree
}

// manyAsked is the number of nodes whose free amounts are computed one by one. For more, all
// nodes are first sorted by state.
const manyAsked = 256

// sorted reports whether the nodes are sorted by their present states. It sorts them once that
// pays off.
func (t *nodeTable) sorted() bool {
	if t.asked++; t.asked < manyAsked || t.at != t.c.src.Now {
		return false
	}
	if t.eachState == nil {
		t.eachState = make([]index.NodeState, t.c.src.NextNode)
		for state, nodes := range t.states().in {
			for it := nodes.Iterator(); it.HasNext(); {
				t.eachState[it.Next()] = index.NodeState(state)
			}
		}
	}
	return true
}

// partly returns the nodes that are partly in use now.
func (t *nodeTable) partly() *roaring.Bitmap {
	if t.inPart == nil {
		t.inPart = t.ix.Partly()
	}
	return t.inPart
}

// states sorts the nodes when a state is first needed.
func (t *nodeTable) states() *nodesByState {
	if t.byState != nil {
		return t.byState
	}
	s := &nodesByState{later: t.union(index.Later)}
	for state := index.NodeDown; state < index.NodeStates; state++ {
		s.in[state] = roaring.New()
	}
	free, busy := roaring.Or(t.union(index.Free), s.later), t.union(index.Busy)
	if up := free.GetCardinality() + busy.GetCardinality(); up < uint64(t.Count()) {
		notUp := roaring.AndNot(t.All(), free)
		notUp.AndNot(busy)
		for it := notUp.Iterator(); it.HasNext(); {
			if v, ok := t.view(it.Next()); ok {
				s.in[v.State().NotUp()].Add(v.Number())
			}
		}
	}
	if t.byState = s; t.at != t.c.src.Now {
		t.sortAt(s)
		return s
	}
	s.in[index.NodeFree], s.in[index.NodePartly], s.in[index.NodeBusy] = free, t.partly(), busy
	if !s.in[index.NodePartly].IsEmpty() {
		s.in[index.NodeBusy] = roaring.AndNot(busy, s.in[index.NodePartly])
	}
	return s
}

// sortAt sorts the nodes that are up by what is planned on them then.
func (t *nodeTable) sortAt(s *nodesByState) {
	s.in[index.NodeFree], s.in[index.NodePartly], s.in[index.NodeBusy], s.later = roaring.New(), roaring.New(),
		roaring.New(), roaring.New()
	for _, b := range t.ix.Buckets() {
		for _, class := range [...]index.Class{index.Free, index.Later, index.Busy} {
			for it := t.ix.Nodes(b, class).Iterator(); it.HasNext(); {
				number := it.Next()
				switch t.classAt(number) {
				case index.Free:
					s.in[index.NodeFree].Add(number)
				case index.Later:
					s.in[index.NodeFree].Add(number)
					s.later.Add(number)
				default:
					s.in[t.inUseAt(b, number)].Add(number)
				}
			}
		}
	}
}

// classAt returns the planned class of a node that is up.
func (t *nodeTable) classAt(node uint32) index.Class {
	cal := t.c.src.Calendar()
	class := index.Free
	for _, b := range cal.At(node) {
		switch {
		case onAt(cal, b, t.at):
			return index.Busy
		case b.Start > t.at:
			class = index.Later
		}
	}
	return class
}

// inUseAt returns the state of a node that will be in use: whether jobs could have some of it.
// Usually its bucket tells how many cpus it has, and otherwise its row.
func (t *nodeTable) inUseAt(b *index.Bucket, number uint32) index.NodeState {
	cal := t.c.src.Calendar()
	if !placer.SharedBy(cal, number, t.at) {
		return index.NodeBusy
	}
	if cpus, ok := b.Get(index.NCPUs); ok && cpus.Num > 0 {
		var taken [1]int64
		if cal.Taken(number, t.at, t.at+1, nil, []uint16{uint16(index.NCPUs)}, taken[:]) == timeline.Open &&
			taken[0] < cpus.Num {
			return index.NodePartly
		}
		return index.NodeBusy
	}
	if v, ok := t.view(number); ok {
		n, err := v.Node()
		if t.c.fail(err); err == nil && placer.Partly(n, t.c.src.Left(n, t.at)) {
			return index.NodePartly
		}
	}
	return index.NodeBusy
}

// view opens the row of a node that must exist.
func (t *nodeTable) view(number uint32) (v row.NodeView, ok bool) {
	v, ok, err := t.c.view(number)
	if err == nil && !ok {
		err = fmt.Errorf("%w: node %d has no row", row.ErrDamaged, number)
	}
	t.c.fail(err)
	return v, err == nil
}

// onAt reports whether a stretch is under way at an instant, or expected to be.
func onAt(cal *timeline.Calendar, b timeline.Busy, at int64) bool {
	if at == cal.Now() {
		return cal.Live(b)
	}
	return b.Start <= at && cal.End(b) > at
}
