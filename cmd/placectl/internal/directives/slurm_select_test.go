package directives

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"pgregory.net/rapid"
)

// TestLayout: a script asks sbatch for nodes, tasks and amounts. Its chunks are those that result from
// handing out the tasks one by one, to each node in turn.
func TestLayout(t *testing.T) {
	defs := testDefs(t)
	rapid.Check(t, func(t *rapid.T) {
		maybe := func(name string, most int) int { // 0: not given
			return max(0, rapid.IntRange(-most, most).Draw(t, name))
		}
		a := asked{nodes: maybe("nodes", 6), tasks: maybe("tasks", 14), perNode: maybe("ntasks-per-node", 5),
			cpus: maybe("cpus-per-task", 4),
			mem:  maybe("mem", 9), perCPU: maybe("mem-per-cpu", 9), gpus: maybe("gpus", 6), gres: maybe("gres", 3)}
		if a.mem > 0 {
			a.perCPU = 0
		}
		if a.gres > 0 {
			a.gpus = 0
		}
		want, refusal := a.handOut()
		s, err := readString(a.script(), Options{})
		if err != nil || refusal != "" {
			if err == nil || refusal == "" || !strings.Contains(err.Error(), refusal) {
				t.Fatalf("%s: error %v, want %q", a.script(), err, refusal)
			}
			return
		}
		spec, err := placer.Parse(defs, requestOf(s))
		if err != nil {
			t.Fatalf("%s: the request is invalid: %v", a.script(), err)
		}
		if diff := cmp.Diff(want, chunksOf(spec)); diff != "" {
			t.Fatalf("%s becomes %q, chunks (-want +got): %s", a.script(), s.Words(), diff)
		}
		kinds := len(spec.Chunks)
		if scattered := spec.Place.Arrange == placer.Scatter; kinds > 2 || a.nodes > 0 && !scattered ||
			a.nodes == 0 && a.perNode == 0 && scattered {
			t.Fatalf("%s becomes %q: more than two kinds of chunk, or wrongly scattered", a.script(), s.Words())
		}
	})
}

// asked is what a script requests. 0 is not given.
type asked struct{ nodes, tasks, perNode, cpus, mem, perCPU, gpus, gres int }

func (a asked) script() string {
	var b strings.Builder
	for _, o := range []struct {
		format string
		n      int
	}{
		{"-N %d", a.nodes}, {"-n %d", a.tasks}, {"--ntasks-per-node=%d", a.perNode}, {"-c %d", a.cpus},
		{"--mem=%dG", a.mem},
		{"--mem-per-cpu=%dM", a.perCPU}, {"-G %d", a.gpus}, {"--gres=gpu:%d", a.gres},
	} {
		if o.n > 0 {
			fmt.Fprintf(&b, "#SBATCH "+o.format+"\n", o.n)
		}
	}
	return b.String()
}

// handOut gives each node its tasks, the largest share first, and returns the chunks. If tasks are not bound
// to nodes, each task is a chunk.
func (a asked) handOut() (chunks []string, refusal string) {
	tasks, nodes := a.tasks, a.nodes
	if tasks == 0 {
		tasks = max(nodes, 1) * max(a.perNode, 1)
	}
	switch {
	case nodes > 0:
		nodes = min(nodes, tasks)
	case a.perNode > 0:
		for nodes*a.perNode < tasks {
			nodes++
		}
	case a.mem > 0 || a.gres > 0:
		nodes = 1
	default:
		nodes = tasks
	}
	of := make([]int, nodes)
	for i := range tasks {
		of[i%nodes]++
	}
	if a.perNode > 0 && of[0] > a.perNode {
		return nil, "per node"
	}
	if a.gpus%nodes != 0 {
		return nil, "cannot be divided evenly"
	}
	slices.SortFunc(of, func(x, y int) int { return y - x })
	for _, n := range of {
		cpus := n * max(a.cpus, 1)
		chunks = append(chunks, fmt.Sprintf("tasks %d cpus %d mem %d gpus %d", n, cpus, a.mem<<20+cpus*a.perCPU<<10,
			a.gpus/nodes+a.gres))
	}
	if (asked{}) == a {
		chunks = []string{"tasks 1 cpus 1 mem 0 gpus 0"} // a request has one cpu by default
	}
	return chunks, ""
}

// chunksOf formats each chunk as handOut does.
func chunksOf(spec placer.Spec) []string {
	var list []string
	for _, c := range spec.Chunks {
		amount := map[index.ResID]int64{index.MPIProcs: 1}
		for _, w := range c.Wants {
			amount[w.Res] = w.Value.Num
		}
		text := fmt.Sprintf("tasks %d cpus %d mem %d gpus %d", amount[index.MPIProcs], amount[index.NCPUs],
			amount[index.Mem], amount[index.NGPUs])
		for range c.Count {
			list = append(list, text)
		}
	}
	return list
}
