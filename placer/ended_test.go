package placer

import (
	"iter"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestAnyEnded: a plan for a later instant is the same whether the nodes that will be released
// by then are given or come from the calendar. In the latter case it does not matter whether
// plans are known by time.
func TestAnyEnded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			c.disturb(t)
			a := c.drawAsk(t)
			at := c.Now + rapid.Int64Range(1, 20).Draw(t, "after")
			var plans [3]*Plan
			for i, ended := range []*roaring.Bitmap{(&mapping{Snapshot: c.Snapshot}).endedBy(at), c.anyEnded(),
				c.anyEnded()} {
				if c.Planned = nil; i == 2 {
					c.Planned = c.pending
				}
				var m mapping
				if err := m.prepare(c.Snapshot, a); err != nil {
					break
				}
				plan, _, err := m.place(at, ended)
				if err != nil {
					t.Fatal(err)
				}
				plans[i] = plan
			}
			for _, plan := range plans[1:] {
				if (plans[0] == nil) != (plan == nil) {
					t.Fatalf("told: %v, by the calendar: %v", plans[0], plan)
				}
				if plan == nil {
					continue
				}
				if diff := gocmp.Diff(numbersOf(picksOf(plans[0])), numbersOf(picksOf(plan))); diff != "" {
					t.Fatalf("(-told +by the calendar)\n%s", diff)
				}
			}
			if plans[0] != nil && rapid.Bool().Draw(t, "reserve") {
				c.reserve(t, plans[0])
			}
		}
	})
}

// pending returns what will begin on nodes: an instant and a node each.
func (c *cluster) pending(int64) iter.Seq2[int64, []uint32] {
	return func(yield func(int64, []uint32) bool) {
		for _, n := range c.nodes {
			for _, b := range c.Calendar.At(n.Number) {
				if b.Start > c.Now && !yield(b.Start, []uint32{n.Number}) {
					return
				}
			}
		}
	}
}
