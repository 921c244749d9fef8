package cluster

import (
	"fmt"
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/timeline"
)

// A Cluster is a set of nodes, and the jobs that have them over time.
type Cluster struct {
	defs  *index.Defs
	nodes []*index.Node // by number
	names map[string]uint32
	rooms [][]index.Amount // by node: what the index was told is left
	snap  placer.Snapshot

	placed map[uint64]*Placement // by owner
	ends   []change              // of all placements, ascending
	starts []change              // of planned ones
}

// A Placement is an owner's part of the nodes, from Start to End.
type Placement struct {
	Owner      uint64
	User       string
	Start, End int64
	Takings    []placer.Taking
	nodes      []uint32
}

// New makes a cluster of empty nodes at an instant. It numbers the nodes in the given order. It fails if
// two have the same name.
func New(defs *index.Defs, nodes []*index.Node, rules placer.Rules, now int64) (*Cluster, error) {
	c := &Cluster{defs: defs, nodes: nodes, names: make(map[string]uint32, len(nodes)),
		rooms:  make([][]index.Amount, len(nodes)),
		placed: make(map[uint64]*Placement)}
	ix := index.New(defs, defs.DefaultSignature(), nil, index.Limits{})
	for i, n := range nodes {
		if _, twice := c.names[n.Name]; twice {
			return nil, fmt.Errorf("cluster: there are two nodes %s", n.Name)
		}
		c.names[n.Name] = uint32(i)
		n.Number = uint32(i)
		ix.Insert(n, index.Free)
	}
	c.snap = placer.Snapshot{Index: ix, Calendar: timeline.NewCalendar(nil, now, 1), Now: now, Rules: rules,
		Releases: c.releases, Rows: rows{c}}
	return c, ix.Err()
}

// Defs returns the resources of the nodes.
func (c *Cluster) Defs() *index.Defs { return c.defs }

// Nodes returns the nodes by number. Do not change them.
func (c *Cluster) Nodes() []*index.Node { return c.nodes }

// Fits reports whether a request fits now. It fails with a *placer.Refusal if it does not.
func (c *Cluster) Fits(a placer.Ask) error {
	_, err := c.snap.Place(a, c.snap.Now)
	return err
}

// Take carries out a plan for a request. It verifies that what the plan takes is free.
func (c *Cluster) Take(a *placer.Ask, plan *placer.Plan, owner uint64) (*Placement, error) {
	p := &Placement{Owner: owner, User: a.User, Start: plan.Start, End: plan.End,
		Takings: plan.Takings(c.defs, a.Chunks)}
	for _, t := range p.Takings {
		p.nodes = append(p.nodes, t.Node)
	}
	back, err := c.Restore(p)
	if err == nil && !back {
		err = fmt.Errorf("cluster: the plan for owner %d does not fit", owner)
	}
	return p, err
}

// Restore puts a removed placement back. It returns false if others have taken its place.
func (c *Cluster) Restore(p *Placement) (bool, error) {
	if c.placed[p.Owner] != nil {
		return false, fmt.Errorf("cluster: owner %d has a placement already", p.Owner)
	}
	if !c.free(p) {
		return false, c.snap.Calendar.Err()
	}
	c.placed[p.Owner] = p
	for _, t := range p.Takings {
		if err := c.snap.Calendar.Put(t.Node, timeline.Busy{Start: p.Start, End: p.End, Owner: p.Owner,
			Use: t.Use}); err != nil {
			return false, err
		}
	}
	c.ends = insert(c.ends, change{p.End, p.Owner})
	if p.Start > c.snap.Now {
		c.starts = insert(c.starts, change{p.Start, p.Owner})
	}
	return true, c.reclass(p.nodes)
}

// free reports whether the nodes have room for a placement.
func (c *Cluster) free(p *Placement) bool {
	for _, t := range p.Takings {
		quantities, left := placer.Consumables(c.defs, c.nodes[t.Node])
		peak := make([]int64, len(quantities))
		standing := c.snap.Calendar.Taken(t.Node, p.Start, p.End, nil, quantities, peak)
		if standing == timeline.Whole || t.Use == nil && standing != timeline.Idle {
			return false
		}
		if t.Use == nil {
			continue
		}
		for _, a := range t.Use.Amounts {
			i := slices.Index(quantities, a.Quantity)
			if i < 0 || left[i]-peak[i] < a.N {
				return false
			}
		}
	}
	return true
}

// Remove removes an owner's placement and returns it, or nil if there is none.
func (c *Cluster) Remove(owner uint64) (*Placement, error) {
	p := c.placed[owner]
	if p == nil {
		return nil, nil
	}
	if err := c.forget(p); err != nil {
		return nil, err
	}
	c.ends = drop(c.ends, change{p.End, owner})
	c.starts = drop(c.starts, change{p.Start, owner})
	return p, c.reclass(p.nodes)
}

// forget removes a placement from the calendar.
func (c *Cluster) forget(p *Placement) error {
	delete(c.placed, p.Owner)
	for _, node := range p.nodes {
		if err := c.snap.Calendar.Remove(node, p.Owner); err != nil {
			return err
		}
	}
	return nil
}

// reclass tells the index the state of nodes.
func (c *Cluster) reclass(nodes []uint32) error {
	ix, calendar := c.snap.Index, c.snap.Calendar
	for _, number := range nodes {
		n := c.nodes[number]
		b := ix.Bucket(n.Bucket)
		class := placer.ClassNow(calendar, number)
		ix.Move(b, number, ix.ClassOf(b, number), class)
		var room []index.Amount
		if class == index.Busy && placer.SharedBy(calendar, number, calendar.Now()) {
			room = placer.RoomNow(calendar, c.defs, n)
		}
		if (room == nil) != (c.rooms[number] == nil) || !slices.Equal(room, c.rooms[number]) {
			ix.SetRoom(number, c.rooms[number], room)
			c.rooms[number] = room
		}
	}
	return ix.Err()
}
