package priorityf

import (
	"testing"

	"github.com/placectl/placectl/index"
)

// benchNode returns a node with six resources and a job that takes three of them.
func benchNode() *Node {
	n := &index.Node{Number: 17, Priority: 5, Speed: 1.5, Features: []string{"ib", "ssd"}}
	for id, num := range []int64{64, 4, 256 << 20, 300 << 20, 32 << 20, 900 << 20} {
		n.Set(index.NCPUs+index.ResID(id), index.Value{Num: num})
	}
	return &Node{
		Node: n,
		Taken: []index.Amount{{Res: index.NCPUs, Value: index.Value{Num: 8}},
			{Res: index.NGPUs, Value: index.Value{Num: 1}}, {Res: index.Mem, Value: index.Value{Num: 16 << 20}}},
		Jobs:     1,
		Load:     7.5,
		FreeTime: 3600,
	}
}

// BenchmarkPriorityF evaluates functions for one node; the goal is 30 ns for a
// sum of four terms, which is what a policy spends on each candidate.
func BenchmarkPriorityF(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"default", Default},
		{"four", "SPEED + .01*AMEM - 10*JOBCOUNT + 100*PREF"},
		{"resources", "CPROCS + .01*AMEM + ADISK/1000 + 5*A.ngpus"},
		{"arithmetic", "max(0, min(APROCS, 8) - LOAD)/(1 + JOBCOUNT) + 100*FEATURE[ssd]"},
	} {
		b.Run(c.name, func(b *testing.B) {
			f, err := Parse(index.NewDefs(), c.text)
			if err != nil {
				b.Fatal(err)
			}
			s := benchNode()
			b.ReportAllocs()
			sum := 0.0
			for b.Loop() {
				sum += f.Eval(s)
			}
			if sum == 0 {
				b.Fatal("nothing is evaluated")
			}
		})
	}
}

func BenchmarkParsePriorityF(b *testing.B) {
	defs := index.NewDefs()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(defs, "SPEED+ .01 * AMEM - 10 * JOBCOUNT + 100*PREF"); err != nil {
			b.Fatal(err)
		}
	}
}
