package timeline

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
)

// benchCalendar is so many nodes, each with stretches as list makes them.
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

// BenchmarkCalendarEarliest: each node has one job (few: one of ten ends; many:
// an end of its own); or ten jobs with gaps between (random); or ten in whose
// gaps half of the nodes, always others, are free (alternating: the last start
// of ten is the first that fits more than half).
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
				b.Run(fmt.Sprintf("%s/nodes=%d/n=%d", load.name, nodes, n), func(b *testing.B) { benchEarliest(b, c, all, n, load.d) })
			}
		}
	}
}

// spread is count jobs of up to two hours with pauses as long.
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

// alternating is ten jobs of a hundred, the odd nodes' in the gaps of the even
// ones', and each a little off its neighbours'. For 90, half of the nodes are
// free again and again, and never more.
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

// BenchmarkCalendarFreeThroughout: one node of a hundred has a job, and every
// node has one.
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
