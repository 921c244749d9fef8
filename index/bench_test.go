package index

import (
	"fmt"
	"testing"
)

// benchNodes returns count nodes with different signatures in turn, which is the worst order
// for a bucket's bitmaps.
func benchNodes(defs *Defs, count, signatures int) []*Node {
	color, err := defs.Add(Def{Name: "color", Type: String})
	if err != nil {
		panic(err)
	}
	nodes := make([]*Node, count)
	for i := range nodes {
		n := &Node{Number: uint32(i), Name: fmt.Sprintf("n%d", i)}
		n.Set(NCPUs, Value{Num: 2})
		n.Set(Mem, Value{Num: 8 << 20})
		n.Set(color.ID, Value{Str: fmt.Sprintf("c%d", i%signatures)})
		nodes[i] = n
	}
	return nodes
}

// BenchmarkInsert sorts 100,000 nodes into buckets. OpenPBS takes 273, 1,604 and 12,710 ns a
// node for 1, 64 and 1,024 signatures.
func BenchmarkInsert(b *testing.B) {
	const count = 100_000
	for _, k := range []int{1, 64, 1024} {
		b.Run(fmt.Sprintf("signatures=%d", k), func(b *testing.B) {
			defs := NewDefs()
			nodes := benchNodes(defs, count, k)
			signature := defs.DefaultSignature()
			b.ReportAllocs()
			for b.Loop() {
				ix := New(defs, signature, nil, Limits{})
				for _, n := range nodes {
					ix.Insert(n, Free)
				}
				if len(ix.Buckets()) != k || ix.Err() != nil {
					b.Fatal(len(ix.Buckets()), ix.Err())
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/count, "ns/node")
		})
	}
}

// BenchmarkCandidates finds the bucket of each colour in turn, without a memo.
func BenchmarkCandidates(b *testing.B) {
	for _, k := range []int{16, 256, 1024} {
		b.Run(fmt.Sprintf("buckets=%d", k), func(b *testing.B) {
			defs := NewDefs()
			nodes := benchNodes(defs, 100_000, k)
			ix := New(defs, defs.DefaultSignature(), nil, Limits{})
			for _, n := range nodes {
				ix.Insert(n, Free)
			}
			color, _ := defs.Lookup("color")
			asks := make([][]Demand, k)
			for i := range asks {
				asks[i] = []Demand{{NCPUs, Value{Num: 1}}, {color.ID, Value{Str: fmt.Sprintf("c%d", i)}}}
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if c := ix.candidates("", asks[i%k]); len(c) != 1 {
					b.Fatal(c)
				}
			}
		})
	}
}
