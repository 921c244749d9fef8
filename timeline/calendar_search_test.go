package timeline

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"pgregory.net/rapid"
)

// searchNodes are the numbers that random calendars draw nodes from: in two adjacent blocks,
// one far away, and both ends.
var searchNodes = []uint32{0, 1, 2, 3, 62, 63, 64, 65, 700, 701, math.MaxUint32 - 1, math.MaxUint32}

const (
	searchNow   = 20
	searchGrace = 4
	searchEnd   = 70 // nothing finite is planned from here on
)

// drawCalendar returns a calendar of a few short spans, some overdue, some longer than the
// time to the next plan, some without an end.
func drawCalendar(t *rapid.T) *Calendar {
	c := NewCalendar(nil, searchNow, searchGrace)
	for _, node := range searchNodes {
		for i := range rapid.IntRange(0, 4).Draw(t, "stretches") {
			b := Busy{Start: rapid.Int64Range(0, 50).Draw(t, "start"), Owner: uint64(i),
				Held: rapid.Bool().Draw(t, "held")}
			b.End = b.Start + rapid.Int64Range(1, 12).Draw(t, "length")
			if rapid.IntRange(0, 30).Draw(t, "for ever") == 0 {
				b.End = Forever
			}
			put := c.Add
			if rapid.IntRange(0, 3).Draw(t, "over another") == 0 {
				put = c.Put
			}
			if err := put(node, b); err != nil && !errors.Is(err, ErrBusy) {
				t.Fatal(err)
			}
		}
	}
	if rapid.Bool().Draw(t, "remove") {
		node := rapid.SampledFrom(searchNodes).Draw(t, "from")
		_ = c.Remove(node, 0) // perhaps nothing
	}
	return c
}

func drawNodes(t *rapid.T) *roaring.Bitmap {
	set := roaring.New()
	for _, node := range searchNodes {
		if rapid.IntRange(0, 4).Draw(t, "candidate") > 0 {
			set.Add(node)
		}
	}
	return set
}

// freeOneByOne does what FreeThroughout does, by examining every span of every candidate.
func freeOneByOne(c *Calendar, candidates *roaring.Bitmap, from, to int64) []uint32 {
	var free []uint32
	for _, node := range candidates.ToArray() {
		if !slices.ContainsFunc(c.At(node), func(b Busy) bool { return b.Start < to && c.End(b) > from }) {
			free = append(free, node)
		}
	}
	return free
}

// TestCalendarEarliest compares the search with trying every instant.
func TestCalendarEarliest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCalendar(t)
		for range 6 {
			candidates := drawNodes(t)
			before := candidates.Clone()
			n := rapid.IntRange(1, 1+len(searchNodes)).Draw(t, "n")
			d := rapid.Int64Range(1, 15).Draw(t, "duration")
			after := rapid.Int64Range(-3, searchEnd+5).Draw(t, "after")
			at, nodes, err := c.Earliest(candidates, n, d, after)
			if !candidates.Equals(before) {
				t.Fatal("the candidates were changed")
			}
			want := after
			for want <= searchEnd+5 && len(freeOneByOne(c, candidates, want, want+d)) < n {
				want++
			}
			if want > searchEnd+5 {
				if !errors.Is(err, ErrNoFit) || nodes != nil {
					t.Fatalf("%d nodes for %d from %d on: at %d (%v), one by one never", n, d, after, at, err)
				}
				continue
			}
			free := freeOneByOne(c, candidates, want, want+d)
			if err != nil || at != want || !slices.Equal(nodes.ToArray(), free[:n]) {
				t.Fatalf("%d nodes for %d from %d on: %v at %d (%v), one by one %v at %d", n, d, after, nodes, at, err,
					free[:n], want)
			}
		}
	})
}

func TestCalendarFreeThroughout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCalendar(t)
		for range 6 {
			candidates := drawNodes(t)
			from := rapid.Int64Range(-3, searchEnd).Draw(t, "from")
			to := from + rapid.SampledFrom([]int64{1, 2, 5, 20, Forever - searchEnd}).Draw(t, "length")
			got := c.FreeThroughout(candidates, from, to)
			if want := freeOneByOne(c, candidates, from, to); !slices.Equal(got.ToArray(), want) {
				t.Fatalf("free in [%d, %d): %v, one by one %v", from, to, got, want)
			}
			for _, node := range searchNodes {
				if candidates.Contains(node) && got.Contains(node) != c.FreeThrough(node, from, to) {
					t.Fatalf("node %d in [%d, %d): not as FreeThrough says", node, from, to)
				}
			}
		}
	})
}

// TestCalendarFreeThroughoutOwn: the answer stays valid after the set that it was read from.
func TestCalendarFreeThroughoutOwn(t *testing.T) {
	want := []uint32{1, 3, 65_536, 200_000}
	stored, err := roaring.BitmapOf(append([]uint32{2}, want...)...).ToBytes()
	if err != nil {
		t.Fatal(err)
	}
	candidates := roaring.New()
	if _, err := candidates.FromBuffer(stored); err != nil {
		t.Fatal(err)
	}
	c := NewCalendar(nil, 0, 1)
	if err := c.Add(2, Busy{Start: 0, End: 1}); err != nil {
		t.Fatal(err)
	}
	free := c.FreeThroughout(candidates, 0, 1)
	clear(stored)
	if got := free.ToArray(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestCalendarPlanned: the bits that let a search skip empty nodes are those of the nodes with
// spans, in whatever order these came and went.
func TestCalendarPlanned(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCalendar(t)
		lent := NewCalendar(lender{c}, searchNow, searchGrace)
		for _, node := range searchNodes {
			for _, c := range []*Calendar{c, lent} {
				if has := c.block(node).planned>>(node%BlockNodes)&1 == 1; has != (len(c.At(node)) > 0) {
					t.Fatalf("node %d: %v, bit %v", node, c.At(node), has)
				}
			}
		}
	})
}

// lender is a source of another calendar's blocks.
type lender struct{ *Calendar }

func (l lender) Block(number uint32) (*Block, error) {
	return l.block(number * BlockNodes).Block, nil
}
func (l lender) Reach(number uint32) (int64, error) { return l.Calendar.Reach(number), nil }

type failing struct{ err error }

func (f failing) Block(uint32) (*Block, error) { return nil, f.err }
func (f failing) Reach(uint32) (int64, error)  { return 0, f.err }

func TestCalendarEarliestRefuses(t *testing.T) {
	broken := errors.New("broken")
	three := roaring.BitmapOf(1, 2, 3)
	c := NewCalendar(nil, 0, 1)
	if err := c.Add(2, Busy{Start: 5, End: Forever}); err != nil {
		t.Fatal(err)
	}
	for _, q := range []struct {
		c        *Calendar
		n        int
		d, after int64
		err      error
	}{
		{c, 0, 1, 0, ErrRange},
		{c, -1, 1, 0, ErrRange},
		{c, 1, 0, 0, ErrRange},
		{c, 1, math.MinInt64, 0, ErrRange},
		{c, 4, 1, 0, ErrNoFit},
		{c, 3, 6, 0, ErrNoFit},
		{c, 3, 5, 0, nil},
		{c, 3, 5, 1, ErrNoFit},
		{c, 3, 5, math.MinInt64, nil},
		{c, 1, Forever, 0, nil},
		{c, 1, Forever, 1, ErrNoFit},
		{c, 3, Forever, -5, ErrNoFit},
		{c, 3, Forever, math.MinInt64, nil}, // until -1
		{c, 1, 1, Forever - 1, nil},
		{c, 1, 1, Forever, ErrNoFit},
		{c, 1, 2, Forever - 1, ErrNoFit},
		{NewCalendar(failing{broken}, 0, 1), 1, 1, 0, broken},
	} {
		at, nodes, err := q.c.Earliest(three, q.n, q.d, q.after)
		if !errors.Is(err, q.err) || err == nil && (at != q.after || int(nodes.GetCardinality()) != q.n) {
			t.Errorf("%d nodes for %d from %d on: %d, %v, %v; want %v", q.n, q.d, q.after, at, nodes, err, q.err)
		}
	}
}

func TestNth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOfN(rapid.Int64Range(-4, rapid.SampledFrom([]int64{0, 9, 1000}).Draw(t, "most")), 1, 60).Draw(t,
			"values")
		k := rapid.IntRange(1, len(a)).Draw(t, "k")
		sorted := slices.Sorted(slices.Values(a))
		if got := nth(a, k); got != sorted[k-1] || !slices.Equal(slices.Sorted(slices.Values(a)), sorted) {
			t.Fatalf("%d of %v is %d", k, sorted, got)
		}
	})
}
