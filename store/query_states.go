package store

import (
	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/timeline"
)

// classes are the nodes by what is on them at an instant.
type classes struct {
	free, later, busy      *roaring.Bitmap
	down, offline, drained *roaring.Bitmap
}

type stateNodes struct {
	word  string
	nodes *roaring.Bitmap
}

func (c *classes) byState() []stateNodes {
	return []stateNodes{{"free", c.free}, {"later", c.later}, {"busy", c.busy}, {"down", c.down}, {"offline", c.offline}, {"drained", c.drained}}
}

// of is the state of a node.
func (c *classes) of(node uint32) string {
	for _, s := range c.byState() {
		if s.nodes.Contains(node) {
			return s.word
		}
	}
	return "free"
}

// classes sorts the nodes, when a state is first asked for.
func (t *nodes) classes() *classes {
	if t.class != nil {
		return t.class
	}
	c := &classes{down: roaring.New(), offline: roaring.New(), drained: roaring.New()}
	c.free, c.later, c.busy = t.union(index.Free), t.union(index.Later), t.union(index.Busy)
	up := roaring.FastOr(c.free, c.later, c.busy)
	if notUp := roaring.AndNot(t.All(), up); !notUp.IsEmpty() {
		for it := notUp.Iterator(); it.HasNext(); {
			number := it.Next()
			_, state, err := t.c.tx.nodeHead(number)
			t.c.fail(err)
			switch state {
			case index.Down:
				c.down.Add(number)
			case index.Offline:
				c.offline.Add(number)
			case index.Drained:
				c.drained.Add(number)
			}
		}
	}
	if t.class = c; t.at != t.c.tx.now {
		c.free, c.later, c.busy = roaring.New(), roaring.New(), roaring.New()
		for it := up.Iterator(); it.HasNext(); {
			number := it.Next()
			switch t.classAt(number) {
			case index.Free:
				c.free.Add(number)
			case index.Later:
				c.later.Add(number)
			default:
				c.busy.Add(number)
			}
		}
	}
	return c
}

// classAt is what will be on a node that is up, by what is planned.
func (t *nodes) classAt(node uint32) index.Class {
	cal := t.c.tx.Calendar()
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

// onAt reports whether a stretch is under way at an instant: now, or as expected.
func onAt(cal *timeline.Calendar, b timeline.Busy, at int64) bool {
	if at == cal.Now() {
		return cal.Live(b)
	}
	return b.Start <= at && cal.End(b) > at
}
