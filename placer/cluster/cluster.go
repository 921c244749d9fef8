package cluster

import (
	"fmt"
	"math"
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/timeline"
)

// A Cluster is nodes, and who has them when.
type Cluster struct {
	defs  *index.Defs
	nodes []*index.Node // by number
	names map[string]uint32
	rooms [][]index.Amount // by node: what the index was told is left of it
	stock []stock          // by node
	snap  placer.Snapshot

	placed   map[uint64]*Placement // by owner
	profiles [][]step              // by node; nil for those that are not known (look.go)
	endings  []change              // of all placements, ascending
	limit    int64                 // of a search: no ending from there on is told
	starts   []change              // of those that are planned
}

// A stock is what a node has of what jobs use up.
type stock struct {
	quantities []uint16 // ascending, as the calendar numbers them
	capacity   []int64
}

// A Placement is what an owner has of the nodes, from Start until End.
type Placement struct {
	Owner      uint64
	Start, End int64
	Takings    []placer.Taking
	nodes      []uint32
}

// New makes a cluster of nodes on which nothing is, at an instant. It numbers the
// nodes in the order given. It fails when two have the same name.
func New(defs *index.Defs, nodes []*index.Node, rules placer.Rules, now int64) (*Cluster, error) {
	c := &Cluster{defs: defs, nodes: nodes, names: make(map[string]uint32, len(nodes)), rooms: make([][]index.Amount, len(nodes)), profiles: make([][]step, len(nodes)),
		placed: make(map[uint64]*Placement), limit: math.MaxInt64}
	ix := index.New(defs, defs.DefaultSignature(), nil, index.Limits{})
	for i, n := range nodes {
		if _, twice := c.names[n.Name]; twice {
			return nil, fmt.Errorf("cluster: there are two nodes %s", n.Name)
		}
		c.names[n.Name] = uint32(i)
		n.Number = uint32(i)
		quantities, capacity := placer.Consumables(defs, n)
		c.stock = append(c.stock, stock{quantities, capacity})
		ix.Insert(n, index.Free)
	}
	c.snap = placer.Snapshot{Index: ix, Calendar: timeline.NewCalendar(nil, now, 1), Now: now, Rules: rules, Endings: c.endingsAfter, Rows: rows{c}}
	return c, ix.Err()
}

// Defs are the resources that the nodes have.
func (c *Cluster) Defs() *index.Defs { return c.defs }

// Nodes are the nodes by number, for reading only.
func (c *Cluster) Nodes() []*index.Node { return c.nodes }

// Of is what an owner has, nil for nothing, or nothing any more.
func (c *Cluster) Of(owner uint64) *Placement { return c.placed[owner] }

// Fits tells whether a request fits now, and changes nothing. It fails with a
// *placer.Refusal when it does not.
func (c *Cluster) Fits(a placer.Ask) error {
	_, err := c.snap.Place(a, c.snap.Now)
	return err
}

// Place places a request from now on. It fails with a *placer.Refusal.
func (c *Cluster) Place(a placer.Ask, owner uint64) (*Placement, error) {
	plan, err := c.snap.Place(a, c.snap.Now)
	if err != nil {
		return nil, err
	}
	return c.carryOut(a, plan, owner)
}

// Earliest places a request at the earliest instant at which it fits that is not
// before from, and before limit. It fails with a *placer.Refusal.
func (c *Cluster) Earliest(a placer.Ask, owner uint64, from, limit int64) (*Placement, error) {
	c.limit = limit
	plan, err := c.snap.Earliest(a, from)
	c.limit = math.MaxInt64
	if err != nil {
		return nil, err
	}
	return c.carryOut(a, plan, owner)
}

func (c *Cluster) carryOut(a placer.Ask, plan *placer.Plan, owner uint64) (*Placement, error) {
	p := &Placement{Owner: owner, Start: plan.Start, End: plan.End, Takings: plan.Takings(c.defs, a.Chunks)}
	for _, t := range p.Takings {
		p.nodes = append(p.nodes, t.Node)
	}
	return p, c.Restore(p)
}

// Restore puts a placement back that was removed since its nodes were found free.
func (c *Cluster) Restore(p *Placement) error {
	if c.placed[p.Owner] != nil {
		return fmt.Errorf("cluster: owner %d has a placement already", p.Owner)
	}
	c.placed[p.Owner] = p
	for _, t := range p.Takings {
		b := timeline.Busy{Start: p.Start, End: p.End, Owner: p.Owner, Use: t.Use}
		take := c.snap.Calendar.Put
		if t.Use == nil {
			take = c.snap.Calendar.Add // which verifies that the node is free
		}
		if err := take(t.Node, b); err != nil {
			return err
		}
	}
	c.endings = insert(c.endings, change{p.End, p.Owner})
	if p.Start > c.snap.Now {
		c.starts = insert(c.starts, change{p.Start, p.Owner})
	}
	return c.reclass(p.nodes)
}

// Remove gives back what an owner has, and returns it; nil when that is nothing.
func (c *Cluster) Remove(owner uint64) (*Placement, error) {
	p := c.placed[owner]
	if p == nil {
		return nil, nil
	}
	if err := c.forget(p); err != nil {
		return nil, err
	}
	c.endings = drop(c.endings, change{p.End, owner})
	c.starts = drop(c.starts, change{p.Start, owner})
	return p, c.reclass(p.nodes)
}

// forget takes a placement out of the calendar.
func (c *Cluster) forget(p *Placement) error {
	delete(c.placed, p.Owner)
	for _, node := range p.nodes {
		if err := c.snap.Calendar.Remove(node, p.Owner); err != nil {
			return err
		}
	}
	return nil
}

// reclass tells the index how nodes stand now.
func (c *Cluster) reclass(nodes []uint32) error {
	ix, calendar := c.snap.Index, c.snap.Calendar
	for _, number := range nodes {
		c.profiles[number] = nil
		n := c.nodes[number]
		b := ix.Bucket(n.Bucket)
		class := placer.ClassNow(calendar, number)
		ix.Move(b, number, ix.ClassOf(b, number), class)
		var room []index.Amount
		if class == index.Busy && placer.SharedEver(calendar, number) {
			room = placer.RoomNow(calendar, c.defs, n)
		}
		if (room == nil) != (c.rooms[number] == nil) || !slices.Equal(room, c.rooms[number]) {
			ix.SetRoom(number, c.rooms[number], room)
			c.rooms[number] = room
		}
	}
	return ix.Err()
}
