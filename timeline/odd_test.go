package timeline

import (
	"fmt"
	"math"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"pgregory.net/rapid"
)

// TestCalendarOdd: whatever numbers a caller gives, a calendar answers.
func TestCalendarOdd(t *testing.T) {
	number := rapid.OneOf(rapid.Int64Range(-3, 50),
		rapid.SampledFrom([]int64{math.MinInt64, -1 << 59, 1 << 40, MaxTotal, math.MaxInt64 - 1, Forever}),
		rapid.Int64())
	node := rapid.Uint32Range(0, 3)
	rapid.Check(t, func(t *rapid.T) {
		n := func() int64 { return number.Draw(t, "n") }
		nodes := func() *roaring.Bitmap { return roaring.BitmapOf(rapid.SliceOfN(node, 0, 3).Draw(t, "nodes")...) }
		amounts := func() []int64 { return []int64{n(), n()} }
		quantities := []uint16{0, 1}
		c := NewCalendar(nil, n(), n())
		if rapid.Bool().Draw(t, "overruns") {
			over := n()
			c.Overrun = func(uint64) int64 { return over }
		}
		for range rapid.IntRange(1, 10).Draw(t, "steps") {
			x := node.Draw(t, "node")
			b := Busy{Start: n(), End: n(), Owner: rapid.Uint64Range(0, 4).Draw(t, "owner"),
				Held: rapid.Bool().Draw(t, "held"), Claim: rapid.Bool().Draw(t, "claim")}
			if rapid.Bool().Draw(t, "shared") {
				b.Use = &Use{Amounts: []Amount{{0, n()}, {1, n()}}}
			}
			switch rapid.IntRange(0, 9).Draw(t, "what") {
			case 0:
				_ = c.Add(x, b)
			case 1:
				_, _, _ = c.Earliest(nodes(), int(n()), n(), n())
			case 2:
				units := n()
				rooms := []Room{{Nodes: nodes(), Idle: rapid.Bool().Draw(t, "idle"), Key: fmt.Sprint(units),
					Units: func(Taken) int64 { return units }}}
				c.FindRoom(rooms, n(), n(), n())
				c.RoomBefore(rooms, nodes(), Own{b.Owner, []uint32{x}}, n(), n(), n(), n())
			case 3:
				c.FirstGap(x, &Gap{Whole: rapid.Bool().Draw(t, "whole"), Quantities: quantities, Most: amounts(),
					Duration: n(), But: 1}, n(), n())
			case 4:
				c.FreeThrough(x, n(), n())
				c.FreeThroughout(nodes(), n(), n())
				c.NextBusy(x, n())
			case 5:
				c.SetNow(n())
			case 6:
				c.Taken(x, n(), n(), nil, quantities, make([]int64, 2))
				c.TakenWithin(x, b.Owner, n(), n(), quantities, make([]int64, 2))
			case 7:
				_ = c.Remove(x, b.Owner)
			default:
				_ = c.Put(x, b)
			}
		}
	})
}
