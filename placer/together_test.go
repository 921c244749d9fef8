package placer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"pgregory.net/rapid"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/timeline"
)

// TestWholeRequestInSet: a placement set is for requests that it could hold whole when empty.
// Requests do not wait for sets that could only hold each chunk alone.
func TestWholeRequestInSet(t *testing.T) {
	threes := []string{"ncpus=1 color=r", "ncpus=1 color=r", "ncpus=1 color=r", "ncpus=1 color=g", "ncpus=1 color=g",
		"ncpus=1 color=g"}
	byColor := []index.ResID{index.FirstDeclared}
	for _, one := range []struct {
		nodes      []string
		sel, place string
		rules      Rules
		want       string
	}{
		{threes, "2:ncpus=1+2:ncpus=1", "scatter", Rules{GroupKey: byColor}, "[0 1 2 3]"},
		{threes, "2:ncpus=1+2:ncpus=1", "free", Rules{GroupKey: byColor}, "[0 1 2 3]"},
		{threes, "2:ncpus=1+2:ncpus=1", "scatter:excl", Rules{GroupKey: byColor}, "[0 1 2 3]"},
		{threes, "2:ncpus=1+2:ncpus=1", "excl:group=color", Rules{}, "[0 1 2 3]"},
		{threes, "2:ncpus=1+2:ncpus=1", "scatter", Rules{GroupKey: byColor, DoNotSpan: true}, "NEVER"},
		{threes, "2:ncpus=1+2:ncpus=1", "scatter:excl", Rules{GroupKey: byColor, DoNotSpan: true}, "NEVER"},
		{threes, "2:ncpus=1+1:ncpus=1", "scatter:excl", Rules{GroupKey: byColor, DoNotSpan: true}, "[0 1 2]"},
		{append([]string{"ncpus=1 color=b", "ncpus=1 color=b", "ncpus=1 color=b", "ncpus=1 color=b"}, threes...),
			"2:ncpus=1+2:ncpus=1", "scatter:excl", Rules{GroupKey: byColor}, "[0 1 2 3]"}, // the one set that does
	} {
		t.Run(one.sel+" "+one.place, func(t *testing.T) {
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

// TestFirstFitLeadsNowhere: a request that first fit could not place even on the empty cluster
// is placed by another assignment. That is now or at its earliest start, on either path. A
// request that first fit can place at some time waits for that.
func TestFirstFitLeadsNowhere(t *testing.T) {
	for _, one := range []struct {
		name       string
		nodes      []string
		sel, place string
		busy       uint32 // a node that is taken until ten seconds from now
		now, then  string // the verdict now, and the nodes from then on
	}{
		{"the larger chunk comes last", []string{"ncpus=4", "ncpus=1", "ncpus=1"}, "1:ncpus=1+1:ncpus=4",
			"scatter:excl", 2, "[1 0]", ""},
		{"its node is taken", []string{"ncpus=4", "ncpus=1", "ncpus=1"}, "2:ncpus=1+1:ncpus=4", "scatter:excl", 0,
			"NOT_RUN", "[1 2 0]"},
		{"as things stand only", []string{"ncpus=2", "ncpus=4", "ncpus=1"}, "1:ncpus=1+1:ncpus=4", "scatter:excl", 0,
			"NOT_RUN", "[0 1]"},
		{"shared", []string{"ncpus=4", "ncpus=1", "ncpus=1"}, "1:ncpus=1+1:ncpus=4", "free", 2, "[1 0]", ""},
		{"shared, and taken", []string{"ncpus=4", "ncpus=1", "ncpus=1"}, "2:ncpus=1+1:ncpus=4", "shared", 1, "NOT_RUN",
			"[1 2 0]"},
		{"shared, as things stand only", []string{"ncpus=2", "ncpus=4", "ncpus=1"}, "1:ncpus=1+1:ncpus=4", "scatter", 0,
			"NOT_RUN", "[0 1]"},
		{"several on a node", []string{"ncpus=3", "ncpus=4", "ncpus=1"}, "2:ncpus=2+1:ncpus=3", "excl", 2, "[1 0]", ""},
		{"a host of several nodes", []string{"ncpus=2 mem=1kb", "ncpus=2 host=n0", "ncpus=1"},
			"3:ncpus=1+1:ncpus=1:mem=1kb", "pack:exclhost", 0, "NOT_RUN", "[0 1]"},
	} {
		for _, policy := range []Policy{NoPolicy, LastAvailable, Priority, Contiguous, MaxBalance} {
			t.Run(one.name+" "+policy.String(), func(t *testing.T) {
				c := handMade(t, one.nodes...)
				c.put(t, one.busy, timeline.Busy{Start: 0, End: c.Now + 10, Owner: c.newOwner("bob"), Held: true})
				a := c.request(t, one.sel, one.place)
				a.Policy = policy
				text := func(plan *Plan, err error) string {
					if plan == nil {
						return verdictOf(err)
					}
					return fmt.Sprint(plan.NodeNumbers())
				}
				plan, err := c.Place(a, c.Now)
				if got := text(plan, err); got != one.now && (policy != Contiguous || err == nil) {
					t.Errorf("now %s (%v), want %s", got, err, one.now)
				}
				if one.then == "" || policy == Contiguous {
					return
				}
				plan, err = c.Earliest(a, c.Now)
				if got := text(plan, err); got != one.then || plan.Start != c.Now+10 {
					t.Errorf("then %s (%v), want %s", got, err, one.then)
				}
			})
		}
	}
}

// TestFullReservation: a request that requires a reservation has no start if other jobs have
// its nodes until it ends.
func TestFullReservation(t *testing.T) {
	for _, one := range []struct {
		until int64 // others have one of the two nodes for so long
		sel   string
		want  string
		start int64
	}{
		{20, "1:ncpus=1+1:ncpus=4", "NEVER", 0},
		{11, "1:ncpus=1+1:ncpus=4", "NEVER", 0},
		{10, "1:ncpus=1+1:ncpus=4", "NOT_RUN", 10},
		{10, "1:ncpus=4+1:ncpus=1", "NOT_RUN", 10},
		{20, "1:ncpus=1", "RUN", 0},
	} {
		c := handMade(t, "ncpus=4", "ncpus=1", "ncpus=1")
		g := Grant{Owner: c.newOwner(""), Name: "r", Start: c.Now, End: c.Now + 20, Nodes: roaring.BitmapOf(0, 1),
			Affinity: Required}
		for _, node := range []uint32{0, 1} {
			c.put(t, node, timeline.Busy{Start: g.Start, End: g.End, Owner: g.Owner, Claim: true})
		}
		c.put(t, 0, timeline.Busy{Start: c.Now - 1, End: c.Now + one.until, Owner: c.newOwner("bob"), Held: true,
			Use: &timeline.Use{
				Within: g.Owner, Amounts: []timeline.Amount{{Quantity: uint16(index.NCPUs), N: 2}}}})
		a := c.request(t, one.sel, "scatter")
		a.Grants = []Grant{g}
		_, err := c.Place(a, c.Now)
		if got := verdictOf(err); got != one.want {
			t.Errorf("%s while another is there for %d s: %s (%v), want %s", one.sel, one.until, got, err, one.want)
		}
		if plan, err := c.Earliest(a, c.Now); (err == nil) != (one.want != "NEVER") ||
			err == nil && plan.Start != c.Now+one.start {
			t.Errorf("%s while another is there for %d s: starts %+v, %v", one.sel, one.until, plan, err)
		}
	}
}

// TestGuestsShareTheirReservation: a request that insists on a reservation of a part of a node
// has what the other guests leave of that part, however much of the node is free beside it.
func TestGuestsShareTheirReservation(t *testing.T) {
	for _, one := range []struct {
		kept, others int64
		sel, want    string
	}{
		{4, 0, "1:ncpus=4", "RUN"},
		{4, 0, "1:ncpus=5", "NEVER"},
		{4, 3, "1:ncpus=1", "RUN"},
		{4, 3, "1:ncpus=2", "NOT_RUN"},
		{4, 4, "1:ncpus=1", "NOT_RUN"},
	} {
		c := handMade(t, "ncpus=8")
		g := Grant{Owner: c.newOwner(""), Name: "r", Start: c.Now, End: c.Now + 100, Nodes: roaring.BitmapOf(0),
			Affinity: Required}
		use := func(n, within int64) *timeline.Use {
			return &timeline.Use{Within: uint64(within),
				Amounts: []timeline.Amount{{Quantity: uint16(index.NCPUs), N: n}}}
		}
		c.put(t, 0, timeline.Busy{Start: g.Start, End: g.End, Owner: g.Owner, Claim: true, Use: use(one.kept, 0)})
		if one.others > 0 {
			c.put(t, 0, timeline.Busy{Start: c.Now - 1, End: c.Now + 50, Owner: c.newOwner("bob"), Held: true,
				Use: use(one.others, int64(g.Owner))})
		}
		a := c.request(t, one.sel, "free")
		a.Grants = []Grant{g}
		if _, err := c.Place(a, c.Now); verdictOf(err) != one.want {
			t.Errorf("%s where %d of %d are others': %s (%v), want %s", one.sel, one.others, one.kept, verdictOf(err),
				err, one.want)
		}
	}
}

// TestSolveProperty compares the search for an assignment with trying everything.
func TestSolveProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		chunks := rapid.IntRange(1, 4).Draw(t, "chunks")
		p := problem{needs: rapid.SliceOfN(rapid.IntRange(1, 7), chunks, chunks).Draw(t, "needs")}
		n := naive{a: Ask{Spec: Spec{Chunks: make([]Chunk, chunks)}}}
		for i, need := range p.needs {
			n.a.Chunks[i].Count = need
		}
		var counts []int
		var pers [][]int
		for range rapid.IntRange(1, 6).Draw(t, "atoms") {
			a := &atom{per: rapid.SliceOfN(rapid.IntRange(0, 3), chunks, chunks).Draw(t, "per"),
				count: rapid.IntRange(1, 3).Draw(t, "nodes")}
			p.atoms, counts, pers = append(p.atoms, a), append(counts, a.count), append(pers, a.per)
		}
		want := n.searchKinds(0, counts, pers, make(map[string]bool))
		v, left := p.solve(searchSteps)
		if v == perhaps || (v == yes) != want || left < 0 {
			t.Fatalf("%d after %d steps, trying everything %v", v, searchSteps-left, want)
		}
		held := make([]int, chunks)
		for a, atom := range p.atoms {
			given := 0
			for i := range p.needs {
				given += p.given[a][i]
				held[i] += p.given[a][i] * atom.per[i]
			}
			if v == yes && given > atom.count {
				t.Fatalf("%d of %d nodes given", given, atom.count)
			}
		}
		for i, need := range p.needs {
			if v == yes && held[i] < need {
				t.Fatalf("%d of %d of chunk %d", held[i], need, i)
			}
		}
	})
}

// TestGivenUp: a request is refused for good if the longest search does not find out whether
// it fits, and the refusal says why.
func TestGivenUp(t *testing.T) {
	var nodes, chunks []string
	for i := range 30 { // every node holds one chunk or, one time in three, two
		nodes = append(nodes, fmt.Sprintf("ncpus=%d mem=%dkb", 50+i, 79-i))
		chunks = append(chunks, fmt.Sprintf("2:ncpus=%d:mem=%dkb", 24+i%7, 24+(i*5)%7))
	}
	c := handMade(t, nodes...)
	a := c.request(t, strings.Join(chunks, "+"), "free")
	_, err := c.Place(a, c.Now)
	if verdictOf(err) != "NEVER" || !strings.Contains(err.Error(), "the search was given up after 50000 steps") {
		t.Errorf("%v", err)
	}
}

// TestGrantOver: a reservation that a request may use, but that is over by its start, does not
// affect that start: then the request is one without reservations.
func TestGrantOver(t *testing.T) {
	c := handMade(t, "ncpus=2", "ncpus=2", "ncpus=4", "ncpus=3")
	for node, until := range map[uint32]int64{0: 50, 2: 10} {
		c.put(t, node, timeline.Busy{Start: c.Now - 1, End: c.Now + until, Owner: c.newOwner("bob"), Held: true})
	}
	g := Grant{Owner: c.newOwner(""), Name: "r", Start: c.Now - 1, End: c.Now + 2, Nodes: roaring.BitmapOf(1)}
	c.put(t, 1, timeline.Busy{Start: g.Start, End: g.End, Owner: g.Owner, Claim: true})
	a := c.request(t, "2:ncpus=1+1:ncpus=4", "scatter:excl")
	a.Policy = MinResource
	without, err := c.Earliest(a, c.Now)
	if err != nil {
		t.Fatal(err)
	}
	a.Grants = []Grant{g}
	with, err := c.Earliest(a, c.Now)
	if err != nil || with.Start != without.Start || fmt.Sprint(with.NodeNumbers()) != fmt.Sprint(
		without.NodeNumbers()) {
		t.Errorf("starts %+v, %v; without the reservation %+v", with, err, without)
	}
}
