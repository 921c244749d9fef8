package slurm

import (
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
)

// allocation is a job's resources by node.
type allocation struct {
	nodes       []string
	tasks, cpus []int // nil if unknown
}

// allocated reads a job's allocation from its environment.
func allocated(getenv func(string) string) (a allocation, err error) {
	list := getenv("SLURM_JOB_NODELIST")
	if list == "" {
		list = getenv("PLACECTL_NODELIST")
	}
	if a.nodes, err = expand(list); err != nil {
		return a, err
	}
	a.tasks, a.cpus = unfolded(getenv("SLURM_TASKS_PER_NODE")), unfolded(getenv("SLURM_JOB_CPUS_PER_NODE"))
	if len(a.tasks) != len(a.nodes) {
		a.tasks = slices.Repeat([]int{1}, len(a.nodes))
	}
	if len(a.cpus) != len(a.nodes) {
		a.cpus = nil
	}
	return a, nil
}

// unfolded reads numbers in Slurm's notation: 4(x2),2.
func unfolded(text string) (list []int) {
	for _, part := range strings.Split(text, ",") {
		number, times, many := strings.Cut(strings.TrimSuffix(part, ")"), "(x")
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 {
			return nil
		}
		count := 1
		if many {
			if count, err = strconv.Atoi(times); err != nil || count < 1 || count > 1<<20 {
				return nil
			}
		}
		list = append(list, slices.Repeat([]int{n}, count)...)
	}
	return list
}

// only keeps the nodes for which keep is true.
func (a allocation) only(keep func(i int) bool) (out allocation) {
	for i := range a.nodes {
		if !keep(i) {
			continue
		}
		out.nodes, out.tasks = append(out.nodes, a.nodes[i]), append(out.tasks, a.tasks[i])
		if a.cpus != nil {
			out.cpus = append(out.cpus, a.cpus[i])
		}
	}
	return out
}

// layout assigns the tasks of a step to its nodes.
type layout struct {
	nodes []string
	count []int // tasks of each node
	node  []int // of each task
	local []int // its number on that node
}

// shape is what a step requests.
type shape struct {
	tasks, nodes   int // 0: not given
	perNode, cpus  int // 0: not given
	overcommit     bool
	cyclic         bool
	relative       int
	nodelist, omit []string
}

// lay assigns tasks to nodes as Slurm does. Each node gets as many as the job asked for if there are
// that many. Otherwise nodes are filled in order while they have cpus left. Tasks are numbered node by
// node, or with cyclic in turn.
func (s *shape) lay(a allocation, complain func(string)) (*layout, error) {
	for _, name := range s.nodelist {
		if !slices.Contains(a.nodes, name) {
			return nil,
				fronts.Failf(1, "srun: error: Unable to create step: Requested node configuration is not available")
		}
	}
	a = a.only(func(i int) bool {
		return i >= s.relative && !slices.Contains(s.omit, a.nodes[i]) && (len(s.nodelist) == 0 ||
			slices.Contains(s.nodelist, a.nodes[i]))
	})
	n, nodes := s.tasks, s.nodes
	if nodes > len(a.nodes) || len(a.nodes) == 0 {
		return nil, fronts.Failf(1, "srun: error: Only allocated %d nodes asked for %d", len(a.nodes), max(nodes, 1))
	}
	said := nodes > 0
	if nodes == 0 {
		nodes = len(a.nodes)
	}
	a = a.only(func(i int) bool { return i < nodes })
	if n == 0 {
		for _, k := range a.tasks {
			n += max(1, k)
		}
		if s.perNode > 0 {
			n = s.perNode * nodes
		}
	}
	if n > maxTasks {
		return nil, fronts.Failf(1, "srun: error: %d tasks are more than a step can have: %d", n, maxTasks)
	}
	if n < nodes {
		if said {
			complain("srun: warning: can't run " + strconv.Itoa(n) + " processes on " + strconv.Itoa(nodes) +
				" nodes, setting nnodes to " + strconv.Itoa(n))
		}
		a = a.only(func(i int) bool { return i < n })
	}
	l := &layout{nodes: a.nodes}
	if l.count = s.spread(a, n); l.count == nil {
		return nil,
			fronts.Failf(1, "srun: error: Unable to create step for job: More processors requested than permitted")
	}
	l.number(n, s.cyclic)
	return l, nil
}

// spread returns the number of tasks for each node, nil if there is no room for all.
func (s *shape) spread(a allocation, n int) []int {
	sum := 0
	for _, k := range a.tasks {
		sum += k
	}
	if sum == n && s.perNode == 0 && s.cpus <= 1 {
		return a.tasks
	}
	room := func(i int) int {
		most := n
		if a.cpus != nil && !s.overcommit {
			most = a.cpus[i] / max(1, s.cpus)
		}
		if s.perNode > 0 {
			most = min(most, s.perNode)
		}
		return most
	}
	count := make([]int, len(a.nodes))
	for left := n; left > 0; {
		before := left
		for i := range count {
			if left > 0 && count[i] < room(i) {
				count[i]++
				left--
			}
		}
		if left == before {
			return nil
		}
	}
	return count
}

// number assigns the tasks to nodes.
func (l *layout) number(n int, cyclic bool) {
	given := make([]int, len(l.nodes))
	at := 0
	for range n {
		for given[at] >= l.count[at] {
			at = (at + 1) % len(l.nodes)
		}
		l.node, l.local = append(l.node, at), append(l.local, given[at])
		given[at]++
		if cyclic {
			at = (at + 1) % len(l.nodes)
		}
	}
}
