package placer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/timeline"
)

// Random clusters and requests, decided by the placer and by examining single nodes (see
// naive_test.go).

const (
	propertyNow   = 100
	propertyGrace = 7
	propertyEnd   = 160 // by then nothing is planned any more
)

func drawCluster(t *rapid.T) *cluster {
	c := &cluster{defs: index.NewDefs(), jobs: make(map[string]*Plan)}
	signature := []index.ResID{}
	maybeSign := func(def index.Def) {
		if rapid.Bool().Draw(t, "signed "+def.Name) {
			signature = append(signature, def.ID)
		}
	}
	ncpus, _ := c.defs.Get(index.NCPUs)
	maybeSign(ncpus)
	var groups []index.ResID
	for _, def := range []index.Def{
		{Name: "color", Type: index.String},
		{Name: "aoe", Type: index.StringArray},
		{Name: "ssd", Type: index.Boolean},
		{Name: "tokens", Type: index.Long, Consumable: true},
		{Name: "level", Type: index.Long},
	} {
		def, err := c.defs.Add(def)
		if err != nil {
			t.Fatal(err)
		}
		maybeSign(def)
		if def.Type == index.String || def.Type == index.StringArray {
			groups = append(groups, def.ID)
		}
	}
	ix := index.New(c.defs, signature, nil, index.Limits{})
	c.Snapshot = &Snapshot{Index: ix, Calendar: timeline.NewCalendar(nil, propertyNow, propertyGrace), Now: propertyNow,
		Releases: c.releases}
	c.Rules = Rules{
		ExplicitSets: rapid.Bool().Draw(t, "explicit sets"),
		DoNotSpan:    rapid.Bool().Draw(t, "do not span"),
		ExactFit:     rapid.Bool().Draw(t, "exact fit"),
	}
	if rapid.Bool().Draw(t, "grouped") {
		c.Rules.GroupKey = rapid.SliceOfNDistinct(rapid.SampledFrom(groups), 1, 2, rapid.ID).Draw(t, "group key")
	}
	for i := range rapid.IntRange(1, 14).Draw(t, "nodes") {
		c.drawNode(t, uint32(i))
	}
	return c
}

func (c *cluster) drawNode(t *rapid.T, number uint32) {
	n := &index.Node{Number: number, Name: fmt.Sprintf("n%d", number),
		Queue:    rapid.SampledFrom([]string{"", "", "", "", "", "q"}).Draw(t, "queue"),
		Priority: rapid.SampledFrom([]int32{0, 0, 0, 7, -7}).Draw(t, "priority"),
		State: rapid.SampledFrom([]index.State{index.Up, index.Up, index.Up, index.Up, index.Up, index.Up,
			index.Down}).Draw(t, "state"),
		Features: rapid.SampledFrom([][]string{nil, nil, {"fast"}, {"fast", "big"}}).Draw(t, "features"),
	}
	for _, def := range c.defs.All() {
		if def.ID != index.NCPUs && def.ID != index.Mem && def.ID < index.FirstDeclared ||
			rapid.IntRange(0, 5).Draw(t, "has") == 0 {
			continue
		}
		v := index.Value{Num: rapid.SampledFrom([]int64{3, 4, 2, 1, 0}).Draw(t, def.Name)}
		switch def.Type {
		case index.Boolean:
			v.Num %= 2
		case index.String:
			v = index.Value{Str: rapid.SampledFrom([]string{"r", "g"}).Draw(t, def.Name)}
		case index.StringArray:
			v = index.Value{Str: rapid.SampledFrom([]string{"x", "y", "x,y", "y,z"}).Draw(t, def.Name)}
		}
		n.Set(def.ID, v)
	}
	at := int64(propertyNow)
	if rapid.IntRange(0, 3).Draw(t, "runs") == 0 { // perhaps past its end
		end := rapid.Int64Range(propertyNow-5, propertyNow+20).Draw(t, "job's end")
		c.plan(t, number, timeline.Busy{Start: propertyNow - 20, End: end, Held: true})
		at = max(at, end)
	}
	for range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "events") {
		at += rapid.Int64Range(0, 9).Draw(t, "gap")
		end := at + rapid.Int64Range(1, 9).Draw(t, "length")
		c.plan(t, number, timeline.Busy{Start: at, End: end})
		at = end
	}
	c.nodes = append(c.nodes, n)
	c.Index.Insert(n, c.classAt(number))
}

// plan puts a span into the calendar unless an overdue job is in its way.
func (c *cluster) plan(t *rapid.T, node uint32, b timeline.Busy) {
	c.owner++
	b.Owner = c.owner
	if err := c.Calendar.Add(node, b); err != nil && !errors.Is(err, timeline.ErrBusy) {
		t.Fatal(err)
	}
}

func (c *cluster) classAt(node uint32) index.Class {
	if _, on := c.Calendar.On(node); on {
		return index.Busy
	}
	if c.Calendar.Planned(node) {
		return index.Later
	}
	return index.Free
}

func (c *cluster) drawAsk(t *rapid.T) Ask {
	a := Ask{Duration: rapid.Int64Range(1, 15).Draw(t, "duration"),
		Queue: rapid.SampledFrom([]string{"", "", "", "", "", "q"}).Draw(t, "queue")}
	a.Place.Arrange = rapid.SampledFrom([]Arrangement{Free, Scatter, VScatter}).Draw(t, "arrange")
	a.Place.Share = rapid.SampledFrom([]Sharing{Excl, ExclHost}).Draw(t, "share")
	if rapid.IntRange(0, 3).Draw(t, "group") == 0 {
		a.Place.HasGroup = true
		a.Place.Group = index.FirstDeclared + index.ResID(rapid.IntRange(0, 1).Draw(t, "by"))
	}
	for range rapid.IntRange(1, 3).Draw(t, "chunks") {
		a.Chunks = append(a.Chunks, c.drawChunk(t))
	}
	return a
}

func (c *cluster) drawChunk(t *rapid.T) Chunk {
	chunk := Chunk{Count: rapid.SampledFrom([]int{1, 2, 3, 1, 2, 5}).Draw(t, "count")}
	for _, def := range c.defs.All() {
		if def.ID != index.NCPUs && def.ID != index.Feature && def.ID < index.FirstDeclared ||
			rapid.SampledFrom([]bool{true, true, true, true, true, true, true, false}).Draw(t, "not asked for") {
			continue
		}
		v := index.Value{Num: rapid.Int64Range(0, 3).Draw(t, def.Name)}
		switch {
		case def.ID == index.Feature:
			v = index.Value{Str: rapid.SampledFrom([]string{"fast", "big"}).Draw(t, def.Name)}
		case def.Type == index.Boolean:
			v.Num %= 2
		case def.Type == index.String:
			v = index.Value{Str: rapid.SampledFrom([]string{"r", "g"}).Draw(t, def.Name)}
		case def.Type == index.StringArray:
			v = index.Value{Str: rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, def.Name)}
		}
		chunk.Wants = append(chunk.Wants, Want{Res: def.ID, Value: v})
	}
	return chunk
}

// TestPlaceProperty decides requests in a row, each on what the one before left.
func TestPlaceProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			c.disturb(t)
			a := c.drawAsk(t)
			text := fmt.Sprintf("%s, place %s, queue %q, %d s, rules %+v", a.Spec.Select(c.defs),
				a.Place.Format(c.defs), a.Queue, a.Duration, c.Rules)
			c.checkNow(t, a, text)
			c.checkEarliest(t, a, text)
		}
	})
}

// disturb makes a node go up or down, or releases what one runs.
func (c *cluster) disturb(t *rapid.T) {
	n := rapid.SampledFrom(c.nodes).Draw(t, "disturbed")
	was := c.classAt(n.Number)
	b := c.Index.Bucket(n.Bucket)
	switch on, busy := c.Calendar.On(n.Number); rapid.IntRange(0, 3).Draw(t, "disturb") {
	case 0:
		if n.State == index.Up {
			n.State = index.Down
			c.Index.Move(b, n.Number, was, index.None)
		} else {
			n.State = index.Up
			c.Index.Move(b, n.Number, index.None, was)
		}
	case 1:
		if !busy {
			return
		}
		if err := c.Calendar.Remove(n.Number, on.Owner); err != nil {
			t.Fatal(err)
		}
		if n.State == index.Up {
			c.Index.Move(b, n.Number, was, c.classAt(n.Number))
		}
	}
}

func verdictOf(err error) string {
	switch {
	case err == nil:
		return "RUN"
	case errors.Is(err, ErrNever):
		return "NEVER"
	case errors.Is(err, ErrNotNow):
		return "NOT_RUN"
	}
	return err.Error()
}

// verdict returns the oracle's verdict.
func (n *naive) verdict(at int64) string {
	switch {
	case n.now(at):
		return "RUN"
	case n.ever():
		return "NOT_RUN"
	}
	return "NEVER"
}

func (c *cluster) checkNow(t *rapid.T, a Ask, text string) {
	oracle := c.naive(a)
	plan, err := c.Place(a, propertyNow)
	got, want := verdictOf(err), oracle.verdict(propertyNow)
	if oracle.settled() && got != want || (got == "NEVER") != (want == "NEVER") || got == "RUN" && want != "RUN" {
		t.Fatalf("%s: %s (%v), node by node %s", text, got, err, want)
	}
	if plan != nil {
		c.checkPlan(t, a, plan, oracle, text)
	} else if len(c.keys(a)) == 0 && got == "NOT_RUN" {
		if picks := oracle.firstFit(oracle.all(), propertyNow); picks != nil {
			t.Fatalf("%s: not now, but first fit finds %v", text, picks)
		}
	}
	if plan != nil && rapid.Bool().Draw(t, "apply") {
		c.apply(t, a, plan)
	}
}

// settled reports whether the verdict must equal the oracle's: for a request of one chunk,
// with Rules.ExactFit, or if first fit leads nowhere.
func (n *naive) settled() bool {
	return n.c.Rules.ExactFit || len(n.a.Chunks) == 1 || n.leadsNowhere()
}

func (c *cluster) keys(a Ask) []index.ResID {
	if a.Place.HasGroup {
		return []index.ResID{a.Place.Group}
	}
	return c.Rules.GroupKey
}

// checkPlan verifies a plan, however it was found, and that it equals the first fit's plan if
// there is one.
func (c *cluster) checkPlan(t *rapid.T, a Ask, plan *Plan, oracle *naive, text string) {
	t.Helper()
	if plan.End != plan.Start+a.Duration || len(plan.Chunks) != len(a.Chunks) || plan.Path != BucketPath {
		t.Fatalf("%s: %+v", text, plan)
	}
	var got [][]Pick
	seen := make(map[uint32]bool)
	for i, chunk := range plan.Chunks {
		held := 0
		for _, p := range chunk.Picks {
			switch {
			case seen[p.Node]:
				t.Fatalf("%s: node %d serves twice", text, p.Node)
			case p.Chunks < 1 || int(p.Chunks) > oracle.per[i][p.Node]:
				t.Fatalf("%s: node %d is to hold %d of chunk %d, it holds %d", text, p.Node, p.Chunks, i,
					oracle.per[i][p.Node])
			case p.Bucket.ID != c.nodes[p.Node].Bucket:
				t.Fatalf("%s: node %d is in bucket %d, not %d", text, p.Node, c.nodes[p.Node].Bucket, p.Bucket.ID)
			case !c.Calendar.FreeThrough(p.Node, plan.Start, plan.End):
				t.Fatalf("%s: node %d is taken in [%d, %d)", text, p.Node, plan.Start, plan.End)
			case plan.Start == c.Now && p.Class != c.Index.ClassOf(p.Bucket, p.Node):
				t.Fatalf("%s: node %d is %s, not %s", text, p.Node, c.Index.ClassOf(p.Bucket, p.Node), p.Class)
			}
			seen[p.Node] = true
			held += int(p.Chunks)
		}
		if held != a.Chunks[i].Count {
			t.Fatalf("%s: %d of %d of chunk %d", text, held, a.Chunks[i].Count, i)
		}
		if !slices.IsSortedFunc(chunk.Picks, comparePicks) {
			t.Fatalf("%s: out of node order: %v", text, chunk.Picks)
		}
		got = append(got, chunk.Picks)
	}
	within := oracle.all()
	if plan.Set != "" {
		within = oracle.named[plan.Set]
		for k := range seen {
			if !slices.Contains(within, int(k)) {
				t.Fatalf("%s: node %d is not in %s", text, k, plan.Set)
			}
		}
	}
	want := oracle.firstFit(within, plan.Start)
	if want == nil && oracle.settled() {
		return // found by exact assignment
	}
	if diff := gocmp.Diff(want, numbersOf(got)); diff != "" {
		t.Fatalf("%s from %d (-first fit +plan)\n%s", text, plan.Start, diff)
	}
}

// numbersOf returns a plan's nodes and how many chunks each takes.
func numbersOf(chunks [][]Pick) [][][2]int {
	out := make([][][2]int, len(chunks))
	for i, picks := range chunks {
		for _, p := range picks {
			out[i] = append(out[i], [2]int{int(p.Node), int(p.Chunks)})
		}
	}
	return out
}

// checkEarliest compares the starts with those found by trying every instant.
func (c *cluster) checkEarliest(t *rapid.T, a Ask, text string) {
	oracle := c.naive(a)
	after := c.Now + rapid.SampledFrom([]int64{0, 0, 3, 40}).Draw(t, "after")
	plans, err := c.Starts(a, after, 3)
	for i, plan := range plans {
		c.checkPlan(t, a, plan, oracle, text)
		if i > 0 && plan.Start <= plans[i-1].Start || plan.Start < after {
			t.Fatalf("%s: starts %d after %d", text, plan.Start, plans[max(i, 1)-1].Start)
		}
	}
	if err != nil && after == c.Now && errors.Is(err, ErrNever) == oracle.ever() {
		t.Fatalf("%s: no start: %v", text, err)
	}
	if !oracle.settled() {
		return
	}
	at := after
	for at <= propertyEnd && !oracle.now(at) {
		at++
	}
	switch {
	case at > propertyEnd && (err == nil || errors.Is(err, ErrNever) == oracle.ever()):
		t.Fatalf("%s: starts %v, %v, node by node never", text, plans, err)
	case at <= propertyEnd && (err != nil || plans[0].Start != at):
		t.Fatalf("%s: starts %v (%v), node by node at %d", text, plans, err, at)
	}
	for _, plan := range plans {
		if again, err := c.Place(a, plan.Start); err != nil || gocmp.Diff(numbersOf(picksOf(again)),
			numbersOf(picksOf(plan))) != "" {
			t.Fatalf("%s: asked again for %d: %v, %v; at first %v", text, plan.Start, again, err, plan)
		}
	}
	if len(plans) > 0 && rapid.IntRange(0, 3).Draw(t, "reserve") == 0 {
		c.reserve(t, plans[0])
	}
}

func picksOf(p *Plan) [][]Pick {
	var out [][]Pick
	for _, chunk := range p.Chunks {
		out = append(out, chunk.Picks)
	}
	return out
}

// reserve puts a plan for later into the calendar.
func (c *cluster) reserve(t interface{ Fatal(...any) }, plan *Plan) {
	c.owner++
	for _, chunk := range plan.Chunks {
		for _, p := range chunk.Picks {
			was := c.classAt(p.Node)
			if err := c.Calendar.Add(p.Node, timeline.Busy{Start: plan.Start, End: plan.End,
				Owner: c.owner}); err != nil {
				t.Fatal(err)
			}
			c.Index.Move(p.Bucket, p.Node, was, c.classAt(p.Node))
		}
	}
}

// TestNodeOrder compares the merging of runs with a plain sort.
func TestNodeOrder(t *testing.T) {
	buckets := []*index.Bucket{{ID: 0, Priority: 1}, {ID: 1, Priority: 1}, {ID: 2, Priority: -5}}
	rapid.Check(t, func(t *rapid.T) {
		var picks []Pick
		for _, node := range rapid.SliceOfDistinct(rapid.Uint32Range(0, 200), rapid.ID).Draw(t, "nodes") {
			picks = append(picks, Pick{Node: node, Bucket: buckets[node%3]})
		}
		for from := 0; from < len(picks); { // long runs, as they are collected
			to := min(from+rapid.IntRange(1, 40).Draw(t, "run"), len(picks))
			slices.SortFunc(picks[from:to], comparePicks)
			from = to
		}
		want := slices.SortedFunc(slices.Values(picks), comparePicks)
		if got := inNodeOrder(picks); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

func comparePicks(a, b Pick) int {
	return cmp.Or(cmp.Compare(b.Bucket.Priority, a.Bucket.Priority), cmp.Compare(a.Node, b.Node))
}
