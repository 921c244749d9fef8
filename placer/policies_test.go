package placer

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	gocmp "github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/priorityf"
	"github.com/placectl/placectl/placer/subject"
	"github.com/placectl/placectl/timeline"
)

// policyScenario is a worked case of node allocation; see testdata/README.md.
type policyScenario struct {
	ID, Policy   string
	Nodes        []policyNode
	Reservations []struct {
		Name       string
		Start, End int64
		Nodes      []string
		ACL        []struct{ Type, Value, Affinity string }
	}
	Config struct {
		Default          struct{ PriorityF string } `json:"NODECFG[DEFAULT]"`
		NodeAccessPolicy string
		// Node sets: of one attribute, only the listed values of it.
		NodeSetPolicy, NodeSetAttribute, NodeSetDelay, NodeSetList, NodeSetPriorityType string
	}
	Jobs   []policyJob
	Expect []struct {
		Job   string
		Start int64
		Nodes map[string]int
		Order []string
		OneOf json.RawMessage `json:"one_of"`
	}
	Values map[string]float64
}

type policyNode struct {
	Name             string
	Procs            int64
	MemMB            int64 `json:"mem_mb"`
	Speed, ProcSpeed float64
	Load, Usage      float64
	Priority         int32
	PriorityF        string
	Features         []string
	Slot, Frame      int
	Partition        string
	Running          []struct {
		ID, User   string
		Procs, End int64
		MemMB      int64 `json:"mem_mb"`
	}
}

type policyJob struct {
	ID, User, Group string
	Tasks           int
	Procs           int64 `json:"procs_per_task"`
	MemMB           int64 `json:"mem_mb_per_task"`
	Walltime        int64
	TasksPerNode    int `json:"tasks_per_node"`
	Pref            []string
	AdvRes          string
	Priority        int
}

// policiesNotFollowed are cases whose expected result we do not produce, with the reason.
// There are none: those of backfilling come out right if each job is planned at its earliest
// start, by priority.
var policiesNotFollowed = map[string]string{}

func TestPolicies(t *testing.T) {
	f, err := os.Open("testdata/policies.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	seen := 0
	for lines := bufio.NewScanner(f); lines.Scan(); seen++ {
		var s policyScenario
		dec := json.NewDecoder(strings.NewReader(lines.Text()))
		if err := dec.Decode(&s); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		t.Run(s.ID, func(t *testing.T) {
			if why := policiesNotFollowed[s.ID]; why != "" {
				t.Skip(why)
			}
			// The signature is up to the store: the answers are the same.
			for _, signature := range [][]index.ResID{{index.NCPUs, index.Mem, index.FirstDeclared}, {index.NCPUs},
				{}} {
				c := s.build(t, signature)
				s.checkValues(t, c)
				s.run(t, c)
			}
		})
	}
	if seen != 41 {
		t.Errorf("%d cases", seen)
	}
}

func (s *policyScenario) build(t *testing.T, signature []index.ResID) *site {
	defs := index.NewDefs()
	partition, err := defs.Add(index.Def{Name: "partition", Type: index.String})
	if err != nil {
		t.Fatal(err)
	}
	c := newSite(defs, signature, 0, 300)
	byName := make(map[string]uint32)
	for _, n := range s.declared() {
		number := uint32(len(c.nodes))
		byName[n.Name] = number
		node := &index.Node{Number: number, Name: n.Name, Speed: n.Speed, ProcSpeed: n.ProcSpeed, Load: n.Load,
			Usage:    n.Usage,
			Priority: n.Priority, PriorityF: n.PriorityF, Features: n.Features}
		node.Set(index.NCPUs, index.Value{Num: n.Procs})
		node.Set(index.Mem, index.Value{Num: n.MemMB << 10})
		if n.Partition != "" {
			node.Set(partition.ID, index.Value{Str: n.Partition})
			c.Rules.GroupKey, c.Rules.DoNotSpan = []index.ResID{partition.ID}, true
		}
		c.add(node)
		for _, r := range n.Running {
			use := &timeline.Use{Amounts: amounts(r.Procs, r.MemMB)}
			c.put(t, number, timeline.Busy{Start: -3600, End: r.End, Owner: c.newOwner(r.User), Held: true, Use: use})
		}
	}
	for _, r := range s.Reservations {
		g := Grant{Owner: c.newOwner(""), Name: r.Name, Start: r.Start, End: r.End, Nodes: roaring.New()}
		for _, name := range r.Nodes {
			g.Nodes.Add(byName[name])
			c.put(t, byName[name], timeline.Busy{Start: r.Start, End: r.End, Owner: g.Owner, Claim: true})
		}
		c.claims = append(c.claims, g)
	}
	s.configure(t, c)
	return c
}

// declared returns the nodes in declared order: by slot, where they have one.
func (s *policyScenario) declared() []policyNode {
	nodes := slices.Clone(s.Nodes)
	slices.SortStableFunc(nodes, func(a, b policyNode) int { return a.Slot - b.Slot })
	return nodes
}

func amounts(procs, memMB int64) []timeline.Amount {
	list := []timeline.Amount{{Quantity: uint16(index.NCPUs), N: procs}}
	if memMB > 0 {
		list = append(list, timeline.Amount{Quantity: uint16(index.Mem), N: memMB << 10})
	}
	return list
}

func (s *policyScenario) configure(t *testing.T, c *site) {
	var err error
	if c.Rules.Access, err = index.ParseAccess(s.Config.NodeAccessPolicy); err != nil {
		t.Fatal(err)
	}
	if s.Config.NodeSetPolicy == "" {
		return
	}
	if s.Config.NodeSetPolicy != "ONEOF" || s.Config.NodeSetAttribute != "FEATURE" {
		t.Fatalf("node sets: %+v", s.Config)
	}
	c.Rules.GroupKey = []index.ResID{index.Feature}
	for _, n := range c.nodes {
		for _, f := range n.Features {
			if !slices.Contains(strings.Fields(s.Config.NodeSetList), f) {
				t.Fatalf("feature %s makes no set", f)
			}
		}
	}
	order, ok := map[string]SetOrder{"": SmallestSet, "BESTFIT": SmallestSet, "FIRSTFIT": FirstSet,
		"WORSTFIT": LargestSet}[s.Config.NodeSetPriorityType]
	if !ok {
		t.Fatalf("node sets: %+v", s.Config)
	}
	c.Rules.SetOrder = order
	if s.Config.NodeSetDelay == "0:00:00" {
		c.Rules.SetDelay = -1
	}
	// Any other delay keeps a job in one set for ever, as documented.
}

func (s *policyScenario) ask(t *testing.T, c *site, j policyJob) Ask {
	a := Ask{Duration: j.Walltime, User: j.User, Grants: s.grants(t, c, j)}
	a.Chunks = []Chunk{
		{Count: j.Tasks, Wants: []Want{{Res: index.NCPUs, Value: index.Value{Num: j.Procs}},
			{Res: index.Mem, Value: index.Value{Num: j.MemMB << 10}}}}}
	switch j.TasksPerNode {
	case 0:
	case 1:
		a.Place.Arrange = Scatter
	default:
		t.Fatalf("%d tasks a node", j.TasksPerNode)
	}
	var err error
	if a.Policy, err = ParsePolicy(s.Policy); err != nil {
		t.Fatal(err)
	}
	if s.Config.Default.PriorityF != "" {
		if a.PriorityF, err = priorityf.Parse(c.defs, s.Config.Default.PriorityF); err != nil {
			t.Fatal(err)
		}
	}
	if a.Prefer, err = ParsePrefer(c.defs, j.Pref); err != nil {
		t.Fatal(err)
	}
	return a
}

// grants returns the reservations that let a job in.
func (s *policyScenario) grants(t *testing.T, c *site, j policyJob) []Grant {
	signs := map[string]Affinity{"+": Positive, "": Positive, "=": Neutral, "-": Negative}
	var out []Grant
	for i, r := range s.Reservations {
		var list AccessList
		for _, e := range r.ACL {
			kind := subject.All.Named(e.Type)
			sign, ok := signs[e.Affinity]
			if !kind.Valid() || !ok {
				t.Fatalf("access %+v", e)
			}
			list = append(list, AccessEntry{kind.Of(e.Value), sign})
		}
		affinity, in := list.Affinity(Entrant{Name: j.ID,
			Names: subject.Names{subject.User: j.User, subject.Group: j.Group}})
		if !in {
			continue
		}
		g := c.claims[i]
		if g.Affinity = affinity; j.AdvRes == r.Name {
			g.Affinity = Required
		}
		out = append(out, g)
	}
	return out
}

// run plans the jobs at their earliest starts, one after the other by priority: backfilling
// that delays no job.
func (s *policyScenario) run(t *testing.T, c *site) {
	jobs := slices.Clone(s.Jobs)
	slices.SortStableFunc(jobs, func(a, b policyJob) int { return b.Priority - a.Priority })
	plans := make(map[string]*Plan)
	for _, j := range jobs {
		a := s.ask(t, c, j)
		plan, err := c.Earliest(a, 0)
		if err != nil {
			t.Fatalf("%s: %v", j.ID, err)
		}
		c.carryOut(t, a, plan)
		plans[j.ID] = plan
	}
	for _, want := range s.Expect {
		plan := plans[want.Job]
		if plan == nil {
			t.Fatalf("there is no job %s", want.Job)
		}
		nodes, order := make(map[string]int), []string(nil)
		for _, p := range plan.Chunks[0].Picks {
			name := c.nodes[p.Node].Name
			nodes[name] += int(p.Chunks)
			order = append(order, name)
		}
		if plan.Start != want.Start || !rightNodes(t, nodes, want.Nodes, want.OneOf) {
			t.Errorf("%s is planned at %d on %v, want %d on %v %s", want.Job, plan.Start, nodes, want.Start, want.Nodes,
				want.OneOf)
		}
		if want.Order != nil && !slices.Equal(order, want.Order) {
			t.Errorf("%s takes %v, want %v", want.Job, order, want.Order)
		}
	}
}

// rightNodes reports whether a job is where it should be: on given nodes, or on those of one
// of several answers, or on "any 3 of b1..b6".
func rightNodes(t *testing.T, got, want map[string]int, oneOf json.RawMessage) bool {
	if oneOf == nil {
		return gocmp.Equal(got, want)
	}
	var answers []map[string]int
	if json.Unmarshal(oneOf, &answers) == nil {
		return slices.ContainsFunc(answers, func(a map[string]int) bool { return gocmp.Equal(got, a) })
	}
	var text string
	if err := json.Unmarshal(oneOf, &text); err != nil {
		t.Fatal(err)
	}
	var n int
	var from, to string
	if _, err := fmt.Sscanf(strings.ReplaceAll(text, "..", " "), "any %d of %s %s", &n, &from, &to); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	for name, tasks := range got {
		if name < from || name > to || len(name) != len(from) || tasks != 1 {
			return false
		}
	}
	return len(got) == n
}

// checkValues compares the policy's value of every node, before any job is placed,
// with the recorded one; those of PRIORITYF also as it is evaluated on what the
// record itself says of a node.
func (s *policyScenario) checkValues(t *testing.T, c *site) {
	if len(s.Values) == 0 {
		return
	}
	a := s.ask(t, c, s.Jobs[0])
	var m mapping
	if err := m.prepare(c.Snapshot, a); err != nil {
		t.Fatal(err)
	}
	see := m.seek(0, nil, false)
	score, _ := see.scorer(0)
	for number, n := range s.declared() {
		want, ok := s.Values[n.Name]
		if !ok {
			t.Errorf("no value is recorded for %s", n.Name)
		}
		node := c.nodes[number]
		b := c.Index.Bucket(node.Bucket)
		sp := see.spotAt(node.Number, b, c.Index.ClassOf(b, node.Number))
		if sp == nil {
			t.Fatalf("%s is of no use", n.Name)
		}
		if got, _ := score(sp); math.Abs(-got-want) > 1e-9 {
			t.Errorf("%s scores %v, want %v", n.Name, -got, want)
		}
		if a.Policy != Priority {
			continue
		}
		f := a.PriorityF
		if n.PriorityF != "" {
			var err error
			if f, err = priorityf.Parse(c.defs, n.PriorityF); err != nil {
				t.Fatal(err)
			}
		}
		state := priorityf.Node{Node: node, Jobs: len(n.Running), Load: n.Load, FreeTime: timeline.Forever}
		cpus, mem := index.Amount{Res: index.NCPUs}, index.Amount{Res: index.Mem}
		for _, r := range n.Running {
			cpus.Value.Num += r.Procs
			mem.Value.Num += r.MemMB << 10
		}
		state.Taken = []index.Amount{cpus, mem}
		if got := f.Eval(&state); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s has the value %v, want %v", n.Name, got, want)
		}
	}
}
