package directives

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
)

// slurmOptions are the options of an sbatch script that together determine what to place.
// slurm_select.go makes a select of them.
type slurmOptions struct {
	nodes, tasks, tasksPerNode, cpusPerTask, minCPUs amount
	mem, memPerCPU, tmp                              amount // in kB
	gpus, gpusPerNode, gpusPerTask                   devices
	gres                                             map[string]devices
	features                                         []string
	constraint                                       spot
	hosts                                            []string
	mostNodes                                        int64 // the end of a range of nodes, 0 for a single number
	partitions                                       []string
	nodelist                                         spot
	exclusive, spread                                spot
}

// amount is a requested number, with its option.
type amount struct {
	spot
	n int64
}

// devices are requests of a chunk such as ngpus=2:feature=a100, with their option.
type devices struct {
	spot
	wants []deviceWant
}

// deviceWant is a number of a resource. feature is what the node must also have, or "".
type deviceWant struct {
	resource string
	n        int64
	feature  string
}

// maxAmount bounds numbers of nodes, tasks and cpus.
const maxAmount = 1_000_000

// slurmOfNodes returns the options about nodes, tasks, memory and devices.
func slurmOfNodes() []option {
	count := func(of func(*slurmOptions) *amount) func(*reader, string) error {
		return func(r *reader, v string) error { return r.count(of(&r.slurm), v) }
	}
	size := func(of func(*slurmOptions) *amount) func(*reader, string) error {
		return func(r *reader, v string) error { return r.mebibytes(of(&r.slurm), v) }
	}
	gpus := func(of func(*slurmOptions) *devices) func(*reader, string) error {
		return func(r *reader, v string) error { return r.slurmGPUs(of(&r.slurm), v) }
	}
	tasksPerNode := count(func(s *slurmOptions) *amount { return &s.tasksPerNode })
	return []option{
		{short: 'N', long: "nodes", read: (*reader).slurmNodes},
		{short: 'n', long: "ntasks", read: count(func(s *slurmOptions) *amount { return &s.tasks })},
		{long: "ntasks-per-node", read: tasksPerNode},
		{long: "tasks-per-node", read: tasksPerNode},
		{short: 'c', long: "cpus-per-task", read: count(func(s *slurmOptions) *amount { return &s.cpusPerTask })},
		{long: "mincpus", read: count(func(s *slurmOptions) *amount { return &s.minCPUs })},
		{long: "mem", read: size(func(s *slurmOptions) *amount { return &s.mem })},
		{long: "mem-per-cpu", read: size(func(s *slurmOptions) *amount { return &s.memPerCPU })},
		{long: "tmp", read: size(func(s *slurmOptions) *amount { return &s.tmp })},
		{short: 'G', long: "gpus", read: gpus(func(s *slurmOptions) *devices { return &s.gpus })},
		{long: "gpus-per-node", read: gpus(func(s *slurmOptions) *devices { return &s.gpusPerNode })},
		{long: "gpus-per-task", read: gpus(func(s *slurmOptions) *devices { return &s.gpusPerTask })},
		{long: "gres", read: (*reader).slurmGRES},
		{short: 'C', long: "constraint", read: (*reader).slurmConstraint},
		{short: 'w', long: "nodelist", read: func(r *reader, v string) error { return r.slurmNodelist(v) }},
		{short: 'F', long: "nodefile", read: (*reader).slurmNodefile},
		{long: "exclusive", takes: attached, read: (*reader).slurmExclusive},
		{long: "spread-job", takes: never, read: func(r *reader, _ string) error {
			r.slurm.spread = r.here
			return nil
		}},
	}
}

func (r *reader) count(to *amount, v string) error {
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || !isDigits(v) || n < 1 || n > maxAmount {
		return fmt.Errorf("%q is not a whole number from 1 to %d", v, maxAmount)
	}
	*to = amount{r.here, n}
	return nil
}

// slurmNodes reads N or LEAST-MOST.
func (r *reader) slurmNodes(v string) error {
	least, most, isRange := strings.Cut(v, "-")
	r.slurm.mostNodes = 0
	if isRange {
		var to amount
		if err := r.count(&to, most); err != nil {
			return err
		}
		r.slurm.mostNodes = to.n
	}
	if err := r.count(&r.slurm.nodes, least); err != nil {
		return err
	}
	if isRange && r.slurm.mostNodes < r.slurm.nodes.n {
		return fmt.Errorf("%q: the second number is the maximum", v)
	}
	return nil
}

// slurmPartition reads NAME, or NAME,NAME for any of them.
func (r *reader) slurmPartition(v string) error {
	names := strings.Split(v, ",")
	if slices.Contains(names, "") {
		return fmt.Errorf("%q: a name is missing", v)
	}
	r.slurm.partitions = names
	name := names[0]
	if slices.Contains(names, r.o.Choice.Partition) {
		name = r.o.Choice.Partition
	}
	return to("queue")(r, name)
}

// mebibytes reads one of sbatch's sizes: a number of MiB, or one with K, M, G or T.
func (r *reader) mebibytes(to *amount, v string) error {
	const form = "%q is not a size such as 4000 (MiB), 512M or 8G"
	digits := strings.TrimRight(v, "KMGTkmgtBb")
	unit := strings.TrimSuffix(strings.ToLower(v[len(digits):]), "b")
	n, err := strconv.ParseInt(digits, 10, 64)
	shift := map[string]int{"k": 0, "": 10, "m": 10, "g": 20, "t": 30}
	by, known := shift[unit]
	switch {
	case err != nil || !isDigits(digits) || !known || n > 1<<40>>by:
		return fmt.Errorf(form, v)
	case n == 0 && to == &r.slurm.mem:
		r.note(r.here, "all memory of the nodes: the job has them alone")
		r.slurm.exclusive = r.here
		return nil
	case n == 0:
		return errors.New("0: say how much")
	}
	*to = amount{r.here, n << by}
	return nil
}

// slurmConstraint reads a&b: every node must have each of the features.
func (r *reader) slurmConstraint(v string) error {
	features, err := featureList(v, "&")
	if err != nil {
		return err
	}
	r.slurm.constraint, r.slurm.features = r.here, features
	return nil
}

// featureList reads features separated by one character.
func featureList(v, between string) ([]string, error) {
	features := strings.Split(v, between)
	for _, f := range features {
		if f == "" || strings.ContainsAny(f, "|&[]*(){}, :+='\"\\") || text.Printable(f) != f {
			return nil, fmt.Errorf("%q: write features with %s between them; counts, parentheses and other operators "+
				"are not supported", v, between)
		}
	}
	return features, nil
}

// slurmNodelist reads the names of the nodes that the job needs.
func (r *reader) slurmNodelist(v string) error {
	if strings.Contains(v, "/") {
		return r.slurmNodefile(v) // sbatch takes that for a file
	}
	names, err := index.ExpandNodeList(v)
	if err != nil {
		return err
	}
	seen := make(map[string]bool)
	var hosts []string
	for _, name := range names {
		if !index.ValidNodeName(name) {
			return fmt.Errorf("%q is not the name of a node", name)
		}
		if !seen[name] {
			hosts = append(hosts, name)
		}
		seen[name] = true
	}
	const most = 4096 // chunks of a select
	if len(hosts) > most {
		return fmt.Errorf("it names %d nodes; at most %d can be named", len(hosts), most)
	}
	r.slurm.nodelist, r.slurm.hosts = r.here, hosts
	return nil
}

// slurmNodefile reads a file with names of nodes.
func (r *reader) slurmNodefile(name string) error {
	if r.o.ReadFile == nil {
		return errors.New("files of nodes are not read: name the nodes with --nodelist")
	}
	data, err := r.o.ReadFile(name)
	if err != nil {
		return err
	}
	names := strings.FieldsFunc(string(data), func(c rune) bool {
		return c == '\n' || c == '\r' || c == ' ' || c == '\t'
	})
	list := strings.ReplaceAll(strings.Join(names, ","), ",,", ",")
	if strings.Contains(list, "/") {
		return fmt.Errorf("%q does not hold names of nodes", name)
	}
	return r.slurmNodelist(strings.Trim(list, ","))
}

// slurmExclude reads nodes that the job must not use. Lines add up.
func (r *reader) slurmExclude(v string) error {
	if strings.Contains(v, "/") {
		return errors.New("files of nodes are not read: name the nodes")
	}
	names, err := index.ExpandNodeList(v)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !index.ValidNodeName(name) {
			return fmt.Errorf("%q is not the name of a node", name)
		}
	}
	if was, ok := r.was("exclude"); ok {
		v = was.Value + "," + v
	}
	r.set("exclude", v)
	return nil
}

// slurmExclusive reads --exclusive[=user].
func (r *reader) slurmExclusive(v string) error {
	switch strings.ToLower(v) {
	case "":
		r.slurm.exclusive = r.here
		return nil
	case "user":
		return to("access")(r, "singleuser")
	}
	return fmt.Errorf("%q: use --exclusive, or --exclusive=user to share with the user's own jobs", v)
}
