package directives

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
)

// sbatch is asked for numbers of nodes, tasks and cpus, and for amounts per node, task or cpu. A select
// has chunks. They are:
//
//	-N (or the names of nodes)  a chunk per node, scattered, with its share of the tasks
//	-n alone                    a chunk per task, wherever there is room
//	-n, and amounts per node    the number of nodes that starts first: sbatch decides that
//	-N LEAST-MOST               when it places the job, placectl at submission
//	--ntasks-per-node           the number of nodes that follows
//
// If tasks do not divide evenly, there are two kinds of chunk, the larger one first.

// finishSlurm makes the select and the place.
func (r *reader) finishSlurm() {
	s := &r.slurm
	if where, err := s.contradiction(); err != nil {
		r.refuse(where, "%w", err)
		return
	}
	if last := s.lastOfSelect(); last.given() {
		nodes, tasks, err := r.layout()
		if err == nil {
			var text string
			if text, err = s.selectText(nodes, tasks); err == nil {
				r.setUnlessLater(last, "select", text)
			}
		}
		if err != nil {
			r.refuse(last, "%w", err)
			return
		}
		r.place(nodes, tasks)
	} else {
		r.place(0, 1)
	}
	r.Choices = s.choices(r.Choices)
	s.tell(r)
}

// contradiction finds options that exclude each other, and returns the spot of the later one.
func (s *slurmOptions) contradiction() (spot, error) {
	gpus := []spot{s.gres["gpu"].spot, s.gpus.spot, s.gpusPerNode.spot, s.gpusPerTask.spot}
	for i, a := range gpus {
		for _, b := range gpus[:i] {
			if a.given() && b.given() {
				return a.later(b), fmt.Errorf("GPUs are requested twice, with %s and %s: give one of them", b.option,
					a.option)
			}
		}
	}
	switch n := int64(len(s.hosts)); {
	case s.mem.given() && s.memPerCPU.given():
		return s.mem.later(s.memPerCPU.spot), errors.New("--mem and --mem-per-cpu exclude each other")
	case s.minCPUs.given() && !s.nodes.given() && !s.nodelist.given():
		return s.minCPUs.spot, errors.New("it counts the cpus of a node: give the number of nodes with -N")
	case s.nodes.given() && s.nodelist.given() && n != s.nodes.n:
		return s.nodes.later(s.nodelist),
			fmt.Errorf("%d nodes are named, but -N asks for %d: the job has exactly the named nodes", n, s.nodes.n)
	}
	return spot{}, nil
}

// lastOfSelect returns the spot of the last option that contributes to the select.
func (s *slurmOptions) lastOfSelect() spot {
	last := s.constraint.later(s.nodelist)
	for _, a := range []amount{s.nodes, s.tasks, s.tasksPerNode, s.cpusPerTask, s.minCPUs, s.mem, s.memPerCPU, s.tmp} {
		last = last.later(a.spot)
	}
	for _, d := range []devices{s.gpus, s.gpusPerNode, s.gpusPerTask} {
		last = last.later(d.spot)
	}
	for _, name := range sortedKeys(s.gres) {
		last = last.later(s.gres[name].spot)
	}
	return last
}

// layout returns the numbers of nodes and tasks. nodes is 0 if each task is a chunk of its own.
func (r *reader) layout() (nodes, tasks int64, err error) {
	s := &r.slurm
	each := max(s.tasksPerNode.n, 1)
	switch {
	case s.nodelist.given():
		nodes = int64(len(s.hosts))
	case s.nodes.given():
		nodes = s.nodes.n
		if s.mostNodes > 0 {
			nodes = r.chooseNodes(nodes, s.mostNodes)
		}
	case s.tasksPerNode.given() && s.tasks.given():
		nodes = (s.tasks.n-1)/each + 1
	case s.tasksPerNode.given():
		nodes = 1
	case s.ofNode() && s.tasks.n > 1:
		nodes = r.chooseNodes(1, s.tasks.n)
	}
	switch {
	case s.tasks.given():
		tasks = s.tasks.n
	case nodes > 0:
		tasks = nodes * each
	default:
		tasks = 1
	}
	if nodes > tasks {
		if s.nodelist.given() {
			return 0, 0, fmt.Errorf("%s cannot be on %s", text.Plural(int(tasks), "task"),
				text.Plural(int(nodes), "node"))
		}
		r.note(s.nodes.spot, fmt.Sprintf("only as many nodes as tasks: %d", tasks))
		nodes = tasks
	}
	if nodes > 0 && s.tasksPerNode.given() && (tasks-1)/nodes+1 > each {
		return 0, 0, fmt.Errorf("%d tasks on %d nodes is more than %d per node", tasks, nodes, each)
	}
	return nodes, tasks, nil
}

// chooseNodes returns how many nodes of a range to take, and lists the numbers to choose from. It leaves
// some out if there are many.
func (r *reader) chooseNodes(least, most int64) int64 {
	if r.slurm.tasks.given() {
		most = min(most, max(r.slurm.tasks.n, least))
	}
	step := int64(1)
	for n := least; n <= most; n += step {
		r.Choices = append(r.Choices, Choice{Nodes: n})
		if n >= 8*step {
			step *= 2
		}
	}
	return min(max(r.o.Choice.Nodes, least), most)
}

// choices returns what the options leave open.
func (s *slurmOptions) choices(nodes []Choice) (all []Choice) {
	if len(nodes) == 0 {
		nodes = []Choice{{}}
	}
	for _, name := range s.partitions {
		for _, c := range nodes {
			c.Partition = name
			all = append(all, c)
		}
	}
	if len(s.partitions) < 2 {
		all = nodes
	}
	if len(all) < 2 {
		return nil
	}
	return all
}

// ofNode reports whether an amount per node is requested.
func (s *slurmOptions) ofNode() bool {
	return s.mem.given() || s.tmp.given() || s.gpusPerNode.given() || len(s.gres) > 0
}

// selectText writes the chunks.
func (s *slurmOptions) selectText(nodes, tasks int64) (string, error) {
	if nodes == 0 {
		return s.chunk(tasks, 1, tasks)
	}
	each, more := tasks/nodes, tasks%nodes // more nodes have each+1 tasks
	var chunks []string
	add := func(count, tasks int64, host string) error {
		if count == 0 {
			return nil
		}
		text, err := s.chunk(count, tasks, nodes)
		if host != "" {
			text += ":host=" + host
		}
		chunks = append(chunks, text)
		return err
	}
	if len(s.hosts) == 0 {
		err := errors.Join(add(more, each+1, ""), add(nodes-more, each, ""))
		return strings.Join(chunks, "+"), err
	}
	for i, host := range s.hosts {
		mine := each
		if int64(i) < more {
			mine++
		}
		if err := add(1, mine, host); err != nil {
			return "", err
		}
	}
	return strings.Join(chunks, "+"), nil
}

// chunk writes count chunks of tasks tasks each. chunks is the total number of chunks.
func (s *slurmOptions) chunk(count, tasks, chunks int64) (string, error) {
	cpus := tasks * max(s.cpusPerTask.n, 1)
	mem := s.mem.n
	if s.memPerCPU.given() {
		if cpus > math.MaxInt64/s.memPerCPU.n {
			return "", errors.New("this is too much memory")
		}
		mem = cpus * s.memPerCPU.n
	}
	b := []byte(strconv.FormatInt(count, 10))
	want := func(name, value string) { b = append(append(append(append(b, ':'), name...), '='), value...) }
	amount := func(name string, n int64) { want(name, strconv.FormatInt(n, 10)) }
	amount("ncpus", max(cpus, s.minCPUs.n))
	if tasks > 1 { // a chunk has one task anyway
		amount("mpiprocs", tasks)
	}
	if mem > 0 {
		want("mem", index.FormatSize(mem))
	}
	if s.tmp.given() {
		want("disk", index.FormatSize(s.tmp.n))
	}
	devices, err := s.devicesOf(tasks, chunks)
	if err != nil {
		return "", err
	}
	for _, d := range devices {
		amount(d.resource, d.n)
	}
	for _, d := range devices {
		if d.feature != "" {
			want("feature", d.feature)
		}
	}
	for _, f := range s.features {
		want("feature", f)
	}
	return string(b), nil
}

// place says how chunks are placed: scattered if each is a node. A job with exclusive nodes is scattered,
// too, unless its chunks are tasks that may share nodes.
func (r *reader) place(nodes, tasks int64) {
	s := &r.slurm
	last := s.exclusive.later(s.spread).later(s.nodes.spot).later(s.nodelist)
	scatter := last.given() && (nodes > 0 || tasks == 1 || s.spread.given())
	if !last.given() && nodes > 1 {
		last, scatter = s.tasksPerNode.spot, true
	}
	place := "free"
	if scatter {
		place = "scatter"
	}
	if s.exclusive.given() {
		place += ":excl"
	}
	if last.given() {
		r.setUnlessLater(last, "place", place)
	}
}

// tell keeps the values for the job's variables that a select does not contain.
func (s *slurmOptions) tell(r *reader) {
	tell := func(name string, a amount, unit int64) {
		if a.given() {
			r.Variables = append(r.Variables, name+"="+strconv.FormatInt((a.n-1)/unit+1, 10))
		}
	}
	const mebibyte = 1024 // kb
	tell("SLURM_CPUS_PER_TASK", s.cpusPerTask, 1)
	tell("SLURM_MEM_PER_NODE", s.mem, mebibyte)
	tell("SLURM_MEM_PER_CPU", s.memPerCPU, mebibyte)
}
