package placer

import (
	"testing"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/timeline"
	"pgregory.net/rapid"
)

// TestSooner: a planned request cannot start before the instant that Sooner returns.
func TestSooner(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawSite(t, 8, false)
		c.Rules.GroupKey = nil
		for _, n := range c.nodes {
			if rapid.Bool().Draw(t, "busy") {
				b := timeline.Busy{Start: c.Now - 1, End: c.Now + rapid.Int64Range(1, 9).Draw(t, "ends"),
					Owner: c.newOwner("ann"), Held: true}
				if cpus, _ := n.Get(index.NCPUs); rapid.Bool().Draw(t, "part") {
					b.Use = &timeline.Use{
						Amounts: []timeline.Amount{
							{Quantity: uint16(index.NCPUs), N: rapid.Int64Range(1, cpus.Num).Draw(t, "cpus")}}}
				}
				c.put(t, n.Number, b)
			}
		}
		for range 4 {
			c.checkSooner(t)
		}
	})
}

// checkSooner plans a request later than it could start, and queries how soon it might start.
func (c *site) checkSooner(t *rapid.T) {
	a := c.drawShared(t, false)
	a.Chunks, a.Grants, a.Place.HasGroup = a.Chunks[:1], nil, false
	if _, beyond := c.Buckets(a); beyond || a.Place.Arrange == Pack || a.Policy == Contiguous {
		return // passes do not compare those
	}
	plans, err := c.Starts(a, c.Now, rapid.IntRange(1, 4).Draw(t, "starts"))
	if err != nil {
		return
	}
	plan := plans[len(plans)-1]
	own := timeline.Own{Owner: c.newOwner(a.User)}
	for _, take := range plan.Takings(c.defs, a.Chunks) {
		own.Nodes = append(own.Nodes, take.Node)
		c.put(t, take.Node, timeline.Busy{Start: plan.Start, End: plan.End, Owner: own.Owner, Held: true,
			Use: take.Use})
	}
	c.drawStepped(t)
	got, err := c.Sooner(a, own, nil, c.Now, plan.Start)
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range own.Nodes {
		if err := c.Calendar.Remove(node, own.Owner); err != nil {
			t.Fatal(err)
		}
		c.refresh(node)
	}
	if first := plans[0]; got > first.Start {
		t.Fatalf("not before %d, but it could start at %d: %s", got, first.Start, c.text(a))
	}
}
