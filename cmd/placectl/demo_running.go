package main

import (
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store"
)

// demoTaking is what a job takes of a node.
type demoTaking struct {
	node uint32
	cpus int64
}

// demoTakings is what a job takes of each of its nodes.
func demoTakings(tx *store.Tx, job *store.Job) ([]demoTaking, error) {
	asked, err := tx.Asked(job)
	if err != nil {
		return nil, err
	}
	var out []demoTaking
	for i, c := range job.Chunks {
		var cpus int64
		for _, w := range asked[i].Wants {
			if w.Res == index.NCPUs {
				cpus = w.Value.Num
			}
		}
		for _, n := range c.Nodes {
			out = append(out, demoTaking{n.Node, cpus * int64(n.Chunks)})
		}
	}
	return out, nil
}

// demoEnds is a heap of running jobs, the one that ends first in front.
type demoEnds []*demoEnd

type demoEnd struct {
	at     int64
	job    uint64
	what   *demoJob
	takes  []demoTaking
	shared bool // it has had another job beside it
}

func (e demoEnds) Len() int { return len(e) }
func (e demoEnds) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].job < e[j].job
}
func (e demoEnds) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *demoEnds) Push(x any)   { *e = append(*e, x.(*demoEnd)) }
func (e *demoEnds) Pop() any {
	old := *e
	last := old[len(old)-1]
	*e = old[:len(old)-1]
	return last
}
