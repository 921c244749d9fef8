package placer

import (
	"fmt"
	"iter"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/timeline"
)

// benchSnapshot returns a snapshot of count free nodes of ncpus=2:mem=8gb with different
// colours in turn; one colour is one bucket.
func benchSnapshot(b *testing.B, count, colors int) *Snapshot {
	defs := index.NewDefs()
	color, err := defs.Add(index.Def{Name: "color", Type: index.String})
	if err != nil {
		b.Fatal(err)
	}
	ix := index.New(defs, defs.DefaultSignature(), nil, index.Limits{})
	for i := range count {
		n := &index.Node{Number: uint32(i)}
		n.Set(index.NCPUs, index.Value{Num: 2})
		n.Set(index.Mem, index.Value{Num: 8 << 20})
		n.Set(color.ID, index.Value{Str: fmt.Sprintf("c%d", i%colors)})
		ix.Insert(n, index.Free)
	}
	if len(ix.Buckets()) != colors || ix.Err() != nil {
		b.Fatal(len(ix.Buckets()), ix.Err())
	}
	return &Snapshot{Index: ix, Calendar: timeline.NewCalendar(nil, 0, 300)}
}

func benchAsk(b *testing.B, s *Snapshot, sel string) Ask {
	spec, err := Parse(s.Index.Defs(), Request{Select: sel, Place: "scatter:excl"})
	if err != nil {
		b.Fatal(err)
	}
	return Ask{Spec: spec, Duration: 3600}
}

// benchPlace decides requests in turn. With carry, it also carries out each in the index, and
// undoes it.
func benchPlace(b *testing.B, s *Snapshot, asks []Ask, carry bool) {
	b.ReportAllocs()
	picked := 0
	for i := 0; b.Loop(); i++ {
		plan, err := s.Place(asks[i%len(asks)], 0)
		if err != nil {
			b.Fatal(err)
		}
		for _, c := range plan.Chunks {
			picked += len(c.Picks)
		}
		if carry {
			moves := benchMoves(plan)
			for _, m := range moves {
				s.Index.MoveMany(m.bucket, m.nodes, m.class, index.Busy)
			}
			for _, m := range moves {
				s.Index.MoveMany(m.bucket, m.nodes, index.Busy, m.class)
			}
		}
	}
	if err := s.Index.Err(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(max(picked, 1)), "ns/chunk")
}

type benchMove struct {
	bucket *index.Bucket
	class  index.Class
	nodes  *roaring.Bitmap
}

// benchMoves groups a plan's nodes as a store that applies it does.
func benchMoves(plan *Plan) []benchMove {
	var moves []benchMove
	for _, c := range plan.Chunks {
		for _, p := range c.Picks {
			i := 0
			for i < len(moves) && (moves[i].bucket != p.Bucket || moves[i].class != p.Class) {
				i++
			}
			if i == len(moves) {
				moves = append(moves, benchMove{p.Bucket, p.Class, roaring.New()})
			}
			moves[i].nodes.Add(p.Node)
		}
	}
	return moves
}

func benchBoth(b *testing.B, s *Snapshot, asks ...Ask) {
	b.Run("decide", func(b *testing.B) { benchPlace(b, s, asks, false) })
	b.Run("carry", func(b *testing.B) { benchPlace(b, s, asks, true) })
}

// BenchmarkPlaceOne asks for one node of 10,010 in one bucket. OpenPBS takes
// 550 ns for the decision, its node path 42.6 us.
func BenchmarkPlaceOne(b *testing.B) {
	s := benchSnapshot(b, 10_010, 1)
	benchBoth(b, s, benchAsk(b, s, "1:ncpus=1"))
}

// BenchmarkPlaceMany asks for 2,858 nodes of 10,010, in one chunk of the select
// and in two, of seven colours. OpenPBS takes 83 ns a chunk for the latter.
func BenchmarkPlaceMany(b *testing.B) {
	for _, c := range []struct {
		name, sel string
		colors    int
	}{
		{"one", "2858:ncpus=1", 1},
		{"any", "2858:ncpus=1", 7},
		{"two", "1429:ncpus=1:color=c4+1429:ncpus=1:color=c2", 7},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := benchSnapshot(b, 10_010, c.colors)
			benchBoth(b, s, benchAsk(b, s, c.sel))
		})
	}
}

// BenchmarkPlaceColor asks for 8 nodes of each colour in turn, of 100,000 nodes.
// OpenPBS takes 4.4 and 42 us with 16 and 256 buckets.
func BenchmarkPlaceColor(b *testing.B) {
	for _, k := range []int{16, 256, 1024} {
		b.Run(fmt.Sprintf("buckets=%d", k), func(b *testing.B) {
			s := benchSnapshot(b, 100_000, k)
			asks := make([]Ask, k)
			for i := range asks {
				asks[i] = benchAsk(b, s, fmt.Sprintf("8:ncpus=1:color=c%d", i))
			}
			benchBoth(b, s, asks...)
		})
	}
}

// BenchmarkEarliest asks a full cluster of 10,010 nodes when a number of nodes will be free.
// Each node has a job of its own that ends a second after the one before.
func BenchmarkEarliest(b *testing.B) {
	const nodes = 10_010
	for _, want := range []int{1, 100, 5000} {
		b.Run(fmt.Sprintf("nodes=%d", want), func(b *testing.B) {
			s := benchSnapshot(b, nodes, 1)
			bucket := s.Index.Bucket(0)
			for i := range uint32(nodes) {
				s.Index.Move(bucket, i, index.Free, index.Busy)
				if err := s.Calendar.Add(i, timeline.Busy{Start: -1, End: int64(i) + 1, Owner: uint64(i),
					Held: true}); err != nil {
					b.Fatal(err)
				}
			}
			s.Releases = func(after int64) iter.Seq2[int64, []uint32] {
				return func(yield func(int64, []uint32) bool) {
					node := make([]uint32, 1)
					for at := after + 1; at <= nodes; at++ {
						if node[0] = uint32(at - 1); !yield(at, node) {
							return
						}
					}
				}
			}
			a := benchAsk(b, s, fmt.Sprintf("%d:ncpus=1", want))
			b.ReportAllocs()
			for b.Loop() {
				plan, err := s.Earliest(a, 0)
				if err != nil || plan.Start != int64(want) {
					b.Fatal(plan, err)
				}
			}
		})
	}
}
