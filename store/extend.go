package store

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/store/internal/takings"
	"github.com/placectl/placectl/store/internal/usage"
	"github.com/placectl/placectl/timeline"
)

// Extend gives a waiting, planned or running job another walltime, counted from its start. It fails
// with a Conflict if the job has ended, would have ended by now, or if its nodes are taken before
// the new end.
func (tx *Tx) Extend(id uint64, walltime time.Duration) (*Job, error) {
	return jobResult(tx.allocations().extend(id, seconds(walltime)))
}

// allocations is the part of a transaction that deals with jobs' allocations: what they have of
// their nodes, or will have, and for how long.
type allocations struct{ *Tx }

func (tx *Tx) allocations() allocations { return allocations{tx} }

func (al allocations) extend(id uint64, walltime int64) (*row.Job, error) {
	if !al.Writable() {
		return nil, ErrReadOnly
	}
	j, err := al.job(id)
	if err != nil {
		return nil, err
	}
	if err := RolesOf(al.Tx).owns(j); err != nil {
		return nil, err
	}
	what := "job " + strconv.FormatUint(id, 10)
	if walltime < 1 || walltime > maxWalltime {
		return nil, fmt.Errorf("%w walltime of %d s: it must be from 1 s to %d s", ErrInvalid, walltime, maxWalltime)
	}
	if j.Ending {
		return nil, row.Clash(what, "it is "+why(j.Ending, j.Reason.String()))
	}
	if j.State == JobRunning && j.Start+walltime <= al.now {
		return nil, row.Clash(what, fmt.Sprintf("it would have ended at %s already; release it instead", stamp(j.Start+walltime)))
	}
	if err := al.mayLast(j, walltime); err != nil {
		return nil, err
	}
	s := step{to: j.State, reason: j.Reason, change: func() { j.Walltime = walltime }}
	if walltime < j.Walltime && j.State != JobRunning {
		al.loaded.freed.Anywhere() // it may fit where it did not
	}
	if j.State == JobQueued || j.State == JobHeld {
		if err := al.counters().Rules.Disclaim(id); err != nil {
			return nil, err
		}
		s.change = func() { j.Walltime, j.Promised, j.Earliest = walltime, 0, 0 } // that was for less
		return j, al.machine().do(j, s)
	}
	spans, err := al.spans(j)
	if err != nil {
		return nil, err
	}
	if j.State == JobRunning || j.State == JobReserved {
		if err := al.mayReach(j, spans, j.Start+walltime); err != nil {
			return nil, err
		}
		if err := al.untilAnother(j, j.Start+walltime, &s); err != nil {
			return nil, err
		}
	}
	return j, al.machine().do(j, s)
}

// mayLast refuses a longer walltime that limits forbid for one job, or that would end after its
// deadline.
func (al allocations) mayLast(j *row.Job, walltime int64) error {
	if walltime <= j.Walltime || !j.State.Live() {
		return nil
	}
	longer := *j
	longer.Walltime = walltime
	if err := al.counters().alone(&longer); err != nil {
		return err
	}
	start := j.Start
	if stages[j.State] == waits {
		start = max(j.Begin, al.now)
	}
	if j.Deadline != 0 && start+walltime > j.Deadline {
		return row.Clash("job "+strconv.FormatUint(j.ID, 10), fmt.Sprintf("it has to end by its deadline, %s, and would end at %s", stamp(j.Deadline), stamp(start+walltime)))
	}
	return nil
}

// mayReach returns a Conflict if a job cannot keep its allocation until end. Its stretches get the
// new end.
func (al allocations) mayReach(j *row.Job, spans []span, end int64) error {
	what := "job " + strconv.FormatUint(j.ID, 10)
	guest, err := al.guest(j)
	if err != nil {
		return err
	}
	if err := al.staysWithin(what, j, end); err != nil {
		return err
	}
	if short, err := al.counters().Exceeds(j, max(j.End, al.now), end, false); err != nil {
		return err
	} else if short != "" {
		return row.Clash(what, short)
	}
	for i := range spans {
		spans[i].End = end
		if err := al.taking(what, spans[i].Node, spans[i].Busy, guest, j.User).Conflict(); err != nil {
			return err
		}
	}
	return nil
}

// staysWithin returns a Conflict if a job requires a reservation that ends before the job would.
func (al allocations) staysWithin(what string, j *row.Job, end int64) error {
	if j.Reservation == "" {
		return nil
	}
	list, err := al.reservations().occurrences(j.Reservation)
	if errors.Is(err, ErrNotFound) {
		return nil // it is gone, and blocks no job
	}
	if err != nil {
		return err
	}
	for _, r := range list {
		if r.Start <= j.Start && j.Start < r.End && end > r.End {
			return row.Clash(what, fmt.Sprintf("it insists on reservation %s, which ends at %s", r.Name, stamp(r.End)))
		}
	}
	return nil
}

// span is a stretch on a node.
type span = usage.Stretch

// spans is a job's allocation, by its row.
func (al allocations) spans(j *row.Job) ([]span, error) {
	if !j.State.Live() {
		return nil, nil
	}
	defs, err := al.Resources()
	if err != nil {
		return nil, err
	}
	chunks, err := al.asked(j)
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
	out := make([]span, len(takings))
	for i, t := range takings {
		out[i] = span{Node: t.Node, Busy: timeline.Busy{Start: j.Start, End: j.End, Owner: row.JobOwner(j.ID), Held: true, Use: t.Use}}
	}
	return out, al.nodeDevices().lessDrained(j, out)
}

// guest is a job as its nodes see it: with what it does not conflict with.
func (al allocations) guest(j *row.Job) (*placer.Guest, error) {
	grants, err := al.reservations().grants(subject(j), "", min(al.now, j.Start))
	return &placer.Guest{Grants: grants, Owner: row.JobOwner(j.ID)}, err
}

// occupyAgain puts a job back on its nodes, for its time as it is now.
func (al allocations) occupyAgain(j *row.Job, spans []span, was JobState) error {
	for _, s := range spans {
		if err := al.calendar().Put(s.Node, s.Busy); err != nil {
			return err
		}
	}
	if err := al.counters().Hold(j); err != nil {
		return err
	}
	if err := al.nodeIndex().reclass(j.AllNodes(), j.Start); err != nil {
		return err
	}
	owner := row.JobOwner(j.ID)
	if was == JobReserved {
		if err := al.file.Mark(row.Changes, row.TimeKey(j.Start, owner)); err != nil {
			return err
		}
	}
	if j.EndsByClock() {
		if err := al.file.Mark(row.Changes, row.TimeKey(j.End, owner)); err != nil {
			return err
		}
	}
	return al.loaded.releases.Put(j.End, owner, j.AllNodes())
}

// taking is a use of a node that still needs verifying.
func (al allocations) taking(what string, node uint32, b timeline.Busy, guest timeline.Guest, user string) takings.Taking {
	src := takings.Source{Calendar: al.calendar, Nodes: al.loaded.nodes, UserOf: rows{al.Tx}.User,
		Owner: func(b timeline.Busy) (fmt.Stringer, error) { return al.Owner(b) }}
	return takings.Taking{Source: src, What: what, Node: node, Span: b, Guest: guest, User: user}
}
