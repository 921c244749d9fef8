package placer

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/priorityf"
	"github.com/placectl/placectl/timeline"
)

// Random clusters whose nodes are shared, and requests over time, decided by the placer and by
// trying everything (see naive_node_test.go).

// site is a cluster in which nodes are shared and time advances. The classes of nodes, and
// what is left of them, are computed from the calendar after each step.
type site struct {
	*cluster
	rooms  map[uint32][]index.Amount // what is left of a node according to the index
	claims []Grant                   // the reservations there are, without affinities
}

func newSite(defs *index.Defs, signature []index.ResID, now, grace int64) *site {
	c := &cluster{defs: defs, jobs: make(map[string]*Plan), users: make(map[uint64]string)}
	ix := index.New(defs, signature, nil, index.Limits{})
	c.Snapshot = &Snapshot{Index: ix, Calendar: timeline.NewCalendar(nil, now, grace), Now: now, Releases: c.releases,
		Rows: c}
	s := &site{cluster: c, rooms: make(map[uint32][]index.Amount)}
	c.Planned = s.planned
	return s
}

// planned returns when what is on nodes from an instant on begins and ends.
func (c *site) planned(from int64) iter.Seq2[int64, []uint32] {
	at := make(map[int64][]uint32)
	for i := range c.nodes {
		for _, b := range c.Calendar.At(uint32(i)) {
			for _, t := range []int64{b.Start, b.End} {
				if t >= from {
					at[t] = append(at[t], uint32(i))
				}
			}
		}
	}
	return func(yield func(int64, []uint32) bool) {
		for _, t := range slices.Sorted(maps.Keys(at)) {
			for _, node := range at[t] { // one by one, as different owners' are
				if !yield(t, []uint32{node}) {
					return
				}
			}
		}
	}
}

// add declares a node.
func (c *site) add(n *index.Node) {
	c.nodes = append(c.nodes, n)
	c.Index.Insert(n, c.classAt(n.Number))
	c.refresh(n.Number)
}

// newOwner returns an owner for spans.
func (c *site) newOwner(user string) uint64 {
	c.owner++
	c.users[c.owner] = user
	return c.owner
}

// put takes a node, or a part of it.
func (c *site) put(t interface{ Fatal(...any) }, node uint32, b timeline.Busy) {
	if err := c.Calendar.Put(node, b); err != nil {
		t.Fatal(err)
	}
	c.refresh(node)
}

// refresh updates a node in the index from the calendar.
func (c *site) refresh(number uint32) {
	n := c.nodes[number]
	b := c.Index.Bucket(n.Bucket)
	class := index.None
	var room []index.Amount
	if n.State == index.Up {
		class = c.classAt(number)
		room = c.roomOf(number)
	}
	c.Index.Move(b, number, c.Index.ClassOf(b, number), class)
	c.Index.SetRoom(number, c.rooms[number], room)
	c.rooms[number] = room
}

// carryOut puts a plan into the calendar, for now or for later.
func (c *site) carryOut(t interface{ Fatal(...any) }, a Ask, plan *Plan) {
	owner := c.newOwner(a.User)
	for _, take := range plan.Takings(c.defs, a.Chunks) {
		c.put(t, take.Node, timeline.Busy{Start: plan.Start, End: plan.End, Owner: owner, Held: true, Use: take.Use})
	}
	if err := c.Index.Err(); err != nil {
		t.Fatal(err)
	}
}

// usually draws the first value three times out of four, and otherwise one of the others.
func usually[T any](t *rapid.T, label string, first T, others ...T) T {
	if rapid.IntRange(0, 3).Draw(t, "other "+label) < 3 {
		return first
	}
	return rapid.SampledFrom(others).Draw(t, label)
}

// drawSite returns a cluster of two to most nodes. With hosts, some of them share hosts.
func drawSite(t *rapid.T, most int, hosts bool) *site {
	defs := index.NewDefs()
	var declared []index.Def
	for _, def := range []index.Def{{Name: "color", Type: index.String},
		{Name: "tokens", Type: index.Long, Consumable: true}} {
		def, err := defs.Add(def)
		if err != nil {
			t.Fatal(err)
		}
		declared = append(declared, def)
	}
	signature := rapid.SliceOfDistinct(
		rapid.SampledFrom([]index.ResID{index.NCPUs, index.Mem, declared[0].ID, declared[1].ID}), rapid.ID).Draw(t,
		"signature")
	c := newSite(defs, signature, propertyNow, propertyGrace)
	c.Rules = Rules{
		ExactFit:     rapid.Bool().Draw(t, "exact fit"),
		ExplicitSets: rapid.Bool().Draw(t, "explicit sets"),
		DoNotSpan:    usually(t, "do not span", false, true),
		Access: usually(t, "access", index.AccessShared, index.AccessSingleUser, index.AccessSingleJob,
			index.AccessSingleTask),
		SetOrder: rapid.SampledFrom([]SetOrder{SmallestSet, FirstSet, LargestSet}).Draw(t, "set order"),
		SetDelay: rapid.SampledFrom([]int64{0, -1, 9}).Draw(t, "set delay"),
		Topology: []index.ResID{declared[0].ID},
		GroupKey: usually(t, "group key", nil, []index.ResID{declared[0].ID}, []index.ResID{index.Feature},
			[]index.ResID{declared[0].ID, index.Feature}),
	}
	odd := rapid.Bool().Draw(t, "odd nodes")
	for i := range rapid.IntRange(2, most).Draw(t, "nodes") {
		c.drawSharedNode(t, uint32(i), odd, hosts)
	}
	for range rapid.IntRange(0, 3).Draw(t, "reservations") {
		c.drawClaim(t)
	}
	return c
}

// drawSharedNode declares a node; an odd one may have rules of its own.
func (c *site) drawSharedNode(t *rapid.T, number uint32, odd, hosts bool) {
	n := &index.Node{Number: number, Name: fmt.Sprintf("n%d", number)}
	n.Set(index.NCPUs, index.Value{Num: rapid.Int64Range(1, 4).Draw(t, "ncpus")})
	if mem := rapid.Int64Range(0, 5).Draw(t, "mem"); mem > 0 {
		n.Set(index.Mem, index.Value{Num: mem})
	}
	color, _ := c.defs.Lookup("color")
	if word := rapid.SampledFrom([]string{"", "r", "g"}).Draw(t, "color"); word != "" {
		n.Set(color.ID, index.Value{Str: word})
	}
	tokens, _ := c.defs.Lookup("tokens")
	if n2 := usually(t, "tokens", 0, 1, 2); n2 > 0 {
		n.Set(tokens.ID, index.Value{Num: int64(n2)})
	}
	n.Priority = usually(t, "priority", int32(0), 7, -7)
	n.Queue = usually(t, "queue", "", "", "", "q")
	n.State = usually(t, "state", index.Up, index.Up, index.Down)
	n.Features = usually(t, "features", nil, []string{"fast"}, []string{"fast", "big"})
	n.Speed = usually(t, "speed", 0, 0.5, 2.0)
	n.ProcSpeed = usually(t, "procspeed", 0, 500, 750.0)
	n.Load = usually(t, "load", 0, 0.5, 1.5, 3)
	n.Usage = usually(t, "usage", 0, 0.25, 1)
	if odd {
		n.Access = usually(t, "its access", index.AccessShared, index.AccessSingleUser, index.AccessSingleJob,
			index.AccessSingleTask)
		n.Sharing = usually(t, "its sharing", index.DefaultShared, index.DefaultExcl, index.DefaultExclHost,
			index.IgnoreExcl, index.ForceExcl, index.ForceExclHost)
	}
	if hosts {
		if host := rapid.SampledFrom([]string{"", "h", "n0", "n1"}).Draw(t, "host"); host != "" {
			n.Set(index.Host, index.Value{Str: host})
		}
	}
	c.add(n)
}

// handMade returns a cluster of nodes written as in a nodes file: ncpus=2 mem=1kb host=h, and
// access and sharing.
func handMade(t *testing.T, nodes ...string) *site {
	t.Helper()
	defs := index.NewDefs()
	if _, err := defs.Add(index.Def{Name: "color", Type: index.String}); err != nil {
		t.Fatal(err)
	}
	c := newSite(defs, []index.ResID{index.NCPUs}, propertyNow, propertyGrace)
	for i, text := range nodes {
		n := &index.Node{Number: uint32(i), Name: fmt.Sprintf("n%d", i)}
		for _, word := range strings.Fields(text) {
			name, value, _ := strings.Cut(word, "=")
			def, ok := defs.Lookup(name)
			var err error
			switch {
			case name == "access":
				n.Access, err = index.ParseAccess(value)
			case name == "sharing":
				n.Sharing, err = index.ParseSharing(value)
			case !ok:
				t.Fatalf("%s: no resource %s", text, name)
			default:
				var v index.Value
				v, err = def.ParseValue(value)
				n.Set(def.ID, v)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		c.add(n)
	}
	return c
}

// request returns a request of ann's for ten seconds.
func (c *site) request(t *testing.T, sel, place string) Ask {
	t.Helper()
	spec, err := Parse(c.defs, Request{Select: sel, Place: place})
	if err != nil {
		t.Fatal(err)
	}
	return Ask{Spec: spec, Duration: 10, Since: c.Now, User: "ann"}
}

// TestNodePathByHand has cases that random lives rarely find.
func TestNodePathByHand(t *testing.T) {
	for _, one := range []struct {
		name       string
		nodes      []string
		sel, place string
		rules      Rules
		want       string // the verdict, or the nodes
	}{
		{"a packing is of nodes that match", []string{"ncpus=1", "ncpus=1", "ncpus=1 access=singlejob", "ncpus=2"},
			"3:ncpus=1+1:ncpus=2+1:ncpus=0:host=n2", "free", Rules{ExactFit: true}, "NEVER"},
		{"no node of one task takes a pack of two", []string{"ncpus=2 access=singletask"}, "2:ncpus=1", "pack", Rules{},
			"NEVER"},
		{"nor any, where that is the rule", []string{"ncpus=2"}, "2:ncpus=1", "pack",
			Rules{Access: index.AccessSingleTask}, "NEVER"},
		{"but a host of two does", []string{"ncpus=1 host=h", "ncpus=1 host=h"}, "2:ncpus=1", "pack",
			Rules{Access: index.AccessSingleTask}, "[0 1]"},
		{"a set of nodes of one task could not hold it",
			[]string{"ncpus=1 color=r", "ncpus=3 access=singletask color=r", "ncpus=1"},
			"3:ncpus=1", "free", Rules{GroupKey: []index.ResID{index.FirstDeclared}}, "[0 1 2]"},
		{"a node is on the host of its name", []string{"ncpus=1", "ncpus=1 host=n0"}, "2:ncpus=1", "scatter", Rules{},
			"NEVER"},
		{"of a host one node is the right one", []string{"ncpus=1 mem=1kb", "ncpus=1 host=h", "ncpus=1",
			"ncpus=1 mem=1kb host=h"},
			"1:ncpus=1+2:ncpus=1:mem=1kb", "scatter", Rules{ExactFit: true}, "[2 0 3]"},
		{"chunks of two kinds on one whole node of a host", []string{"ncpus=2 mem=1kb", "ncpus=2 host=n0"},
			"3:ncpus=1+1:ncpus=1:mem=1kb", "pack:exclhost", Rules{ExactFit: true}, "[0 1]"},
		{"the same in order would never be", []string{"ncpus=2 mem=1kb", "ncpus=2 host=n0"},
			"3:ncpus=1+1:ncpus=1:mem=1kb", "pack:exclhost", Rules{}, "[0 1]"},
	} {
		t.Run(one.name, func(t *testing.T) {
			c := handMade(t, one.nodes...)
			c.Rules = one.rules
			plan, err := c.Place(c.request(t, one.sel, one.place), c.Now)
			got := verdictOf(err)
			if plan != nil {
				got = fmt.Sprint(plan.NodeNumbers())
			}
			if got != one.want {
				t.Errorf("%s (%v), want %s", got, err, one.want)
			}
		})
	}
}

// TestHostGivenBack: a request that takes a whole host waits for all its nodes.
func TestHostGivenBack(t *testing.T) {
	c := handMade(t, "ncpus=1", "ncpus=1 color=r host=n0")
	c.put(t, 1, timeline.Busy{Start: 0, End: propertyNow + 5, Owner: c.newOwner("bob"), Held: true,
		Use: new(timeline.Use)})
	plan, err := c.Earliest(c.request(t, "1:ncpus=1:vnode=n0", "exclhost"), c.Now)
	if err != nil || plan.Start != propertyNow+5 || len(plan.Along) != 1 || plan.Along[0].Node != 1 {
		t.Errorf("%+v, %v", plan, err)
	}
}

// TestHostTakenAlong: a node that would be shared is taken whole by a request that has its
// host.
func TestHostTakenAlong(t *testing.T) {
	c := handMade(t, "ncpus=1 host=h", "ncpus=1 host=h sharing=force_exclhost")
	a := c.request(t, "2:ncpus=1", "shared")
	plan, err := c.Place(a, c.Now)
	if err != nil {
		t.Fatal(err)
	}
	for _, take := range plan.Takings(c.defs, a.Chunks) {
		if take.Use != nil {
			t.Errorf("node %d is shared", take.Node)
		}
	}
}

// TestReservationByHand: a request that is too long for its reservation leaves it what it
// keeps. One that insists on a reservation can never have more nodes than the reservation.
func TestReservationByHand(t *testing.T) {
	c := handMade(t, "ncpus=4", "ncpus=4")
	g := Grant{Owner: c.newOwner(""), Name: "r", Start: c.Now, End: c.Now + 20, Nodes: roaring.BitmapOf(0), Limit: 5,
		Affinity: Positive}
	kept := &timeline.Use{Amounts: []timeline.Amount{{Quantity: uint16(index.NCPUs), N: 2}}}
	c.put(t, 0, timeline.Busy{Start: g.Start, End: g.End, Owner: g.Owner, Claim: true, Use: kept})
	a := c.request(t, "2:ncpus=2", "vscatter")
	a.Grants = []Grant{g}
	plan, err := c.Place(a, c.Now)
	if err != nil || len(plan.Claims) > 0 {
		t.Fatalf("%+v, %v", plan, err)
	}
	c.carryOut(t, a, plan)
	if _, err := c.Place(c.request(t, "1:ncpus=1:vnode=n0", ""), c.Now); verdictOf(err) != "NOT_RUN" {
		t.Errorf("what the reservation keeps is given to another: %v", err)
	}
	g.Affinity, g.Limit = Required, 0
	a.Grants = []Grant{g, {Owner: g.Owner + 1, Start: c.Now, End: c.Now + 20, Nodes: roaring.BitmapOf(1)}}
	if _, err := c.Place(a, c.Now); verdictOf(err) != "NEVER" {
		t.Errorf("on one node, for two chunks: %v", err)
	}
}

// drawClaim makes a reservation: of whole nodes, or of amounts of them.
func (c *site) drawClaim(t *rapid.T) {
	g := Grant{Name: fmt.Sprintf("r%d", len(c.claims)), Nodes: roaring.New(),
		Start: c.Now + rapid.Int64Range(-3, 20).Draw(t, "reserved from")}
	g.End = max(g.Start, c.Now) + rapid.Int64Range(1, 20).Draw(t, "reserved for")
	g.Limit = rapid.SampledFrom([]int64{0, 0, 3, 6}).Draw(t, "limit")
	g.Owner = c.newOwner("")
	whole := rapid.Bool().Draw(t, "whole")
	for _, n := range c.nodes {
		if rapid.Bool().Draw(t, "reserved") {
			continue
		}
		b := timeline.Busy{Start: g.Start, End: g.End, Owner: g.Owner, Claim: true}
		if !whole {
			b.Use = new(timeline.Use)
			for _, a := range n.Res {
				if def, _ := c.defs.Get(a.Res); def.Consumable && a.Value.Num > 0 {
					b.Use.Amounts = append(b.Use.Amounts, timeline.Amount{Quantity: uint16(a.Res),
						N: rapid.Int64Range(1, a.Value.Num).Draw(t, "kept "+def.Name)})
				}
			}
		}
		g.Nodes.Add(n.Number)
		c.put(t, n.Number, b)
	}
	if !g.Nodes.IsEmpty() {
		c.claims = append(c.claims, g)
	}
}

// drawGrants admits a request to some of the reservations; insist makes it insist on one.
func (c *site) drawGrants(t *rapid.T, a *Ask) {
	if len(c.claims) == 0 {
		return
	}
	insisted := usually(t, "insists", nil, []int{0}, []int{1}, []int{2}, []int{0, 1})
	if len(insisted) == 2 && (len(c.claims) < 2 || c.claims[0].Start < c.claims[1].End &&
		c.claims[1].Start < c.claims[0].End) {
		insisted = insisted[:1] // they are no series
	}
	for i, g := range c.claims {
		insists := slices.Contains(insisted, i)
		if !insists && rapid.Bool().Draw(t, "kept out") {
			continue
		}
		if g.Affinity = rapid.SampledFrom([]Affinity{Positive, Neutral, Negative}).Draw(t, "affinity"); insists {
			g.Affinity = Required
		}
		a.Grants = append(a.Grants, g)
	}
}

func (c *site) drawShared(t *rapid.T, hosts bool) Ask {
	a := Ask{Duration: rapid.Int64Range(1, 12).Draw(t, "duration"), Since: c.Now - rapid.Int64Range(0, 12).Draw(t,
		"asked"), User: rapid.SampledFrom([]string{"ann", "bob", ""}).Draw(t, "user"),
		Queue: usually(t, "queue asked for", "", "", "", "q"),
		Access: usually(t, "access asked for", index.AccessShared, index.AccessSingleUser, index.AccessSingleJob,
			index.AccessSingleTask),
		Policy: rapid.SampledFrom(append(Policies(), NoPolicy)).Draw(t, "policy"),
	}
	arrangements := []Arrangement{Free, Free, Pack, Scatter, VScatter}
	if hosts && len(c.Rules.GroupKey) > 0 {
		arrangements = []Arrangement{Free, Scatter, Scatter, VScatter} // of sets, a pack sees single nodes only
	}
	a.Place.Arrange = rapid.SampledFrom(arrangements).Draw(t, "arrange")
	a.Place.Share = rapid.SampledFrom([]Sharing{Default, Default, Shared, Excl, ExclHost}).Draw(t, "share")
	if rapid.IntRange(0, 5).Draw(t, "group") == 0 && !(hosts && a.Place.Arrange == Pack) {
		a.Place.HasGroup, a.Place.Group = true, index.FirstDeclared
	}
	if a.Policy == Contiguous && len(c.keys(a)) > 0 {
		a.Policy = NoPolicy // whether a set holds a row is not for the oracle
	}
	for range usually(t, "chunks", 1, 2, 3) {
		a.Chunks = append(a.Chunks, c.drawSharedChunk(t))
	}
	switch a.Policy {
	case Local:
		a.Ranking = rapid.SliceOfDistinct(rapid.Uint32Range(0, 7), rapid.ID).Draw(t, "ranking")
	case Priority:
		var err error
		if a.PriorityF, err = priorityf.Parse(c.defs,
			rapid.SampledFrom([]string{"APROCS", "-APROCS + SPEED", "JOBCOUNT - LOAD", "NODEINDEX",
				"FREETIME + 3*FEATURE[fast]"}).Draw(t, "priorityf")); err != nil {
			t.Fatal(err)
		}
	}
	c.drawGrants(t, &a)
	return a
}

func (c *site) drawSharedChunk(t *rapid.T) Chunk {
	chunk := Chunk{Count: rapid.IntRange(1, 4).Draw(t, "count")}
	want := func(id index.ResID, v index.Value) { chunk.Wants = append(chunk.Wants, Want{Res: id, Value: v}) }
	want(index.NCPUs, index.Value{Num: rapid.SampledFrom([]int64{1, 1, 2, 3, 0}).Draw(t, "wants ncpus")})
	if mem := rapid.SampledFrom([]int64{0, 0, 1, 2, 4}).Draw(t, "wants mem"); mem > 0 {
		want(index.Mem, index.Value{Num: mem})
	}
	switch what := usually(t, "wants more", "", "color", "tokens", "feature", "host", "vnode"); what {
	case "color":
		want(index.FirstDeclared, index.Value{Str: "r"})
	case "tokens":
		want(index.FirstDeclared+1, index.Value{Num: 1})
	case "feature":
		want(index.Feature, index.Value{Str: "fast"})
	case "host":
		want(index.Host, index.Value{Str: rapid.SampledFrom([]string{"h", "n0", "n1", "n2"}).Draw(t, "host")})
	case "vnode":
		want(index.VNode, index.Value{Str: rapid.SampledFrom([]string{"n0", "n1", "h"}).Draw(t, "vnode")})
	}
	return chunk
}

// passTime advances to an instant. Some of the jobs that should have ended run on; what would
// begin under those is removed.
func (c *site) passTime(t *rapid.T) {
	c.Now += rapid.Int64Range(0, 8).Draw(t, "time passes")
	c.Calendar.SetNow(c.Now)
	gone := make(map[uint64]bool)
	for _, n := range c.nodes {
		for _, b := range c.Calendar.At(n.Number) {
			if _, known := gone[b.Owner]; known {
				continue
			}
			over := b.End <= c.Now && (b.Claim || rapid.IntRange(0, 3).Draw(t, "runs on") > 0)
			gone[b.Owner] = over || !b.Claim && rapid.IntRange(0, 9).Draw(t, "ends early") == 0
		}
	}
	for _, n := range c.nodes {
		for _, late := range c.Calendar.At(n.Number) {
			for _, b := range c.Calendar.At(n.Number) {
				if late.Held && late.End <= c.Now && !gone[late.Owner] && !b.Claim && b.Start <= c.Now &&
					b.Start >= late.End {
					gone[b.Owner] = true
				}
			}
		}
	}
	for _, n := range c.nodes {
		for _, b := range slices.Clone(c.Calendar.At(n.Number)) {
			if gone[b.Owner] {
				if err := c.Calendar.Remove(n.Number, b.Owner); err != nil {
					t.Fatal(err)
				}
			}
		}
		if rapid.IntRange(0, 15).Draw(t, "turned") == 0 {
			n.State = index.Up + index.Down - n.State
		}
		c.Calendar.Begin(n.Number)
		c.refresh(n.Number)
	}
	c.claims = slices.DeleteFunc(c.claims, func(g Grant) bool { return gone[g.Owner] })
}

// over returns from when on nothing is planned any more and a request cannot hope for
// anything.
func (c *site) over(a Ask) int64 {
	end := max(c.Now, a.Since+c.Rules.SetDelay) + 1
	for _, n := range c.nodes {
		for _, b := range c.Calendar.At(n.Number) {
			end = max(end, c.Calendar.End(b)+1)
		}
	}
	return end
}

// text returns a request and its situation, for messages.
func (c *site) text(a Ask) string {
	var b strings.Builder
	fmt.Fprintf(&b, "at %d: %s, place %s, queue %q, %d s, user %q, access %s, policy %s, ranking %v, rules %+v", c.Now,
		a.Spec.Select(c.defs), a.Place.Format(c.defs),
		a.Queue, a.Duration, a.User, a.Access, a.Policy, a.Ranking, c.Rules)
	for _, g := range a.Grants {
		fmt.Fprintf(&b, "\n  may use %s (%d), affinity %d, limit %d: nodes %v from %d to %d", g.Name, g.Owner,
			g.Affinity, g.Limit, g.Nodes.ToArray(), g.Start, g.End)
	}
	for _, n := range c.nodes {
		fmt.Fprintf(&b, "\n  %s: %+v", n.Name, *n)
		for _, s := range c.Calendar.At(n.Number) {
			fmt.Fprintf(&b, "\n    [%d, %d) owner %d of %q held %v claim %v use %+v", s.Start, s.End, s.Owner,
				c.users[s.Owner], s.Held, s.Claim, s.Use)
		}
	}
	return b.String()
}

// TestNodePathProperty decides requests in a row, each on what time and the earlier ones have
// left.
func TestNodePathProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { liveOn(t, false) })
}

// TestHostsProperty does the same with nodes that share hosts.
func TestHostsProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { liveOn(t, true) })
}

// TestNodeStartsPassOver: on the node path, too, skipping instants changes neither starts nor
// refusals. There are more nodes here, and more is planned on them, than can be decided by
// trying everything.
func TestNodeStartsPassOver(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hosts := rapid.Bool().Draw(t, "hosts")
		c := drawSite(t, 14, hosts)
		for _, n := range c.nodes {
			at := c.Now - rapid.Int64Range(0, 5).Draw(t, "began")
			for range rapid.IntRange(0, 4).Draw(t, "jobs") {
				b := timeline.Busy{Start: at, Owner: c.newOwner("ann"), Held: true}
				b.End = b.Start + rapid.Int64Range(1, 9).Draw(t, "length")
				if cpus, _ := n.Get(index.NCPUs); rapid.IntRange(0, 4).Draw(t, "whole") > 0 {
					b.Use = &timeline.Use{
						Amounts: []timeline.Amount{
							{Quantity: uint16(index.NCPUs), N: rapid.Int64Range(1, cpus.Num).Draw(t, "cpus")}}}
				}
				c.put(t, n.Number, b)
				at = b.End + rapid.Int64Range(-2, 3).Draw(t, "gap")
			}
		}
		for range 3 {
			a := c.drawShared(t, hosts)
			c.checkEveryInstant(t, a, c.Now+rapid.Int64Range(0, 12).Draw(t, "after"))
		}
	})
}

// checkEveryInstant compares the first starts with those found without skipping instants. They
// need not be equal for several kinds of chunks that are handed out in order: that may fail
// with more nodes and succeed with fewer.
func (c *site) checkEveryInstant(t *rapid.T, a Ask, after int64) ([]*Plan, error) {
	t.Helper()
	c.drawStepped(t)
	count := rapid.IntRange(1, 3).Draw(t, "starts")
	plans, err := c.Starts(a, after, count)
	if one := len(a.Chunks) == 1 || a.Place.Arrange == Pack && len(c.Index.SharedHosts()) == 0; !one &&
		(!c.Rules.ExactFit || a.Policy == Contiguous) {
		return plans, err
	}
	every, everyErr := c.everyInstant(a, after, count)
	if fmt.Sprint(err) != fmt.Sprint(everyErr) || len(plans) != len(every) {
		t.Fatalf("%d starts, %v; trying every instant %d, %v: %s", len(plans), err, len(every), everyErr, c.text(a))
	}
	for i, plan := range plans {
		if diff := gocmp.Diff(numbersOf(picksOf(every[i])), numbersOf(picksOf(plan))); diff != "" ||
			plan.Start != every[i].Start || plan.Set != every[i].Set {
			t.Fatalf("start %d at %d, trying every instant at %d\n%s%s", i, plan.Start, every[i].Start, diff, c.text(a))
		}
	}
	return plans, err
}

func liveOn(t *rapid.T, hosts bool) {
	c := drawSite(t, 6, hosts)
	for range rapid.IntRange(1, 6).Draw(t, "steps") {
		a := c.drawShared(t, hosts)
		plan := c.checkAt(t, a, c.Now)
		if rapid.Bool().Draw(t, "look ahead") {
			c.checkAt(t, a, c.Now+rapid.Int64Range(1, 25).Draw(t, "ahead"))
			plan = c.checkEarliestNodes(t, a)
		}
		if plan != nil && rapid.IntRange(0, 3).Draw(t, "carry out") > 0 {
			c.carryOut(t, a, plan)
		}
		if rapid.Bool().Draw(t, "clock") {
			c.passTime(t)
		}
		if rapid.IntRange(0, 5).Draw(t, "reserves") == 0 {
			c.drawClaim(t)
		}
	}
}

// oracle returns the naive matcher, which here also knows sets by feature.
func (c *site) oracle(a Ask) *naive {
	n := c.naive(a)
	if !slices.Contains(c.keys(a), index.Feature) {
		return n
	}
	n.sets, n.named = nil, make(map[string][]int)
	for _, key := range c.keys(a) {
		if key != index.Feature {
			n.split(key)
			continue
		}
		for _, feature := range []string{"fast", "big", ""} {
			var set []int
			for k, node := range c.nodes {
				if node.Queue == a.Queue && (slices.Contains(node.Features, feature) ||
					feature == "" && len(node.Features) == 0 && !c.Rules.ExplicitSets) {
					set = append(set, k)
				}
			}
			if set != nil {
				n.sets = append(n.sets, set)
				n.named["feature="+feature] = set
			}
		}
	}
	return n
}

// exact reports whether a verdict must equal the oracle's. It must for a request with one kind
// of chunk, or for any with Rules.ExactFit, unless the nodes must be in a row. A pack counts
// as one kind as long as one node is enough for it.
func (c *site) exact(a Ask) bool {
	return (c.Rules.ExactFit || len(a.Chunks) == 1 || a.Place.Arrange == Pack && len(c.Index.SharedHosts()) == 0) &&
		a.Policy != Contiguous
}

// checkAt compares the decision for an instant with the oracle's.
func (c *site) checkAt(t *rapid.T, a Ask, at int64) *Plan {
	t.Helper()
	oracle := c.oracle(a)
	plan, err := c.Place(a, at)
	got, want := verdictOf(err), oracle.nodesVerdict(at)
	never := got == "NEVER"
	if a.Policy == Contiguous {
		if want = oracle.rowsVerdict(at); a.Place.Arrange == Pack && len(c.Index.SharedHosts()) > 0 {
			never = want == "NEVER" // a row on one host is not for the oracle
		}
	}
	if c.exact(a) && got != want || never != (want == "NEVER") || got == "RUN" && want != "RUN" {
		t.Fatalf("%s from %d on (%v), trying everything %s: %s", got, at, err, want, c.text(a))
	}
	switch {
	case plan != nil:
		c.checkNodePlan(t, a, plan, oracle)
	case got == "NOT_RUN":
		c.checkHasStart(t, a)
	}
	c.checkPaths(t, a, at, got)
	return plan
}

// checkHasStart verifies that what does not fit now, but later, has a start, and is placed
// then.
func (c *site) checkHasStart(t *rapid.T, a Ask) {
	t.Helper()
	plan, err := c.Earliest(a, c.Now)
	if err == nil {
		_, err = c.Place(a, plan.Start)
	}
	if err != nil {
		t.Fatalf("it should have a start: %+v, %v: %s", plan, err, c.text(a))
	}
}

// checkPaths verifies that what fits in node order fits with any policy. A policy never
// decides whether a request that takes whole nodes fits, so the two paths should agree. An
// instant may serve a request in one policy alone if it has no other start before the
// reservation ends that it insists on.
func (c *site) checkPaths(t *rapid.T, a Ask, at int64, got string) {
	if a.Policy == Contiguous {
		return
	}
	a.Policy = FirstAvailable
	if got != "RUN" && c.fitsAsOthers(a, at) {
		t.Fatalf("%s from %d on, in node order it fits: %s", got, at, c.text(a))
	}
	if path, _ := c.Route(a); path != BucketPath {
		return
	}
	for _, a.Policy = range Policies() {
		if a.Policy == Contiguous {
			continue
		}
		if _, err := c.Place(a, at); verdictOf(err) != got {
			t.Fatalf("%s from %d on, with the policy %s %v: %s", got, at, a.Policy, err, c.text(a))
		}
	}
}

// fitsAsOthers reports whether a request fits at an instant whatever other starts it has.
func (c *site) fitsAsOthers(a Ask, at int64) bool {
	var m mapping
	if m.prepareToPlace(c.Snapshot, a) != nil || m.heldBack(at, false) != nil || m.heldBack(at, true) != nil {
		return false
	}
	plan, _, err := m.place(at, m.endedBy(at))
	return plan != nil && err == nil
}

// checkEarliestNodes compares the first start with that found by trying every
// second.
func (c *site) checkEarliestNodes(t *rapid.T, a Ask) *Plan {
	t.Helper()
	oracle := c.oracle(a)
	after := c.Now + rapid.SampledFrom([]int64{0, 0, 2, 11}).Draw(t, "after")
	plans, err := c.checkEveryInstant(t, a, after)
	for i, plan := range plans {
		if plan.Start < after || i > 0 && plan.Start <= plans[i-1].Start {
			t.Fatalf("start %d at %d: %s", i, plan.Start, c.text(a))
		}
		c.checkNodePlan(t, a, plan, oracle)
	}
	first := after
	for last := max(after, c.over(a)); first <= last && !oracle.nodesFit(first, false); {
		first++
	}
	exact := c.exact(a)
	switch found := first <= max(after, c.over(a)); {
	case len(plans) == 0 && found && exact:
		t.Fatalf("no start (%v), trying everything at %d: %s", err, first, c.text(a))
	case len(plans) > 0 && (!found || plans[0].Start < first || exact && plans[0].Start != first):
		t.Fatalf("starts at %d, trying everything at %d: %s", plans[0].Start, first, c.text(a))
	}
	if len(plans) == 0 {
		c.checkPathsFrom(t, a, after, nil)
		return nil
	}
	c.checkPathsFrom(t, a, after, plans[0])
	return plans[0]
}

// checkPathsFrom does what checkPaths does, for the first start from an instant on.
func (c *site) checkPathsFrom(t *rapid.T, a Ask, after int64, first *Plan) {
	if a.Policy == Contiguous {
		return
	}
	a.Policy = FirstAvailable
	if path, _ := c.Route(a); path != BucketPath {
		return
	}
	for _, a.Policy = range Policies() {
		if a.Policy == Contiguous {
			continue
		}
		plan, err := c.Earliest(a, after)
		if (plan == nil) != (first == nil) || plan != nil && plan.Start != first.Start {
			t.Fatalf("the first start is that of %+v, with the policy %s %+v (%v): %s", first, a.Policy, plan, err,
				c.text(a))
		}
	}
}

// checkNodePlan verifies a plan: that it is what was requested, on nodes where the request may
// be, and never takes more than there is.
func (c *site) checkNodePlan(t *rapid.T, a Ask, plan *Plan, oracle *naive) {
	t.Helper()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("%s\nplan %+v\n%s", fmt.Sprintf(format, args...), plan, c.text(a))
	}
	if plan.End != plan.Start+a.Duration || len(plan.Chunks) != len(a.Chunks) {
		fail("it is another request's")
	}
	see := oracle.looking(plan.Start, false)
	kinds, chunks := make(map[uint32]int), make(map[uint32]int)
	hosts := make(map[string]int)
	for i, chunk := range plan.Chunks {
		held := 0
		for _, p := range chunk.Picks {
			n := c.nodes[p.Node]
			if held += int(p.Chunks); p.Chunks < 1 || oracle.per[i][p.Node] == 0 || !see.onHost(n, i) ||
				see.left[p.Node] == nil {
				fail("node %d takes %d of chunk %d", p.Node, p.Chunks, i)
			}
			if p.Bucket.ID != n.Bucket || plan.Start == c.Now && p.Class != c.Index.ClassOf(p.Bucket, p.Node) {
				fail("node %d is not in bucket %d or class %s", p.Node, p.Bucket.ID, p.Class)
			}
			c.checkWithin(a, plan, p, fail)
			whole := see.whole(n) || takesHost(plan, c, see, n)
			if alone := see.access(n) == index.AccessSingleUser && !whole; p.Alone != alone || p.Shared == whole {
				fail("node %d is taken alone %v, shared %v", p.Node, p.Alone, p.Shared)
			}
			if k, twice := kinds[p.Node]; twice && (k == i || see.whole(n) && a.Place.Arrange != Pack) {
				fail("node %d is picked twice", p.Node)
			}
			kinds[p.Node] = i
			chunks[p.Node] += int(p.Chunks)
			hosts[hostName(n)] += int(p.Chunks)
		}
		if held != a.Chunks[i].Count {
			fail("%d of %d of chunk %d", held, a.Chunks[i].Count, i)
		}
	}
	for node, count := range chunks {
		if one := a.Place.Arrange == VScatter || see.access(c.nodes[node]) == index.AccessSingleTask; one && count > 1 {
			fail("node %d takes %d chunks", node, count)
		}
	}
	for host, count := range hosts {
		if a.Place.Arrange == Scatter && count > 1 || a.Place.Arrange == Pack && len(hosts) > 1 {
			fail("host %s takes %d chunks", host, count)
		}
	}
	// Scattered, it skips nodes of hosts that it has; with several kinds, nodes of the row
	// that none of them needs.
	if a.Policy == Contiguous && a.Place.Arrange != Scatter && len(a.Chunks) == 1 {
		if row := slices.Sorted(maps.Keys(chunks)); int(row[len(row)-1]-row[0]) != len(row)-1 {
			fail("nodes %v are no row", row)
		}
	}
	if plan.Set != "" {
		for node := range chunks {
			if !slices.Contains(oracle.named[plan.Set], int(node)) {
				fail("node %d is not in %s", node, plan.Set)
			}
		}
	}
	c.checkTakings(a, plan, see, fail)
}

// takesHost reports whether a plan takes the whole host of a node, because of this
// or another node of it.
func takesHost(plan *Plan, c *site, see *naiveNodes, n *index.Node) bool {
	return slices.ContainsFunc(plan.NodeNumbers(), func(other uint32) bool {
		return hostName(c.nodes[other]) == hostName(n) && see.wholeHost(c.nodes[other])
	})
}

// checkTakings sums up, second by second, what a plan takes beside what is there.
func (c *site) checkTakings(a Ask, plan *Plan, see *naiveNodes, fail func(string, ...any)) {
	whole := make(map[uint32]bool)
	seen := make(map[uint32]bool)
	for _, take := range plan.Takings(c.defs, a.Chunks) {
		n := c.nodes[take.Node]
		if seen[take.Node] {
			fail("node %d is taken twice", take.Node)
		}
		seen[take.Node], whole[take.Node] = true, take.Use == nil
		for second := plan.Start; second < plan.End; second++ {
			live := see.minded(take.Node, second)
			if take.Use == nil {
				if len(live) > 0 {
					fail("node %d, whole, is taken at %d by %d", take.Node, second, live[0].Owner)
				}
				continue
			}
			mine := timeline.Busy{Owner: 1 << 40, Use: take.Use}
			for _, b := range live {
				if b.Use == nil || see.strangers(n, b) {
					fail("node %d is no place beside %d at %d", take.Node, b.Owner, second)
				}
			}
			claim, _ := see.insisted(take.Node)
			for _, id := range see.defs {
				wants := takes(mine, id)
				if wants == 0 {
					continue
				}
				if have, _ := n.Get(id); wants+sumOf(live, id) > have.Num {
					fail("node %d is to give %d of resource %d at %d, where %d of %d are taken", take.Node, wants, id,
						second, sumOf(live, id), have.Num)
				}
				if claim != nil && claim.Use != nil && wants+guestsOf(c.Calendar.At(take.Node), *claim, c.cluster,
					second, id) > takes(*claim, id) {
					fail("node %d is to give %d of resource %d at %d out of reservation %d", take.Node, wants, id,
						second, claim.Owner)
				}
			}
		}
	}
	for node := range seen {
		n := c.nodes[node]
		if !see.wholeHost(n) {
			continue
		}
		for _, mate := range c.nodes {
			if hostName(mate) == hostName(n) && !whole[mate.Number] {
				fail("node %d takes its host, node %d is left out", node, mate.Number)
			}
		}
	}
}

// checkWithin verifies that a guest may take from a reservation what it takes, and that a
// request that insists on reservations is in one of them.
func (c *site) checkWithin(a Ask, plan *Plan, take Pick, fail func(string, ...any)) {
	within, any, insists, in := false, false, false, false
	for _, g := range a.Grants {
		inside := max(0, min(plan.End, g.End)-max(plan.Start, g.Start))
		usable := g.Nodes.Contains(take.Node) && inside > 0 && (g.Limit == 0 || inside <= g.Limit)
		within = within || usable && g.Owner == plan.Claims[take.Node]
		any = any || usable
		insists = insists || g.Affinity == Required
		in = in || usable && g.Affinity == Required && inside == a.Duration
	}
	if take.Shared && plan.Claims[take.Node] == 0 && any {
		fail("node %d is taken beside its own reservation", take.Node)
	}
	if claim := plan.Claims[take.Node]; claim != 0 && !within {
		fail("node %d is taken out of reservation %d", take.Node, claim)
	}
	if insists && !in {
		fail("node %d is in no reservation that it insists on", take.Node)
	}
}
