// Package plan reads requests, and takes and frees what they get: nodes, devices, pools,
// limits and reservations.
package plan

import (
	"errors"
	"fmt"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/timeline"
)

// Plans is the part of a transaction that makes plans for jobs and carries them out.
type Plans struct{ tx *kernel.Tx }

func PlansOf(tx *kernel.Tx) Plans { return Plans{tx} }

// WithStart adds to a refusal when the request could start, from an instant on.
func WithStart(snap *placer.Snapshot, a placer.Ask, from int64, refused error) error {
	var r *placer.Refusal
	if !errors.As(refused, &r) || r.Kind != placer.ErrNotNow {
		return refused
	}
	if plan, err := snap.Earliest(a, from); err == nil {
		r.Start, r.HasStart, r.Overdue = plan.Start, true, placer.RestsOn(snap.Calendar, plan)>>1
	}
	return refused
}

// Opening is a possible start of a request.
type Opening struct {
	Start, End time.Time
	Plan       *placer.Plan // with its nodes
}

func OpeningAt(plan *placer.Plan) Opening {
	return Opening{time.Unix(plan.Start, 0), time.Unix(plan.End, 0), plan}
}

func (ps Plans) Starts(r placer.Request, after int64, count int) ([]*placer.Plan, error) {
	a, err := AskFor(ps.tx, r)
	if err != nil {
		return nil, err
	}
	snap, err := Snapshot(ps.tx, r.Queue)
	if err != nil {
		return nil, err
	}
	return snap.Starts(a, max(after, ps.tx.Now), count)
}

// CarryOut verifies a plan against the rows and carries it out for a job in its new state.
func (ps Plans) CarryOut(j *row.Job, p *PlannedFor) error {
	if err := ps.Occupy(j, p); err != nil || j.State == row.JobReserved {
		return err
	}
	return ps.tx.Spoil(BindDevices(ps.tx, j, p.Ask.Chunks))
}

// Occupy does the same, except for the devices that a job gets when it starts.
func (ps Plans) Occupy(j *row.Job, p *PlannedFor) error {
	a, plan := p.Ask, p.Plan
	j.Start, j.End = plan.Start, plan.End
	j.Path, j.Policy, j.Set = plan.Path, plan.Policy, plan.Set
	if j.State == row.JobRunning {
		j.Attempt, j.Exit = j.Attempt+1, 0 // the exit of an earlier attempt is in its row
	}
	j.Chunks, j.Along = nil, nil
	for i, c := range plan.Chunks {
		jc := row.JobChunk{Count: a.Chunks[i].Count, Nodes: make([]row.JobNode, len(c.Picks))}
		for k, p := range c.Picks {
			jc.Nodes[k] = row.JobNode{Node: p.Node, Chunks: int(p.Chunks), Shared: p.Shared, Alone: p.Alone,
				Within: plan.Claims[p.Node] >> 1}
		}
		j.Chunks = append(j.Chunks, jc)
	}
	for _, p := range plan.Along {
		j.Along = append(j.Along, p.Node)
	}
	if err := take(ps.tx, j); err != nil {
		return ps.tx.Spoil(err)
	}
	if err := (placing{ps.tx, j, a, plan}).occupy(); err != nil {
		return ps.tx.Spoil(err)
	}
	if j.State == row.JobReserved {
		if err := ps.tx.File.Mark(row.Changes, row.TimeKey(j.Start, row.JobOwner(j.ID))); err != nil {
			return err
		}
	}
	return ps.tx.Loaded.Releases.Put(j.End, row.JobOwner(j.ID), j.AllNodes())
}

// fewNodes is the largest number of nodes to move one by one. A bitmap does not pay off for so
// few.
const fewNodes = 64

// placing is a plan for a job that is being carried out.
type placing struct {
	tx *kernel.Tx
	*row.Job
	ask  placer.Ask
	plan *placer.Plan
}

// occupy takes the plan's nodes. For whole nodes of buckets, the calendar refuses a taken node, and
// the index one that is no longer in the class where the plan found it. All others are verified one
// by one. A plan that does not fit the state is never carried out in part, because the transaction
// fails.
func (p placing) occupy() error {
	if p.plan.Path == placer.NodePath {
		return p.occupyNodes()
	}
	ix, err := p.tx.Index()
	if err != nil {
		return err
	}
	span := timeline.Busy{Start: p.plan.Start, End: p.plan.End, Owner: row.JobOwner(p.ID), Held: true}
	for _, c := range p.plan.Chunks {
		for _, pick := range c.Picks {
			if err := p.tx.Calendar().Add(pick.Node, span); err != nil {
				return fmt.Errorf("%w: the plan does not fit: %w", row.ErrConflict, err)
			}
			if p.State == row.JobRunning && len(c.Picks) <= fewNodes {
				ix.Move(pick.Bucket, pick.Node, pick.Class, index.Busy)
			}
		}
		if p.State == row.JobRunning && len(c.Picks) > fewNodes {
			moveMany(ix, c.Picks)
		}
	}
	if p.State == row.JobReserved {
		return p.tx.NodeIndex().Reclass(p.NodeNumbers(), p.Start)
	}
	return ix.Err()
}

// occupyNodes takes nodes, or amounts of them.
func (p placing) occupyNodes() error {
	defs, err := p.tx.Resources()
	if err != nil {
		return err
	}
	guest := &placer.Guest{Grants: p.ask.Grants, Owner: row.JobOwner(p.ID)}
	takings := p.plan.Takings(defs, p.ask.Chunks)
	nodes := make([]uint32, len(takings))
	for i, t := range takings {
		span := timeline.Busy{Start: p.plan.Start, End: p.plan.End, Owner: row.JobOwner(p.ID), Held: true, Use: t.Use}
		if err := (Taking{Tx: p.tx, What: "the plan", Node: t.Node, Span: span, Guest: guest,
			User: p.User}).Conflict(); err != nil {
			return err
		}
		if err := p.tx.Calendar().Put(t.Node, span); err != nil {
			return err
		}
		nodes[i] = t.Node
	}
	return p.tx.NodeIndex().Reclass(nodes, p.Start)
}

// moveMany makes the picked nodes busy, all those of a bucket and class at once.
func moveMany(ix *index.Index, picks []placer.Pick) {
	type group struct {
		bucket *index.Bucket
		class  index.Class
	}
	moves := make(map[group]*roaring.Bitmap)
	for _, p := range picks {
		g := group{p.Bucket, p.Class}
		if moves[g] == nil {
			moves[g] = roaring.New()
		}
		moves[g].Add(p.Node)
	}
	for g, nodes := range moves {
		ix.MoveMany(g.bucket, nodes, g.class, index.Busy)
	}
}

// PlannedFor is a plan and its request.
type PlannedFor struct {
	Ask placer.Ask
	*placer.Plan
}
