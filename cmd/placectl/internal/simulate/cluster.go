package simulate

import (
	"fmt"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/infile"
	"github.com/placectl/placectl/cmd/placectl/internal/nodefile"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/backfill"
	"github.com/placectl/placectl/placer/backfill/swf"
	"github.com/placectl/placectl/placer/cluster"
)

// Cluster is the nodes that a log is replayed on, and what jobs ask of them.
type Cluster struct {
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

// ReadCluster reads nodes, in any form that node import takes and as a list of machines.
// Units are of sizes without one.
func ReadCluster(text infile.Text, policy placer.Policy, units *nodefile.Units) (*Cluster, error) {
	var err error
	s := &Cluster{defs: index.NewDefs(), policy: policy, hosts: make(map[string]bool), judged: make(map[string]error), unfit: make(map[string]int)}
	if s.nodes, err = parseNodes(text, s.defs, units); err != nil {
		return nil, err
	}
	for _, n := range s.nodes {
		s.procs += cpusOf(n)
		_, memory := n.Get(index.Mem)
		s.memory = s.memory || memory
		s.hosts[n.Name] = true
	}
	if s.procs == 0 {
		return nil, usage.Errorf("%s has no node with cpus (ncpus) that is up", text.Name)
	}
	s.trial, err = s.empty(0)
	return s, err
}

// parseNodes reads a list of nodes of any form. Those that are not up are left out.
func parseNodes(text infile.Text, defs *index.Defs, units *nodefile.Units) ([]*index.Node, error) {
	if nodefile.IsMachines(&text) {
		return nodefile.ParseMachines(&text)
	}
	f, err := nodefile.Parse(text, defs, nodefile.Options{Units: units})
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
func (s *Cluster) empty(now int64) (*cluster.Cluster, error) {
	nodes := make([]*index.Node, len(s.nodes))
	for i, n := range s.nodes {
		mine := *n // it is given a number
		nodes[i] = &mine
	}
	return cluster.New(s.defs, nodes, placer.Rules{}, now)
}

// ask adds what a job asks for, and says in the job how many cpus that is; false for
// one that could never run.
func (t *Trace) ask(j *backfill.Job, rec swf.Job) bool {
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
func (s *Cluster) everFits(sel string, a placer.Ask) error {
	err, known := s.judged[sel]
	if !known {
		err = s.trial.Fits(a)
		s.judged[sel] = err
	}
	return err
}

// request is what a job asks for: what is recorded, or as many cpus as it had.
func (s *Cluster) request(j backfill.Job, rec swf.Job) string {
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

// nodeList is the nodes of a placement: n[1-4].
func (s *Cluster) nodeList(p *cluster.Placement) string {
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
