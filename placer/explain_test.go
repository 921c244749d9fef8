package placer

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"pgregory.net/rapid"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/timeline"
)

// reclass makes a change to a node, then puts it into the class that the calendar says.
func (c *cluster) reclass(n *index.Node, change func()) {
	class := func() index.Class {
		if n.State != index.Up {
			return index.None
		}
		return c.classAt(n.Number)
	}
	room := func() []index.Amount {
		if class() != index.Busy {
			return nil
		}
		return c.roomOf(n.Number)
	}
	was, before := c.Index.ClassOf(c.Index.Bucket(n.Bucket), n.Number), room()
	c.Index.SetRoom(n.Number, before, nil)
	c.Index.Remove(n, was)
	change()
	c.Index.Insert(n, class())
	c.Index.SetRoom(n.Number, nil, room())
}

// drawRules gives nodes rules of their own about sharing, and hosts in common.
func (c *cluster) drawRules(t *rapid.T) {
	for _, n := range c.nodes {
		switch rapid.IntRange(0, 9).Draw(t, "rule") {
		case 0:
			c.reclass(n, func() {
				n.Access = rapid.SampledFrom([]index.Access{index.AccessSingleUser, index.AccessSingleJob,
					index.AccessSingleTask}).Draw(t, "access")
			})
		case 1:
			c.reclass(n, func() {
				n.Sharing = rapid.SampledFrom([]index.Sharing{index.DefaultExcl, index.IgnoreExcl, index.ForceExcl,
					index.ForceExclHost}).Draw(t, "sharing")
			})
		case 2:
			c.reclass(n, func() {
				n.Set(index.Host, index.Value{Str: rapid.SampledFrom([]string{"n0", "h"}).Draw(t, "host")})
			})
		}
	}
}

// drawClaims reserves nodes, and returns grants that admit jobs.
func (c *cluster) drawClaims(t *rapid.T) []Grant {
	var grants []Grant
	for i := range rapid.IntRange(0, 3).Draw(t, "reservations") {
		c.owner++
		start := propertyNow + rapid.Int64Range(-5, 15).Draw(t, "start")
		g := Grant{Owner: c.owner, Name: fmt.Sprintf("r%d", i), Start: start,
			End: start + rapid.Int64Range(6, 20).Draw(t, "length"), Nodes: roaring.New(),
			Affinity: rapid.SampledFrom([]Affinity{Positive, Neutral, Negative, Required}[:4-min(i, 1)]).Draw(t,
				"affinity"),
			Limit: rapid.SampledFrom([]int64{0, 0, 3, 8}).Draw(t, "limit")}
		for _, n := range c.nodes {
			if rapid.IntRange(0, 2).Draw(t, "reserved") > 0 {
				continue
			}
			span := timeline.Busy{Start: g.Start, End: g.End, Owner: g.Owner, Claim: true}
			if rapid.IntRange(0, 2).Draw(t, "part") == 0 {
				span.Use = &timeline.Use{
					Amounts: []timeline.Amount{
						{Quantity: uint16(index.NCPUs), N: rapid.Int64Range(1, 2).Draw(t, "kept")}}}
			}
			c.reclass(n, func() {
				if err := c.Calendar.Put(n.Number, span); err != nil {
					t.Fatal(err)
				}
			})
			g.Nodes.Add(n.Number)
		}
		if rapid.Bool().Draw(t, "let in") {
			grants = append(grants, g)
		}
	}
	return grants
}

// drawAnyAsk returns a request of any kind.
func (c *cluster) drawAnyAsk(t *rapid.T, grants []Grant) Ask {
	a := c.drawAsk(t)
	a.Place.Arrange = rapid.SampledFrom([]Arrangement{Free, Free, Scatter, VScatter, Pack}).Draw(t, "any arrangement")
	a.Place.Share = rapid.SampledFrom([]Sharing{Default, Default, Shared, Excl, ExclHost}).Draw(t, "any share")
	a.Access = rapid.SampledFrom([]index.Access{index.AccessShared, index.AccessShared, index.AccessSingleUser,
		index.AccessSingleJob, index.AccessSingleTask}).Draw(t, "any access")
	a.Policy = rapid.SampledFrom([]Policy{NoPolicy, NoPolicy, LastAvailable, Priority, MinResource, Contiguous,
		Fastest}).Draw(t, "policy")
	a.User = rapid.SampledFrom([]string{"ann", "bob"}).Draw(t, "user")
	a.Grants = grants
	for i := range a.Chunks {
		chunk := &a.Chunks[i]
		if rapid.IntRange(0, 9).Draw(t, "named") == 0 {
			name := rapid.SampledFrom([]string{"n0", "n1", "h"}).Draw(t, "name")
			chunk.Wants = append(chunk.Wants, Want{Res: index.Host, Value: index.Value{Str: name}})
		}
		if !names(chunk.Wants, index.NCPUs) { // as a parsed one
			chunk.Wants, chunk.Implied = append(chunk.Wants, oneCPU), true
		}
	}
	return a
}

func (c *cluster) drawWorld(t *rapid.T) []Grant {
	c.Snapshot.Rows = c
	c.users = make(map[uint64]string)
	c.Rules.SetDelay = rapid.SampledFrom([]int64{0, 0, -1, 5}).Draw(t, "set delay")
	c.drawRules(t)
	return c.drawClaims(t)
}

// TestExplainProperty: every node has one reason, which is true of it, and what is said to
// help does help.
func TestExplainProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		grants := c.drawWorld(t)
		for range rapid.IntRange(1, 4).Draw(t, "steps") {
			a := c.drawAnyAsk(t, grants)
			text := fmt.Sprintf("%s, place %s, access %s, policy %s, queue %q, %d s, rules %+v", a.Spec.Select(c.defs),
				a.Place.Format(c.defs), a.Access, a.Policy,
				a.Queue, a.Duration, c.Rules)
			var asked []uint32
			for _, n := range c.nodes {
				asked = append(asked, n.Number)
			}
			ex, err := c.Explain(a, Explain{Nodes: asked, Rank: 3})
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			c.checkVerdict(t, a, ex, text)
			for kind := range ex.Chunks {
				c.checkReasons(t, a, ex, kind, text)
			}
			c.checkHelps(t, ex, text)
			c.checkRanking(t, a, ex, text)
			if plan, err := c.Place(a, c.Now); err == nil {
				c.apply(t, a, plan)
			}
		}
	})
}

func (c *cluster) checkVerdict(t *rapid.T, a Ask, ex *Explanation, text string) {
	_, err := c.Place(a, c.Now)
	want := map[string]Verdict{"RUN": StartsNow, "NOT_RUN": StartsLater, "NEVER": NeverStarts}[verdictOf(err)]
	if ex.Verdict != want || (ex.Refusal == nil) != (want == StartsNow) {
		t.Fatalf("%s: verdict %s, refusal %v; placed %v", text, ex.Verdict, ex.Refusal, err)
	}
	if len(ex.Chunks) > 1 || a.Policy == Contiguous || a.Place.Share == ExclHost || want == NeverStarts ||
		c.forcesHosts() ||
		len(ex.Hosts) > 0 {
		return // more than room has to do with it
	}
	if room := ex.Chunks[0].Fits >= int64(ex.Chunks[0].Chunk.Count); room != (want == StartsNow) {
		t.Fatalf("%s: room for %d of %d, verdict %s", text, ex.Chunks[0].Fits, ex.Chunks[0].Chunk.Count, want)
	}
}

func (c *cluster) forcesHosts() bool {
	return slices.ContainsFunc(c.nodes, func(n *index.Node) bool { return n.Sharing == index.ForceExclHost })
}

// checkReasons places the chunk on every node by itself.
func (c *cluster) checkReasons(t *rapid.T, a Ask, ex *Explanation, kind int, text string) {
	seen := make(map[uint32]*Reason)
	view := &ex.Chunks[kind]
	for i := range view.Reasons {
		r := &view.Reasons[i]
		for _, node := range r.Nodes {
			if seen[node] != nil {
				t.Fatalf("%s: node %d is under %s and %s", text, node, seen[node].Cause, r.Cause)
			}
			seen[node] = r
		}
		if !slices.IsSorted(r.Nodes) || len(r.Nodes) == 0 {
			t.Fatalf("%s: %s of %v", text, r.Cause, r.Nodes)
		}
	}
	if len(seen) != len(c.nodes) {
		t.Fatalf("%s: %d of %d nodes have a reason: %v", text, len(seen), len(c.nodes), seen)
	}
	fits := int64(0)
	for _, v := range ex.Nodes {
		if v.Chunk != kind {
			continue
		}
		group := seen[v.Node]
		if v.Reason.Cause != group.Cause || v.Reason.Until < group.Until ||
			!slices.Equal(v.Reason.Nodes, []uint32{v.Node}) {
			t.Fatalf("%s: node %d is under %+v, by itself %+v", text, v.Node, group, v.Reason)
		}
		c.checkNode(t, a, view.Chunk, v, text)
		fits += v.Reason.Chunks
	}
	for _, r := range view.Reasons {
		if r.Cause == CauseFits && (r.Chunks > fits || r.Chunks < fits && a.Place.Arrange != Scatter) {
			t.Fatalf("%s: room for %d, node by node for %d", text, r.Chunks, fits)
		}
		c.checkSoonest(t, ex, kind, &r, text)
	}
	total := 0
	for _, b := range view.Buckets {
		total += b.Fits
	}
	if i := slices.IndexFunc(view.Reasons, func(r Reason) bool { return r.Cause == CauseFits }); i >= 0 &&
		total != len(view.Reasons[i].Nodes) {
		t.Fatalf("%s: %d nodes with room by bucket, %d together", text, total, len(view.Reasons[i].Nodes))
	}
}

// checkSoonest verifies that a group's instant is that of its first node.
func (c *cluster) checkSoonest(t *rapid.T, ex *Explanation, kind int, r *Reason, text string) {
	soonest := int64(timeline.Forever)
	for _, v := range ex.Nodes {
		if v.Chunk == kind && slices.Contains(r.Nodes, v.Node) {
			soonest = min(soonest, v.Reason.Until)
		}
	}
	if soonest != r.Until {
		t.Fatalf("%s: %s until %d, its first node until %d", text, r.Cause, r.Until, soonest)
	}
}

// checkNode compares what is said of a node with placing one chunk on it, now and at every
// later instant.
func (c *cluster) checkNode(t *rapid.T, a Ask, chunk Chunk, v NodeView, text string) {
	one := a
	chunk.Count = 1
	chunk.Wants = append(slices.Clone(chunk.Wants),
		Want{Res: index.VNode, Value: index.Value{Str: c.nodes[v.Node].Name}})
	one.Chunks, one.Place.HasGroup = []Chunk{chunk}, false
	if one.Place.Arrange == Pack {
		one.Place.Arrange = Free
	}
	alone := *c.Snapshot
	alone.Rules.GroupKey = nil
	first := int64(timeline.Forever)
	for at := c.Now; at <= propertyEnd && first == timeline.Forever; at++ {
		if _, err := alone.Place(one, at); err == nil {
			first = at
		} else if !errors.Is(err, ErrNever) && !errors.Is(err, ErrNotNow) {
			t.Fatal(err)
		}
	}
	r := &v.Reason
	switch {
	case r.Cause == CauseSet, r.Cause == CauseOneChunk:
	case r.Cause == CauseFits && first != c.Now, r.Cause != CauseFits && first == c.Now:
		t.Fatalf("%s: node %d %s, placed there at %d", text, v.Node, r.Cause, first)
	case r.Until != first:
		t.Fatalf("%s: node %d %+v until %d, placed there at %d", text, v.Node, r, r.Until, first)
	}
}

func (c *cluster) checkHelps(t *rapid.T, ex *Explanation, text string) {
	if ex.Verdict == StartsNow && len(ex.Helps) > 0 {
		t.Fatalf("%s: it starts, and %+v would help", text, ex.Helps)
	}
	for _, h := range ex.Helps {
		if ex.Verdict == StartsLater && h.Start != c.Now || h.Start < c.Now {
			t.Fatalf("%s: %+v starts at %d", text, h, h.Start)
		}
		if _, err := c.Place(h.Ask, h.Start); err != nil {
			t.Fatalf("%s: %+v does not help: %v", text, h, err)
		}
		switch h.Change {
		case "select":
			if chunks, err := ParseSelect(c.defs, h.To); err != nil ||
				(Spec{Chunks: chunks}).Text(c.defs) != h.Ask.Text(c.defs) {
				t.Fatalf("%s: %s reads back as %+v, %v", text, h.To, chunks, err)
			}
		case "place":
			if p, err := ParsePlace(c.defs, h.To); err != nil || p != h.Ask.Place {
				t.Fatalf("%s: %s reads back as %+v, %v", text, h.To, p, err)
			}
		}
	}
}

// checkRanking verifies that the nodes taken are the first of the ranking, and that the terms
// of PRIORITYF add up to its value.
func (c *cluster) checkRanking(t *rapid.T, a Ask, ex *Explanation, text string) {
	for i, r := range ex.Ranking {
		sum := 0.0
		for _, term := range r.Terms {
			sum += term.Value
		}
		if a.Policy == Priority && sum != r.Value || i > 0 && r.Chunk == ex.Ranking[i-1].Chunk &&
			r.Rank != ex.Ranking[i-1].Rank+1 {
			t.Fatalf("%s: ranked %+v", text, ex.Ranking)
		}
	}
	if ex.Verdict != StartsNow || len(a.Chunks) > 1 || a.Policy.Score() == "" || a.Place.Share == ExclHost ||
		c.forcesHosts() ||
		len(ex.Hosts) > 0 {
		return
	}
	picks := ex.Plan.Chunks[0].Picks
	for i, p := range picks[:min(len(picks), len(ex.Ranking))] {
		if a.Place.Arrange != Scatter && p.Node != ex.Ranking[i].Node {
			t.Fatalf("%s: taken %v, ranked %+v", text, picks, ex.Ranking)
		}
	}
}
