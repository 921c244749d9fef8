package timeline

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
)

// benchCalendar returns a calendar of nodes with the busy spans that list makes.
func benchCalendar(b *testing.B, nodes int, list func(node int) []Busy) (*Calendar, *roaring.Bitmap) {
	c := NewCalendar(nil, 0, 300)
	all := roaring.New()
	all.AddRange(0, uint64(nodes))
	for node := range nodes {
		for _, s := range list(node) {
			if err := c.Put(uint32(node), s); err != nil {
				b.Fatal(err)
			}
		}
	}
	return c, all
}

func benchEarliest(b *testing.B, c *Calendar, all *roaring.Bitmap, n int, d int64) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := c.Earliest(all, n, d, 0); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCalendarEarliest searches four kinds of calendars. Each node has one job with one
// of ten ends (few) or an end of its own (many), or ten jobs with pauses between them
// (random). In the last (alternating), up to half of the nodes are free for long enough again
// and again. It is never more, nor twice the same half, until all jobs are over.
func BenchmarkCalendarEarliest(b *testing.B) {
	for _, nodes := range []int{1_000, 100_000} {
		rng := rand.New(rand.NewPCG(1, 1))
		ends := rng.Perm(nodes)
		for _, load := range []struct {
			name string
			d    int64
			list func(node int) []Busy
		}{
			{"few", 3600, func(node int) []Busy { return []Busy{{Start: -1, End: int64(ends[node]%10) + 1}} }},
			{"many", 3600, func(node int) []Busy { return []Busy{{Start: -1, End: int64(ends[node]) + 1}} }},
			{"random", 3600, func(int) []Busy { return spread(rng, 10) }},
			{"alternating", 90, func(node int) []Busy { return alternating(node, ends[node]) }},
		} {
			c, all := benchCalendar(b, nodes, load.list)
			for _, n := range []int{1, nodes / 2, nodes/2 + 1, nodes} {
				b.Run(fmt.Sprintf("%s/nodes=%d/n=%d", load.name, nodes, n), func(b *testing.B) {
					benchEarliest(b, c, all, n, load.d)
				})
			}
		}
	}
}

// spread returns count jobs of up to two hours with pauses of the same length.
func spread(rng *rand.Rand, count int) []Busy {
	list := make([]Busy, count)
	at := int64(-1)
	for i := range list {
		end := at + 1 + rng.Int64N(7200)
		list[i] = Busy{Start: at, End: end}
		at = end + rng.Int64N(7200)
	}
	return list
}

// alternating returns ten jobs of about a hundred; those of odd nodes are in the pauses of
// even ones.
func alternating(node, jitter int) []Busy {
	list := make([]Busy, 10)
	for i := range list {
		at := int64(i)*200 + int64(node%2)*100
		if at += int64(jitter % 7); i == 0 && node%2 == 0 {
			at = -1
		}
		list[i] = Busy{Start: at, End: int64(i)*200 + int64(node%2)*100 + 100 + int64(jitter%7)}
	}
	return list
}

// BenchmarkCalendarCold searches a new calendar of 100,000 nodes with a job each, so that
// every block is loaded again.
func BenchmarkCalendarCold(b *testing.B) {
	const nodes = 100_000
	stored, all := benchCalendar(b, nodes, func(node int) []Busy {
		return []Busy{{Start: -1, End: int64(node*7919%nodes) + 1}}
	})
	b.ReportAllocs()
	for b.Loop() {
		c := NewCalendar(lender{stored}, 0, 300)
		if at, _, err := c.Earliest(all, nodes/2, 3600, 0); err != nil || at != nodes/2 {
			b.Fatal(at, err)
		}
	}
}

// BenchmarkCalendarFreeThroughout searches calendars in which one node of a hundred has a job,
// or every node.
func BenchmarkCalendarFreeThroughout(b *testing.B) {
	for _, every := range []int{100, 1} {
		c, all := benchCalendar(b, 100_000, func(node int) []Busy {
			if node%every != 0 {
				return nil
			}
			return []Busy{{Start: -1, End: int64(node)}}
		})
		b.Run(fmt.Sprintf("nodes=100000/planned=%d", 100_000/every), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.FreeThroughout(all, 50_000, 60_000)
			}
		})
	}
}
