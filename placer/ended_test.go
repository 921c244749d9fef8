package placer

import (
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestAnyEnded: a plan for a later instant is the same whether the nodes that are given
// back by then are told, or left to the calendar.
func TestAnyEnded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			c.disturb(t)
			a := c.drawAsk(t)
			at := c.Now + rapid.Int64Range(1, 20).Draw(t, "after")
			var plans [2]*Plan
			for i, ended := range []*roaring.Bitmap{c.endedBy(at), c.anyEnded()} {
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
			if (plans[0] == nil) != (plans[1] == nil) {
				t.Fatalf("told: %v, by the calendar: %v", plans[0], plans[1])
			}
			if plans[0] == nil {
				continue
			}
			if diff := gocmp.Diff(numbersOf(picksOf(plans[0])), numbersOf(picksOf(plans[1]))); diff != "" {
				t.Fatalf("(-told +by the calendar)\n%s", diff)
			}
			if rapid.Bool().Draw(t, "reserve") {
				c.reserve(t, plans[0])
			}
		}
	})
}
