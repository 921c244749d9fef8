package simulate

import (
	"os"
	"strings"
	"testing"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/backfill"
	"github.com/placectl/placectl/placer/cluster"
)

// wagap reads the whole trace of demodata, for its nodes.
func wagap(t *testing.T) *Trace {
	t.Helper()
	const data = "../demo/data/wagap-2013.swf"
	machines, err := os.ReadFile(data + ".machines")
	if err != nil {
		t.Fatal(err)
	}
	c, err := ReadCluster(infile.New("machines", machines), placer.FirstAvailable, nil)
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Open(data + ".gz")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	tr, err := Read(log, &Options{Name: "wagap", Cluster: c, Progress: func(int64) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// TestWagapOnNodes: every job of the whole of wagap-2013 runs on its nodes, once, not before it is submitted,
// where it may, and nothing is taken twice. What is taken is summed from the placements alone.
func TestWagapOnNodes(t *testing.T) {
	tr := wagap(t)
	if n := len(tr.jobs); n+tr.skipped != 17_900 || tr.skipped > 40 {
		t.Fatalf("%d jobs are simulated, %d skipped: %v", n, tr.skipped, tr.cluster.unfit)
	}
	if testing.Short() {
		tr.jobs, tr.asks, tr.numbers = tr.jobs[:8000], tr.asks[:8000], tr.numbers[:8000]
	}
	for p := backfill.FCFS; p <= backfill.Relaxed; p++ {
		run, err := tr.Run(Rule{Policy: p, Slack: 1}, nil)
		if err != nil {
			t.Fatalf("Run of %s: %v", p, err)
		}
		sweepPlacements(t, tr, run)
	}
}

// held is what a job takes from a node.
type held struct{ from, to, cpus, mem int64 }

func sweepPlacements(t *testing.T, tr *Trace, run *Run) {
	t.Helper()
	on := make([][]held, len(tr.cluster.nodes))
	for i, j := range tr.jobs {
		p := run.placed[i]
		if p == nil || p.Start != run.starts[i] || p.Start < j.Submit {
			t.Fatalf("%s: job %d, submitted at %d, starts at %d; placed: %+v", run.Policy, tr.numbers[i], j.Submit,
				run.starts[i], p)
		}
		cpus := int64(0)
		for _, take := range p.Takings {
			n := tr.cluster.nodes[take.Node]
			h := heldOf(take.Use != nil, p, int(take.Node), n)
			h.from, h.to = p.Start, p.Start+j.Run
			on[take.Node] = append(on[take.Node], h)
			cpus += h.cpus
			if sel := tr.asks[i].Text(tr.cluster.defs); strings.Contains(sel, "cl_zewura") != strings.HasPrefix(n.Name,
				"zewura") && strings.Contains(sel, "cl_") {
				t.Errorf("job %d, which asked for %s, is on %s", tr.numbers[i], sel, n.Name)
			}
		}
		if cpus < j.Procs {
			t.Errorf("job %d has %d cpus of %d", tr.numbers[i], cpus, j.Procs)
		}
	}
	for number, list := range on {
		checkNode(t, tr.cluster.nodes[number], list)
	}
}

// heldOf returns the cpus and memory that a placement takes from a node: all of it, or amounts.
func heldOf(shared bool, p *cluster.Placement, number int, n *index.Node) held {
	mem, _ := n.Get(index.Mem)
	h := held{cpus: cpusOf(n), mem: mem.Num}
	if !shared {
		return h
	}
	h.cpus, h.mem = 0, 0
	for _, take := range p.Takings {
		if int(take.Node) != number {
			continue
		}
		for _, a := range take.Use.Amounts {
			switch index.ResID(a.Quantity) {
			case index.NCPUs:
				h.cpus += a.N
			case index.Mem:
				h.mem += a.N
			}
		}
	}
	return h
}

// checkNode sums up what is taken from a node at each instant at which a job begins.
func checkNode(t *testing.T, n *index.Node, list []held) {
	t.Helper()
	mem, _ := n.Get(index.Mem)
	for i, at := range list {
		if at.from == at.to {
			continue
		}
		var cpus, kb int64
		for _, h := range list {
			if h.from <= at.from && at.from < h.to {
				cpus, kb = cpus+h.cpus, kb+h.mem
			}
		}
		if cpus > cpusOf(n) || kb > mem.Num {
			t.Fatalf("node %s, entry %d, at %d: %d of %d cpus and %d of %d kb are taken", n.Name, i, at.from, cpus,
				cpusOf(n), kb, mem.Num)
		}
	}
}
