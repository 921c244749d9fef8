package slurm

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestLay: the tasks of a step are where srun 22.05 puts them.
func TestLay(t *testing.T) {
	two := allocation{nodes: []string{"a", "b"}, tasks: []int{4, 2}, cpus: []int{4, 4}}
	for name, c := range map[string]struct {
		s    shape
		a    allocation
		want string // the node of each task, or the message
	}{
		"all that the job has asked for": {shape{}, two, "aaaabb"},
		"as many, in turn":               {shape{cyclic: true}, two, "ababaa"},
		"fewer, even":                    {shape{tasks: 4}, two, "aabb"},
		"one each":                       {shape{perNode: 1}, two, "ab"},
		"one alone":                      {shape{tasks: 1}, two, "a"},
		"one of two nodes": {shape{tasks: 1, nodes: 2}, two,
			"a srun: warning: can't run 1 processes on 2 nodes, setting nnodes to 1"},
		"the first node":          {shape{nodes: 1}, two, "aaaa"},
		"a node by name":          {shape{nodelist: []string{"b"}}, two, "bb"},
		"all but one":             {shape{omit: []string{"a"}, tasks: 2}, two, "bb"},
		"from the second on":      {shape{relative: 1, tasks: 1}, two, "b"},
		"with two cpus each":      {shape{tasks: 4, cpus: 2}, two, "aabb"},
		"wide ones":               {shape{tasks: 4, cpus: 3}, two, "More processors requested than permitted"},
		"wide ones, all the same": {shape{tasks: 4, cpus: 3, overcommit: true}, two, "aabb"},
		"too many":                {shape{tasks: 9}, two, "More processors requested than permitted"},
		"too many nodes":          {shape{nodes: 3}, two, "Only allocated 2 nodes asked for 3"},
		"a node of others": {shape{nodelist: []string{"c"}}, two,
			"Requested node configuration is not available"},
	} {
		said := ""
		l, err := c.s.lay(c.a, func(text string) { said = " " + text })
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: lay fails with %v, want %s", name, err, c.want)
			}
			continue
		}
		got := ""
		for _, at := range l.node {
			got += l.nodes[at]
		}
		if got += said; got != c.want {
			t.Errorf("%s: lay = %s, want %s", name, got, c.want)
		}
	}
}

// TestLayAny: every task has a node, no node has more tasks than cpus, and the ranks on a node begin at 0.
func TestLayAny(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a allocation
		for i := range rapid.IntRange(1, 5).Draw(t, "nodes") {
			a.nodes = append(a.nodes, fmt.Sprint("n", i))
			cpus := rapid.IntRange(1, 6).Draw(t, "cpus")
			a.cpus, a.tasks = append(a.cpus, cpus), append(a.tasks, rapid.IntRange(1, cpus).Draw(t, "tasks"))
		}
		s := shape{tasks: rapid.IntRange(0, 20).Draw(t, "n"), nodes: rapid.IntRange(0, 5).Draw(t, "N"),
			cpus:    rapid.IntRange(0, 3).Draw(t, "c"),
			perNode: rapid.IntRange(0, 3).Draw(t, "per node"), cyclic: rapid.Bool().Draw(t, "cyclic"),
			overcommit: rapid.Bool().Draw(t, "overcommit")}
		l, err := s.lay(a, func(string) {})
		if err != nil {
			return
		}
		if s.tasks > 0 && len(l.node) != s.tasks {
			t.Fatalf("lay placed %d tasks, want %d", len(l.node), s.tasks)
		}
		on := make([]int, len(l.nodes))
		for rank, at := range l.node {
			if l.local[rank] != on[at] {
				t.Fatalf("task %d has number %d on its node, want %d", rank, l.local[rank], on[at])
			}
			on[at]++
		}
		for i, n := range on {
			if n != l.count[i] || !s.overcommit && s.cpus > 1 && n*s.cpus > a.cpus[i] {
				t.Fatalf("node %d has %d tasks (count says %d) of %d cpus each, but %d cpus", i, n, l.count[i], s.cpus,
					a.cpus[i])
			}
		}
	})
}

func TestUnfolded(t *testing.T) {
	for text, want := range map[string]string{"4(x2),2": "[4 4 2]", "1": "[1]", "": "[]", "4(x": "[]", "x": "[]",
		"4(x99999999)": "[]"} {
		if got := fmt.Sprint(unfolded(text)); got != want {
			t.Errorf("unfolded(%q) = %s, want %s", text, got, want)
		}
	}
}
