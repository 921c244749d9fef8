package timeline

import (
	"testing"

	"pgregory.net/rapid"
)

// The first gap is the first instant from which Taken finds room, if you try one by one.
func TestFirstGap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := NewCalendar(nil, rapid.Int64Range(0, 10).Draw(t, "now"), 3)
		for i := range rapid.IntRange(0, 8).Draw(t, "stretches") {
			b := Busy{Start: rapid.Int64Range(0, 20).Draw(t, "start"), Owner: uint64(i / 2),
				Held: rapid.Bool().Draw(t, "held")}
			b.End = b.Start + rapid.Int64Range(1, 9).Draw(t, "length")
			if rapid.IntRange(0, 3).Draw(t, "shared") > 0 {
				b.Use = &Use{
					Amounts: []Amount{{Quantity: uint16(rapid.IntRange(1, 2).Draw(t, "quantity")),
						N: rapid.Int64Range(1, 3).Draw(t, "n")}}}
			}
			if err := c.Put(5, b); err != nil {
				t.Fatal(err)
			}
		}
		g := &Gap{Whole: rapid.Bool().Draw(t, "whole"), Duration: rapid.Int64Range(1, 12).Draw(t, "duration"),
			But: rapid.Uint64Range(0, 9).Draw(t, "but")}
		if !g.Whole {
			g.Quantities = []uint16{1, 2}
			g.Most = []int64{rapid.Int64Range(0, 5).Draw(t, "most"), rapid.Int64Range(0, 5).Draw(t, "most")}
		}
		from := c.Now() + rapid.Int64Range(0, 20).Draw(t, "from")
		to := from + rapid.Int64Range(0, 30).Draw(t, "to")
		want := from
		for want < to && !hasGap(c, g, want) {
			want++
		}
		if got := c.FirstGap(5, g, from, to); got != want {
			t.Fatalf("from %d to %d: %+v first at %d, want %d in %+v", from, to, g, got, want, c.At(5))
		}
	})
}

// own ignores what an owner has.
type own uint64

func (o own) Ignores(b *Busy, _, _ int64) bool { return b.Owner == uint64(o) }

func hasGap(c *Calendar, g *Gap, at int64) bool {
	peak := make([]int64, len(g.Quantities))
	switch c.Taken(5, at, at+g.Duration, own(g.But), g.Quantities, peak) {
	case Whole:
		return false
	case Open:
		if g.Whole {
			return false
		}
		for i, most := range g.Most {
			if peak[i] > most {
				return false
			}
		}
	}
	return true
}
