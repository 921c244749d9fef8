package timeline

import (
	"fmt"
	"testing"
)

// BenchmarkLoadsEarliest asks for half of an almost idle node, of nodes with two
// jobs each and with twenty.
func BenchmarkLoadsEarliest(b *testing.B) {
	for _, nodes := range []int{1_000, 100_000} {
		for _, jobs := range []int{2, 20} {
			l, all := benchLoads(b, nodes, jobs)
			for _, n := range []int{1, nodes / 2, nodes} {
				b.Run(fmt.Sprintf("nodes=%d/jobs=%d/n=%d", nodes, jobs, n), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						if _, _, err := l.Earliest(all, n, []int64{12, 40}, 3600, 500); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

// BenchmarkLoadsNode is of one node with many jobs: a look at a window, and a job
// more and less.
func BenchmarkLoadsNode(b *testing.B) {
	for _, jobs := range []int{20, 1_000} {
		l, _ := benchLoads(b, 1, jobs)
		demand, middle := []int64{1, 1}, int64(jobs)*500
		b.Run(fmt.Sprintf("fits/jobs=%d", jobs), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = l.Fits(0, middle, middle+3600, demand)
			}
		})
		b.Run(fmt.Sprintf("add+remove/jobs=%d", jobs), func(b *testing.B) {
			b.ReportAllocs()
			takes, nodes := []Take{{0, demand}}, []uint32{0}
			for b.Loop() {
				if err := l.Put(Busy{Start: middle, End: middle + 3600, Owner: 1 << 40}, takes); err != nil {
					b.Fatal(err)
				}
				if err := l.Remove(1<<40, nodes); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
