package kernel

import (
	"fmt"
	"slices"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/usage"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/timeline"
)

// Allocation is a stretch of time in which a job or a reservation has a node or part of it.
type Allocation struct {
	Owner
	Start time.Time
	End   time.Time // expected end: later than Due for an overdue job
	Due   time.Time
	Now   bool // it is under way
}

// Occupancy describes what is on a node and planned for it.
type Occupancy struct {
	State     index.NodeState
	Jobs      int            // number of jobs that run on it
	FreeUntil time.Time      // when it is next taken; zero if it is not free now, or nothing is planned
	Left      []index.Amount // of its consumables, if it is shared now
	FreeFrom  time.Time      // when everything on it is expected to have ended; zero if it is free
}

// Occupancy returns what is on a node and planned for it.
func (tx *Tx) Occupancy(n *index.Node) (Occupancy, error) {
	c := tx.Calendar()
	var o Occupancy
	var freeFrom int64
	for _, b := range c.At(n.Number) {
		if !c.Live(b) {
			continue
		}
		freeFrom = max(freeFrom, c.End(b))
		if !b.Claim {
			o.Jobs++
		}
	}
	o.FreeFrom = Instant(freeFrom)
	class := tx.NodeIndex().ClassOf(n.Number)
	if n.State == index.Up && class == index.Busy && placer.SharedBy(c, n.Number, c.Now()) {
		o.Left = tx.Left(n)
	}
	if o.State = nodeState(n, class, o.Left); o.State == index.NodeFree && class == index.Later {
		if next := c.NextBusy(n.Number, tx.Now); next != timeline.Forever {
			o.FreeUntil = Instant(next)
		}
	}
	return o, c.Err()
}

// nodeState returns the state of a node. If it is busy, left is what remains of its consumables, or
// nil if a job has it exclusively.
func nodeState(n *index.Node, class index.Class, left []index.Amount) index.NodeState {
	switch {
	case n.State != index.Up:
		return n.State.NotUp()
	case class != index.Busy:
		return index.NodeFree
	case placer.Partly(n, left):
		return index.NodePartly
	}
	return index.NodeBusy
}

// Used returns the part of a node's time that jobs have had since the statistics were reset, 0 to
// 1.
func (tx *Tx) Used(n *index.Node) (float64, error) {
	since := tx.State.UsageSince
	if tx.Now <= since || since == 0 {
		return 0, nil
	}
	b, err := tx.Loaded.Usage.Block(n.Number / timeline.BlockNodes)
	if err != nil {
		return 0, err
	}
	had := b[n.Number%timeline.BlockNodes]
	for _, s := range tx.Calendar().At(n.Number) {
		if s.Claim || !tx.Calendar().Live(s) {
			continue
		}
		taken := usage.CPUs(n)
		if s.Use != nil {
			if taken, err = tx.Loaded.Usage.CPUsOf(n.Number, s); err != nil {
				return 0, err
			}
		}
		had += taken * (tx.Now - max(s.Start, since))
	}
	return min(1, float64(had)/float64(usage.CPUs(n)*(tx.Now-since))), nil
}

// Accrue counts a running job's use of its nodes up to now.
func (al Allocations) Accrue(j *row.Job) error {
	from, now := max(j.Start, al.tx.State.UsageSince), al.tx.Instant()
	if from >= now {
		return nil
	}
	spans, err := al.Spans(j)
	if err != nil {
		return err
	}
	return al.tx.Loaded.Usage.Accrue(spans, now-from)
}

// Left returns what remains of a node's consumables now: all of them if the node is free, none if a
// job has it exclusively.
func (tx *Tx) Left(n *index.Node) []index.Amount { return tx.LeftAt(n, tx.Calendar().Now()) }

// LeftAt returns the same for another instant, as far as it is planned.
func (tx *Tx) LeftAt(n *index.Node, at int64) []index.Amount {
	c := tx.Calendar()
	defs, err := tx.Resources()
	if err != nil {
		return nil // the caller finds out: nothing can be placed or read without them
	}
	quantities, capacity := placer.Consumables(defs, n)
	peak := make([]int64, len(quantities))
	standing := c.Taken(n.Number, at, at+1, nil, quantities, peak)
	out := make([]index.Amount, len(quantities))
	for i, q := range quantities {
		out[i].Res = index.ResID(q)
		if standing != timeline.Whole {
			out[i].Value.Num = max(0, capacity[i]-peak[i])
		}
	}
	return out
}

// Allocations is the part of a transaction that deals with jobs' allocations: what they have of
// their nodes, or will have, and for how long.
type Allocations struct{ tx *Tx }

func (tx *Tx) Allocations() Allocations { return Allocations{tx} }

// Span is a stretch on a node.
type Span = usage.Stretch

// Spans returns a job's allocation from its row.
func (al Allocations) Spans(j *row.Job) ([]Span, error) {
	if !j.State.Live() {
		return nil, nil
	}
	defs, err := al.tx.Resources()
	if err != nil {
		return nil, err
	}
	chunks, err := al.tx.Asked(j)
	if err != nil {
		return nil, err
	}
	plan := placer.Plan{Chunks: make([]placer.Allotment, len(j.Chunks)), Claims: make(map[uint32]uint64)}
	for i, c := range j.Chunks {
		for _, n := range c.Nodes {
			if n.Within != 0 {
				plan.Claims[n.Node] = row.ReservationOwner(n.Within)
			}
			plan.Chunks[i].Picks = append(plan.Chunks[i].Picks,
				placer.Pick{Node: n.Node, Chunks: int32(n.Chunks), Shared: n.Shared, Alone: n.Alone})
		}
	}
	for _, n := range j.Along {
		plan.Along = append(plan.Along, placer.Pick{Node: n})
	}
	takings := plan.Takings(defs, chunks)
	out := make([]Span, len(takings))
	for i, t := range takings {
		out[i] = Span{Node: t.Node, Busy: timeline.Busy{Start: j.Start, End: j.End, Owner: row.JobOwner(j.ID),
			Held: true, Use: t.Use}}
	}
	return out, al.tx.NodeDevices().lessDrained(j, out)
}

// Plans deal only in amounts. If a node names its devices, the transaction that starts a job
// and verifies the amounts also chooses the job's devices. They stay in the job's row until it
// has ended. Each unit of an amount is a device, and jobs together never hold more than the
// node has. So as many devices are free as the amounts say.

// NodeDevices is the part of a transaction that deals with devices that nodes name.
type NodeDevices struct{ tx *Tx }

func (tx *Tx) NodeDevices() NodeDevices { return NodeDevices{tx} }

// lessDrained removes devices that were drained since a job began from the amounts of its
// stretches: a node's amounts no longer include them.
func (ds NodeDevices) lessDrained(j *row.Job, spans []Span) error {
	for _, d := range j.Devices {
		i := slices.IndexFunc(spans, func(s Span) bool { return s.Node == d.Node })
		if i < 0 || spans[i].Use == nil {
			continue
		}
		named, err := ds.tx.Loaded.Nodes.Devices(d.Node)
		if err != nil {
			return err
		}
		k := named.Find(d.Res)
		if k < 0 {
			return fmt.Errorf("%w: job %d has devices of node %d, which names none", row.ErrDamaged, j.ID, d.Node)
		}
		gone := int64(d.Which.AndNot(named.Layouts[k].InService()).Count())
		for a := range spans[i].Use.Amounts {
			if amount := &spans[i].Use.Amounts[a]; amount.Quantity == uint16(d.Res) {
				amount.N -= gone
			}
		}
	}
	return nil
}
