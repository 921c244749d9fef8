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

// Cluster is the nodes on which a log is replayed, and what jobs request of them.
type Cluster struct {
	defs   *index.Defs
	nodes  []*index.Node
	policy placer.Policy
	procs  int64            // cpus of all nodes
	memory bool             // some node has memory
	hosts  map[string]bool  // the nodes by name
	trial  *cluster.Cluster // an empty cluster
	judged map[string]error // whether each request could ever run

	unfit   map[string]int // number of jobs that could never run, by reason
	avoided int            // jobs that asked to avoid nodes or features
}

// ReadCluster reads nodes, in any form that node import takes, or as a list of machines. units applies
// to sizes without a unit.
func ReadCluster(text infile.Text, policy placer.Policy, units *nodefile.Units) (*Cluster, error) {
	var err error
	s := &Cluster{defs: index.NewDefs(), policy: policy, hosts: make(map[string]bool), judged: make(map[string]error),
		unfit: make(map[string]int)}
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

// parseNodes parses a list of nodes in any form. It leaves out nodes that are not up.
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
		n.Queue = "" // a log does not say to which queue nodes belong
		if n.State == index.Up {
			nodes = append(nodes, n)
		}
	}
	return nodes, nil
}

// empty returns the empty cluster at an instant.
func (s *Cluster) empty(now int64) (*cluster.Cluster, error) {
	nodes := make([]*index.Node, len(s.nodes))
	for i, n := range s.nodes {
		mine := *n // a copy, because it gets a number
		nodes[i] = &mine
	}
	return cluster.New(s.defs, nodes, placer.Rules{}, now)
}

// ask adds a job's request, and sets the job's number of cpus. It returns false for a job that could
// never run.
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

// everFits fails if a request does not fit on the empty cluster. It caches results, because many
// requests are the same.
func (s *Cluster) everFits(sel string, a placer.Ask) error {
	err, known := s.judged[sel]
	if !known {
		err = s.trial.Fits(a)
		s.judged[sel] = err
	}
	return err
}

// request returns a job's request: the recorded one, or as many cpus as the job had.
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

// nodeList formats the nodes of a placement: n[1-4].
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
