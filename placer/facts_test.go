package placer

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/timeline"
)

// recordedJob is a job of a record that states facts in words.
type recordedJob struct {
	Select, Place, Queue string
	Walltime             json.RawMessage // seconds, or a formula of the job's number
	When                 string          // the setting under which the job is submitted
}

// A fact is a record's expect_facts as a test, or what is documented if the recorded program
// does otherwise. part says which part of the record needs something that placectl does not
// have yet, or "".
type fact struct {
	check func(t *testing.T, g *generated)
	part  string
}

var recordedFacts = map[string]fact{
	"ptl-test_basic":         {check: factBasic},
	"ptl-test_multi_bucket2": {check: factMultiBucket},
	"ptl-test_not_run":       {check: factNotRun},
	"ptl-test_calendaring1": {factCalendaring,
		"the cycle that plans the job which has to wait: the test plans it itself"},
	"ptl-test_not_buckets": {factNotBuckets, "orders by what is unused, provisioning, reservations as queues, " +
		"hosts of several nodes, suspended jobs"},
	"ptl-test_multi_vnode_resv": {factMultiVnode, "hosts of several nodes and reservations as queues: only the path " +
		"of the job inside is looked at"},
	"ptl-test_bucket_sort": {check: factBucketSort},
	"ptl-test_psets":       {check: factSets},
	"ptl-test_psets_calendaring": {factSetsCalendaring,
		"the cycle that plans jobs which have to wait: the test plans them itself"},
	"ptl-test_place_group": {check: factPlaceGroup},
	"ptl-test_free":        {check: factFree},
	"ptl-test_queue_nodes": {check: factQueueNodes},
	"ptl-perf-compare": {factPerfCompare,
		"the blocker shares its nodes, and the times are those of two paths: it is placed exclusively, and " +
			"nothing is timed"},
	"ptl-perf-run-many":         {check: factRunMany},
	"live-pset-span-while-busy": {check: factNoSpill},
	"live-place-case":           {check: factPlaceCase},
}

// TestRecordedFacts goes through the records without ops.
func TestRecordedFacts(t *testing.T) {
	seen := make(map[string]bool)
	for _, s := range loadScenarios(t) {
		if len(s.Ops) > 0 {
			continue
		}
		seen[s.ID] = true
		t.Run(s.ID, func(t *testing.T) {
			f, ok := recordedFacts[s.ID]
			if !ok {
				t.Fatal("no test has read this record")
			}
			if f.part != "" {
				t.Log("waits for: ", f.part)
			}
			f.check(t, s.generate(t))
		})
	}
	for id := range recordedFacts {
		if !seen[id] {
			t.Errorf("there is no record %s", id)
		}
	}
}

// generated is a cluster made by a record's node_gen, and its jobs.
type generated struct {
	*cluster
	record            scenario
	color, shape, let index.ResID
}

// generate makes the nodes: 10,010 of two cpus, with seven colours in runs, and seven shapes
// and letters in turn. The two timed records, and one of the live ones, have one cpu a node
// and the colours in turn.
func (s *scenario) generate(t *testing.T) *generated {
	g := &generated{cluster: &cluster{defs: index.NewDefs()}, record: *s}
	for _, def := range []struct {
		id   *index.ResID
		name string
	}{{&g.color, "color"}, {&g.shape, "shape"}, {&g.let, "letter"}} {
		added, err := g.defs.Add(index.Def{Name: def.name, Type: index.String})
		if err != nil {
			t.Fatal(err)
		}
		*def.id = added.ID
	}
	flag, err := g.defs.Add(index.Def{Name: "bool", Type: index.Boolean})
	if err != nil {
		t.Fatal(err)
	}
	ix := index.New(g.defs, g.defs.DefaultSignature(), nil, index.Limits{})
	g.Snapshot = &Snapshot{Index: ix, Calendar: timeline.NewCalendar(nil, 0, 300), Releases: g.releases, Rows: g}
	for _, key := range s.Config.NodeGroupKey {
		def, _ := g.defs.Lookup(key)
		g.Rules.GroupKey = append(g.Rules.GroupKey, def.ID)
	}
	colors := []string{"red", "orange", "yellow", "green", "blue", "indigo", "violet"}
	shapes := []string{"circle", "square", "triangle", "diamond", "pyramid", "sphere", "cube"}
	inTurn := s.ID == "ptl-perf-compare" || s.ID == "ptl-perf-run-many" || s.ID == "live-pset-span-while-busy"
	for i := range 10_010 {
		n := &index.Node{Number: uint32(i), Name: fmt.Sprintf("vn[%d]", i)}
		n.Set(index.Mem, index.Value{Num: 8 << 20})
		if inTurn {
			n.Set(index.NCPUs, index.Value{Num: 1})
			n.Set(g.color, index.Value{Str: colors[i%7]})
		} else {
			n.Set(index.NCPUs, index.Value{Num: 2})
			n.Set(g.color, index.Value{Str: colors[i/1430]})
			n.Set(g.shape, index.Value{Str: shapes[i%7]})
			n.Set(g.let, index.Value{Str: "ABCDEFG"[i%7 : i%7+1]})
			if i < 5005 {
				n.Set(flag.ID, index.Value{Num: 1})
			}
			if i/1430 == 2 {
				n.Priority = 100
			}
			if s.ID == "ptl-test_queue_nodes" && (i == 1431 || i == 1435) {
				n.Queue = "q2"
			}
		}
		g.nodes = append(g.nodes, n)
		ix.Insert(n, index.Free)
	}
	return g
}

// ask reads a job of the record.
func (g *generated) ask(t *testing.T, job int) Ask {
	t.Helper()
	j := g.record.Jobs[job]
	spec, err := Parse(g.defs, Request{Select: j.Select, Place: j.Place})
	if err != nil {
		t.Fatal(err)
	}
	a := Ask{Spec: spec, Duration: 3600, Queue: j.Queue}
	if len(j.Walltime) > 0 && j.Walltime[0] != '"' {
		if err := json.Unmarshal(j.Walltime, &a.Duration); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

// runs places a job now and carries it out; the job must run.
func (g *generated) runs(t *testing.T, a Ask) *Plan {
	t.Helper()
	plan, err := g.Place(a, 0)
	if err != nil {
		t.Fatal(err)
	}
	if path, _ := g.Route(a); plan.Path != path {
		t.Fatalf("the path is %s", plan.Path)
	}
	g.apply(t, a, plan)
	return plan
}

// waits verifies that a job cannot run now, but could later.
func (g *generated) waits(t *testing.T, a Ask) {
	t.Helper()
	if _, err := g.Place(a, 0); !errors.Is(err, ErrNotNow) {
		t.Fatalf("it does not wait: %v", err)
	}
}

// planned plans a job at its earliest start, which must be at.
func (g *generated) planned(t *testing.T, a Ask, at int64) *Plan {
	t.Helper()
	plan, err := g.Earliest(a, 0)
	if err != nil || plan.Start != at {
		t.Fatalf("planned %+v, %v; want a start at %d", plan, err, at)
	}
	g.reserve(t, plan)
	return plan
}

// values returns the different values that a plan's nodes have of a resource.
func (g *generated) values(plan *Plan, id index.ResID) []string {
	var out []string
	for _, number := range plan.NodeNumbers() {
		v, _ := g.nodes[number].Get(id)
		if !slices.Contains(out, v.Str) {
			out = append(out, v.Str)
		}
	}
	return out
}

// distinct counts the nodes of plans, and fails if two plans share one.
func distinct(t *testing.T, plans ...*Plan) int {
	t.Helper()
	seen := make(map[uint32]bool)
	for _, plan := range plans {
		for _, n := range plan.NodeNumbers() {
			if seen[n] {
				t.Fatalf("node %d is taken twice", n)
			}
			seen[n] = true
		}
	}
	return len(seen)
}

// expectValues fails unless the plan's nodes have just these values.
func (g *generated) expectValues(t *testing.T, plan *Plan, id index.ResID, want ...string) {
	t.Helper()
	if got := g.values(plan, id); !slices.Equal(got, want) {
		t.Errorf("on %v, want %v", got, want)
	}
}

// runs; path=bucket; all 4 nodes yellow
func factBasic(t *testing.T, g *generated) {
	plan := g.runs(t, g.ask(t, 0))
	g.expectValues(t, plan, g.color, "yellow")
	if n := distinct(t, plan); n != 4 {
		t.Errorf("%d nodes", n)
	}
}

// runs; exec_vnode[i] has colour i of the select
func factMultiBucket(t *testing.T, g *generated) {
	plan := g.runs(t, g.ask(t, 0))
	g.expectValues(t, plan, g.color, "red", "orange", "yellow", "green", "blue", "indigo", "violet")
	if n := distinct(t, plan); n != 7 || len(plan.Chunks) != 7 {
		t.Errorf("%d nodes, %d chunks", n, len(plan.Chunks))
	}
}

// state Q; comment matches ^Can Never Run
func factNotRun(t *testing.T, g *generated) {
	if _, err := g.Place(g.ask(t, 0), 0); !errors.Is(err, ErrNever) {
		t.Error(err)
	}
}

// j1 runs; j2 queued, calendared at j1 end; j3 runs (ends before j2 start);
// j4 queued (would delay j2)
func factCalendaring(t *testing.T, g *generated) {
	first := g.runs(t, g.ask(t, 0))
	g.waits(t, g.ask(t, 1))
	if n := distinct(t, g.planned(t, g.ask(t, 1), first.End)); n != 10_010 {
		t.Errorf("planned on %d nodes", n)
	}
	distinct(t, first, g.runs(t, g.ask(t, 2)))
	g.waits(t, g.ask(t, 3))
}

// every job takes the normal path
func factNotBuckets(t *testing.T, g *generated) {
	looked := 0
	for i, j := range g.record.Jobs {
		if j.When != "" {
			continue // depends on what waits
		}
		looked++
		a := g.ask(t, i)
		if path, why := g.Route(a); path != NodePath || why == "" {
			t.Errorf("%s %s takes the %s path: %s", j.Select, j.Place, path, why)
		}
		if plan, err := g.Place(a, 0); err != nil || plan.Path != NodePath {
			t.Errorf("%s %s: %v", j.Select, j.Place, err)
		}
	}
	if looked != 4 {
		t.Errorf("%d jobs looked at", looked)
	}
}

// job path=normal, runs inside one shape
func factMultiVnode(t *testing.T, g *generated) {
	if path, _ := g.Route(g.ask(t, 1)); path == BucketPath {
		t.Error("the bucket path serves a job that shares its nodes")
	}
}

// both nodes yellow (priority 100)
func factBucketSort(t *testing.T, g *generated) {
	g.expectValues(t, g.runs(t, g.ask(t, 0)), g.color, "yellow")
}

// both run; each in one shape; disjoint
func factSets(t *testing.T, g *generated) {
	first, second := g.runs(t, g.ask(t, 0)), g.runs(t, g.ask(t, 1))
	for _, plan := range []*Plan{first, second} {
		if got := g.values(plan, g.shape); len(got) != 1 {
			t.Errorf("on %v", got)
		}
	}
	if n := distinct(t, first, second); n != 2860 {
		t.Errorf("%d nodes", n)
	}
}

// j1 runs (spans); j2, j3 top jobs with estimates, each in one shape, disjoint
func factSetsCalendaring(t *testing.T, g *generated) {
	first := g.runs(t, g.ask(t, 0))
	if got := g.values(first, g.shape); len(got) != 7 || first.Set != "" {
		t.Errorf("on %v, in set %q", got, first.Set)
	}
	g.waits(t, g.ask(t, 1))
	second, third := g.planned(t, g.ask(t, 1), first.End), g.planned(t, g.ask(t, 2), first.End)
	for _, plan := range []*Plan{second, third} {
		if got := g.values(plan, g.shape); len(got) != 1 {
			t.Errorf("on %v", got)
		}
	}
	distinct(t, second, third)
}

// runs; one letter
func factPlaceGroup(t *testing.T, g *generated) {
	if got := g.values(g.runs(t, g.ask(t, 0)), g.let); len(got) != 1 {
		t.Errorf("on %v", got)
	}
}

// both run; 715 distinct nodes each (2 chunks per 2-cpu node); disjoint
func factFree(t *testing.T, g *generated) {
	first, second := g.runs(t, g.ask(t, 0)), g.runs(t, g.ask(t, 1))
	if a, b, both := distinct(t, first), distinct(t, second), distinct(t, first, second); a != 715 || b != 715 ||
		both != 1430 {
		t.Errorf("%d and %d nodes, %d together", a, b, both)
	}
	g.expectValues(t, first, g.color, "yellow")
}

// j1 runs without vn[1431],vn[1435]; j2 runs on exactly vn[1431],vn[1435]
func factQueueNodes(t *testing.T, g *generated) {
	first, second := g.runs(t, g.ask(t, 0)), g.runs(t, g.ask(t, 1))
	if n := distinct(t, first, second); n != 1430 {
		t.Errorf("%d nodes", n)
	}
	if got := second.NodeNumbers(); !slices.Equal(got, []uint32{1431, 1435}) {
		t.Errorf("on %v", got)
	}
}

// blocker runs; 3000 jobs cannot run
func factPerfCompare(t *testing.T, g *generated) {
	blocker := g.ask(t, 0)
	g.runs(t, blocker)
	a := g.ask(t, 1)
	for i := range int64(3000) {
		a.Duration = 100 + i
		g.waits(t, a)
	}
}

// 10000 run in one cycle
func factRunMany(t *testing.T, g *generated) {
	a := g.ask(t, 0)
	var plans []*Plan
	for i := range int64(10_000) {
		a.Duration = 10_000 + i
		plans = append(plans, g.runs(t, a))
	}
	if n := distinct(t, plans...); n != 10_000 {
		t.Errorf("on %d nodes", n)
	}
}

// documented: job 8 stays queued: it can fit a set later
func factNoSpill(t *testing.T, g *generated) {
	a := g.ask(t, 0)
	var plans []*Plan
	for range 7 {
		plan := g.runs(t, a)
		if got := g.values(plan, g.color); len(got) != 1 {
			t.Errorf("on %v", got)
		}
		plans = append(plans, plan)
	}
	distinct(t, plans...)
	g.waits(t, a)
}

// documented: treat case-insensitively
func factPlaceCase(t *testing.T, g *generated) {
	a := g.ask(t, 0)
	if a.Place != (Place{Arrange: Scatter, Share: Excl}) {
		t.Errorf("%+v", a.Place)
	}
	g.runs(t, a)
}
