package store

import (
	"errors"
	"fmt"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/timeline"
)

// Place places a request now and starts it as a job. A *placer.Refusal says why
// not and, when it would fit later, from when on.
func (tx *Tx) Place(r placer.Request) (*Job, error) {
	return jobResult(tx.plans().place(r, func(snap *placer.Snapshot, a placer.Ask) (*placer.Plan, error) {
		plan, err := snap.Place(a, tx.now)
		return plan, withStart(snap, a, tx.now, err)
	}))
}

// PlaceAt places a request for a start at an instant, now or later. A job that
// is to start later has its nodes from then on, and starts by the clock.
func (tx *Tx) PlaceAt(r placer.Request, start time.Time) (*Job, error) {
	at := unix(start)
	if at < tx.now {
		return nil, fmt.Errorf("%w: a start at %s is past, it is %s now", ErrInvalid, stamp(at), stamp(tx.now))
	}
	return jobResult(tx.plans().place(r, func(snap *placer.Snapshot, a placer.Ask) (*placer.Plan, error) {
		plan, err := snap.Place(a, at)
		return plan, withStart(snap, a, tx.now, err)
	}))
}

// PlaceOrReserve places a request now or, if it does not fit now, at its earliest start.
func (tx *Tx) PlaceOrReserve(r placer.Request) (*Job, error) {
	return jobResult(tx.plans().place(r, func(snap *placer.Snapshot, a placer.Ask) (*placer.Plan, error) {
		return snap.Earliest(a, tx.now)
	}))
}

// plans is the transaction as far as it makes plans for jobs and carries them out.
type plans struct{ *Tx }

func (tx *Tx) plans() plans { return plans{tx} }

func (ps plans) place(r placer.Request, decide func(*placer.Snapshot, placer.Ask) (*placer.Plan, error)) (*row.Job, error) {
	if !ps.Writable() {
		return nil, ErrReadOnly
	}
	a, err := ps.Ask(r)
	if err != nil {
		return nil, err
	}
	if err := RolesOf(ps.Tx).asks(r); err != nil {
		return nil, err
	}
	snap, err := ps.snapshot(r.Queue)
	if err != nil {
		return nil, err
	}
	plan, err := decide(snap, a)
	if err != nil {
		return nil, err
	}
	return ps.newJob(r, a, plan)
}

// withStart adds to a refusal when the request could start, from an instant on.
func withStart(snap *placer.Snapshot, a placer.Ask, from int64, refused error) error {
	var r *placer.Refusal
	if !errors.As(refused, &r) || r.Kind != placer.ErrNotNow {
		return refused
	}
	if plan, err := snap.Earliest(a, from); err == nil {
		r.Start, r.HasStart = plan.Start, true
	}
	return refused
}

// Opening is a start that there is for a request.
type Opening struct {
	Start, End time.Time
	Plan       *placer.Plan // on which nodes
}

func opening(plan *placer.Plan) Opening {
	return Opening{time.Unix(plan.Start, 0), time.Unix(plan.End, 0), plan}
}

// When finds the first count starts of a request from an instant on, without changing
// anything: the earliest, then each later instant at which nodes are given back
// and it fits.
func (tx *Tx) When(r placer.Request, after time.Time, count int) ([]Opening, error) {
	plans, err := tx.plans().starts(r, unix(after), count)
	return converted(plans, opening), err
}

func (ps plans) starts(r placer.Request, after int64, count int) ([]*placer.Plan, error) {
	a, err := ps.Ask(r)
	if err != nil {
		return nil, err
	}
	snap, err := ps.snapshot(r.Queue)
	if err != nil {
		return nil, err
	}
	return snap.Starts(a, max(after, ps.now), count)
}

// newJob makes a job of a plan and carries the plan out.
func (ps plans) newJob(r placer.Request, a placer.Ask, plan *placer.Plan) (*row.Job, error) {
	defs, err := ps.Resources()
	if err != nil {
		return nil, err
	}
	j := ps.newcomer(r, a, defs)
	if err := ps.counters().admit(j, a.Spec, 1, plan.Start > ps.now); err != nil {
		return nil, err
	}
	j.ID = ps.state.NextJob
	ps.state.NextJob++
	return j, ps.machine().do(j, step{to: ps.stateOf(plan), plan: &plannedFor{a, plan}})
}

// newcomer is a new job for a request. Its policy is the one it names; placement decides otherwise.
func (ps plans) newcomer(r placer.Request, a placer.Ask, defs *index.Defs) *row.Job {
	sel, place := ps.loaded.sayings.normal(defs, r, a.Spec)
	return &row.Job{Name: r.Name, User: r.User, UID: RolesOf(ps.Tx).uid(r.User), Group: r.Group, Account: r.Account, Queue: r.Queue, Class: r.Class, Key: ps.key,
		Select: sel, Place: place, Walltime: a.Duration, Submit: ps.now,
		Access: a.Access, Reservation: r.Reservation, Prefer: r.Prefer, Exclude: r.Exclude, Bind: a.Bind, Policy: r.Policy, NoPolicy: r.Policy == "", Pools: a.Spec.Pools, OverLimits: r.OverLimits}
}

// stateOf is the state of a job with a plan.
func (ps plans) stateOf(plan *placer.Plan) JobState {
	if plan.Start > ps.now {
		return JobReserved
	}
	return JobRunning
}

// carryOut verifies a plan against the rows and carries it out for a job in the state that
// it gets.
func (ps plans) carryOut(j *row.Job, p *plannedFor) error {
	if err := ps.occupy(j, p); err != nil || j.State == JobReserved {
		return err
	}
	return ps.spoil(ps.nodeDevices().bind(j, p.ask.Chunks))
}

// occupy does the same but for the devices that a job gets as it starts.
func (ps plans) occupy(j *row.Job, p *plannedFor) error {
	a, plan := p.ask, p.Plan
	j.Start, j.End = plan.Start, plan.End
	j.Path, j.Policy, j.Set = plan.Path, plan.Policy, plan.Set
	if j.State == JobRunning {
		j.Attempt++
	}
	j.Chunks, j.Along = nil, nil
	for i, c := range plan.Chunks {
		jc := row.JobChunk{Count: a.Chunks[i].Count, Nodes: make([]row.JobNode, len(c.Picks))}
		for k, p := range c.Picks {
			jc.Nodes[k] = row.JobNode{Node: p.Node, Chunks: int(p.Chunks), Shared: p.Shared, Alone: p.Alone, Within: plan.Claims[p.Node] >> 1}
		}
		j.Chunks = append(j.Chunks, jc)
	}
	for _, p := range plan.Along {
		j.Along = append(j.Along, p.Node)
	}
	if err := ps.counters().take(j); err != nil {
		return ps.spoil(err)
	}
	if err := (placing{ps.Tx, j, a, plan}).occupy(); err != nil {
		return ps.spoil(err)
	}
	if j.State == JobReserved {
		if err := ps.file.Mark(row.Changes, row.TimeKey(j.Start, row.JobOwner(j.ID))); err != nil {
			return err
		}
	}
	return ps.loaded.releases.Put(j.End, row.JobOwner(j.ID), j.AllNodes())
}

// fewNodes is up to how many nodes are moved one by one: a bitmap is not worth
// making for them.
const fewNodes = 64

// placing is a plan for a job as it is carried out.
type placing struct {
	tx *Tx
	*row.Job
	ask  placer.Ask
	plan *placer.Plan
}

// occupy takes the plan's nodes. Whole nodes out of buckets: the calendar refuses
// one that is taken, the index one that is not in the class the plan found it in.
// All others are verified one by one. A plan that does not fit the state is never
// carried out in part, because the transaction fails.
func (p placing) occupy() error {
	if p.plan.Path == placer.NodePath {
		return p.occupyNodes()
	}
	ix, err := p.tx.index()
	if err != nil {
		return err
	}
	span := timeline.Busy{Start: p.plan.Start, End: p.plan.End, Owner: row.JobOwner(p.ID), Held: true}
	for _, c := range p.plan.Chunks {
		for _, pick := range c.Picks {
			if err := p.tx.calendar().Add(pick.Node, span); err != nil {
				return fmt.Errorf("%w: the plan does not fit: %w", ErrConflict, err)
			}
			if p.State == JobRunning && len(c.Picks) <= fewNodes {
				ix.Move(pick.Bucket, pick.Node, pick.Class, index.Busy)
			}
		}
		if p.State == JobRunning && len(c.Picks) > fewNodes {
			moveMany(ix, c.Picks)
		}
	}
	if p.State == JobReserved {
		return p.tx.nodeIndex().reclass(p.NodeNumbers(), p.Start)
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
		if err := p.tx.allocations().taking("the plan", t.Node, span, guest, p.User).Conflict(); err != nil {
			return err
		}
		if err := p.tx.calendar().Put(t.Node, span); err != nil {
			return err
		}
		nodes[i] = t.Node
	}
	return p.tx.nodeIndex().reclass(nodes, p.Start)
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
