package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/cmd/placectl/internal/nodefile"
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/backfill"
	"github.com/placectl/placectl/placer/backfill/swf"
	"github.com/placectl/placectl/placer/cluster"
	"github.com/urfave/cli/v2"
)

// simCluster is the nodes that a log is replayed on, and what jobs ask of them.
type simCluster struct {
	defs   *index.Defs
	nodes  []*index.Node
	policy placer.Policy
	procs  int64            // cpus of all nodes
	memory bool             // some node has memory
	hosts  map[string]bool  // the nodes by name
	trial  *cluster.Cluster // on which nothing is
	judged map[string]error // by request: whether it could ever run

	unfit   map[string]int // jobs that could not, by why
	avoided int            // jobs that named nodes or features to be kept off
}

// readNodeFlags reads the flags that are about nodes.
func (o *simulateOptions) readNodeFlags(c *cli.Context) (err error) {
	switch {
	case c.IsSet("nodes") && o.nodes == "":
		return usagef("--nodes is empty; name a file of nodes")
	case o.nodes == "" && c.IsSet("node-policy"):
		return usagef("--node-policy is for jobs that are placed on nodes; name those with --nodes")
	case o.nodes == "" && c.IsSet(unitName):
		return usagef("--unit is about the sizes of nodes; name those with --nodes")
	case c.IsSet("gantt") && o.gantt == "":
		return usagef("--gantt is empty; name a file, or - for standard output")
	case o.nodes == "" && c.IsSet("gantt"):
		return usagef("--gantt draws nodes; name those with --nodes")
	case o.nodes == "-" && o.trace == "-":
		return usagef("the trace and --nodes cannot both come from standard input")
	}
	o.nodePolicy, err = placer.ParsePolicy(c.String("node-policy"))
	switch {
	case err != nil:
		return usagef("--node-policy: %w", err)
	case o.nodePolicy == placer.Local || o.nodePolicy == placer.Topology:
		return usagef("--node-policy %s goes by settings of a database, which a simulation has not", o.nodePolicy)
	case o.nodePolicy == placer.NoPolicy:
		o.nodePolicy = placer.FirstAvailable
	}
	o.units, err = readUnits(c, index.NewDefs())
	return err
}

// readSimCluster reads the nodes.
func (r *runner) readSimCluster(o *simulateOptions) (*simCluster, error) {
	text, err := r.readText(o.nodes)
	if err != nil {
		return nil, err
	}
	s := &simCluster{defs: index.NewDefs(), policy: o.nodePolicy, hosts: make(map[string]bool), judged: make(map[string]error), unfit: make(map[string]int)}
	if s.nodes, err = parseSimNodes(text, s.defs, o.units); err != nil {
		return nil, err
	}
	for _, n := range s.nodes {
		s.procs += cpusOf(n)
		_, memory := n.Get(index.Mem)
		s.memory = s.memory || memory
		s.hosts[n.Name] = true
	}
	if s.procs == 0 {
		return nil, usagef("%s has no node with cpus (ncpus) that is up", shownFile(o.nodes))
	}
	s.trial, err = s.empty(0)
	return s, err
}

// parseSimNodes reads a list of nodes of any form. Those that are not up are left out.
func parseSimNodes(text infile.Text, defs *index.Defs, units *nodefile.Units) ([]*index.Node, error) {
	if nodefile.IsMachines(&text) {
		return nodefile.ParseMachines(&text)
	}
	f, err := nodefile.Parse(text, "auto", defs, units)
	if err != nil {
		return nil, err
	}
	var nodes []*index.Node
	for i := range f.Nodes {
		p := &f.Nodes[i]
		n, err := p.Create(p.Name)
		if err != nil {
			return nil, f.Errorf(p.At, "node %s: %w", p.Name, err)
		}
		n.Queue = "" // whose nodes they are a log does not say
		if n.State == index.Up {
			nodes = append(nodes, n)
		}
	}
	return nodes, nil
}

// empty is the cluster with nothing on it, at an instant.
func (s *simCluster) empty(now int64) (*cluster.Cluster, error) {
	nodes := make([]*index.Node, len(s.nodes))
	for i, n := range s.nodes {
		mine := *n // it is given a number
		nodes[i] = &mine
	}
	return cluster.New(s.defs, nodes, placer.Rules{}, now)
}

// ask adds what a job asks for, and says in the job how many cpus that is; false for
// one that could never run.
func (t *trace) ask(j *backfill.Job, rec swf.Job) bool {
	s := t.cluster
	sel := s.request(*j, rec)
	a := placer.Ask{Duration: j.Request, User: fmt.Sprintf("user%d", rec.User), Policy: s.policy}
	spec, err := placer.Parse(s.defs, placer.Request{Select: sel})
	if a.Spec = spec; err == nil {
		err = s.everFits(sel, a)
	}
	if err != nil {
		t.skipped++
		s.unfit[err.Error()]++
		return false
	}
	j.Procs = 0
	for _, w := range a.Spec.Totals(s.defs) {
		if w.Res == index.NCPUs {
			j.Procs = w.Value.Num
		}
	}
	t.asks = append(t.asks, a)
	return true
}

// everFits fails where a request does not fit with nothing else on the nodes. Many
// ask for the same.
func (s *simCluster) everFits(sel string, a placer.Ask) error {
	err, known := s.judged[sel]
	if !known {
		err = s.trial.Fits(a)
		s.judged[sel] = err
	}
	return err
}

// request is what a job asks for: what is recorded, or as many cpus as it had.
func (s *simCluster) request(j backfill.Job, rec swf.Job) string {
	if n := len(rec.Extra); n > 0 && strings.Contains(rec.Extra[n-1], "ppn=") {
		sel, avoids := swf.Select(rec.Extra[n-1], rec.WantMemory, func(name string) bool { return s.hosts[name] })
		if avoids {
			s.avoided++
		}
		return sel
	}
	sel := fmt.Sprintf("%d:ncpus=1", j.Procs)
	if s.memory && rec.WantMemory > 0 {
		sel += fmt.Sprintf(":mem=%dkb", rec.WantMemory)
	}
	return sel
}

// noteSkipped says which jobs are not in the simulation, and why.
func (r *runner) noteSkipped(t *trace) {
	if t.wide > 0 {
		r.notef("skipped %s wider than the machine's %d processors", spell.Plural(t.wide, "job"), t.procs)
	}
	if t.cluster == nil {
		return
	}
	unfit, most := 0, ""
	for _, why := range slices.Sorted(maps.Keys(t.cluster.unfit)) {
		n := t.cluster.unfit[why]
		r.debugf("%s: %s", spell.Plural(n, "job"), why)
		if unfit += n; most == "" || n > t.cluster.unfit[most] {
			most = why
		}
	}
	if unfit > 0 {
		r.notef("skipped %s that the nodes can never serve, such as (-v lists all): %s", spell.Plural(unfit, "job"), most)
	}
	if n := t.cluster.avoided; n > 0 {
		r.notef("%s asked to be kept off some nodes (^), which is left out", spell.Plural(n, "job"))
	}
}

// nodeList is the nodes of a placement: n[1-4].
func (s *simCluster) nodeList(p *cluster.Placement) string {
	names := make([]string, len(p.Takings))
	for i, t := range p.Takings {
		names[i] = s.nodes[t.Node].Name
	}
	return index.FoldNodeList(names)
}

func cpusOf(n *index.Node) int64 {
	v, _ := n.Get(index.NCPUs)
	return v.Num
}
