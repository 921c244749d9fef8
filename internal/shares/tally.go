// Package shares counts what classes have and want of the cluster, in the unit of class
// shares, and says how much each may start. From jobs and reservations it makes a state, on
// which package fairshare plans.
package shares

import (
	"cmp"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/nodes"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/usage"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/placer/subject"
)

// Classes finds the class whose share a job uses; "" for none.
type Classes interface {
	OfJob(who subject.Names) (string, error)
}

// Allocations finds a job's nodes, and its time on them.
type Allocations interface {
	Spans(j *row.Job) ([]usage.Stretch, error)
}

// Overdue tells how long an owner past its end is expected to continue, in seconds from now.
type Overdue interface {
	Overrun(owner uint64) int64
}

// Limits are pools and limits.
type Limits interface {
	// Lets reports whether pools and limits let a waiting job start now.
	Lets(j *row.Job) (bool, error)
}

// Source is what a tally reads.
type Source struct {
	Now         int64 // Unix seconds
	Defs        *index.Defs
	Nodes       *nodes.Rows
	Classes     Classes
	Allocations Allocations
	Overdue     Overdue
}

// Tally counts jobs into the classes of a state. A caller that goes through the jobs anyway,
// such as a cycle, passes them to Runs and Waits.
type Tally struct {
	Source
	State  fairshare.State
	unit   Unit
	places map[string]int    // in State.Classes, by name
	known  map[[2]string]int // the same, by class and user
	asked  map[string]int64
	spare  fairshare.Spare
	notUp  *roaring.Bitmap

	running []stretch       // running jobs
	starts  map[uint64]bool // the jobs that Waits has counted
}

// NewTally returns a tally in a unit, with nothing running or waiting.
func NewTally(src Source, unit Unit, set *fairshare.Settings, timer fairshare.Timer, ix *index.Index) *Tally {
	t := &Tally{Source: src, unit: unit, known: make(map[[2]string]int), asked: make(map[string]int64),
		spare: set.Spare, notUp: ix.NotUp(), starts: make(map[uint64]bool)}
	t.State.Now, t.State.Rebalance, t.State.Timer = src.Now, set.Rebalance, timer
	t.State.Classes, t.places = set.NewClasses()
	t.State.TotalWorkers = sum(0, int(unit.inService(ix)))
	return t
}

// Keeps counts what a reservation keeps from all users as away.
func (t *Tally) Keeps(r *row.Reservation) error {
	if r.Start > t.Now || r.End <= t.Now || len(r.Access) > 0 {
		return nil
	}
	amount := int64(0)
	for i, node := range r.Nodes {
		if t.notUp.Contains(node) {
			continue
		}
		n, err := t.unit.amountOn(t.Nodes, node, r.Span(i).Use)
		if err != nil {
			return err
		}
		amount = index.Plus(amount, n)
	}
	t.State.Away = sum(t.State.Away, int(t.unit.steps(amount)))
	return nil
}

// sum adds units, up to the most that shares plan with.
func sum(a, b int) int { return int(min(index.Plus(int64(a), int64(b)), fairshare.MaxCount)) }

// Runs counts a running job.
func (t *Tally) Runs(j *row.Job) error {
	if j.Ending {
		return nil // it is already giving back its nodes
	}
	c, err := t.class(j)
	if c == nil || err != nil {
		return err
	}
	units, err := t.Held(j)
	if err != nil {
		return err
	}
	c.Running = sum(c.Running, units)
	at, err := t.Place(j)
	if err != nil {
		return err
	}
	end := j.End
	if end <= t.Now {
		end = t.Now + t.Overdue.Overrun(row.JobOwner(j.ID))
	}
	t.running = append(t.running, stretch{at, units, end, lineJobOf(j)})
	if !j.Queued || units == 0 {
		return nil // placed by hand: nothing else stops it
	}
	if t.Now-j.Start < t.spare.MinRun || t.spare.AtMost > 0 && len(j.YieldedTo) >= t.spare.AtMost {
		return nil
	}
	c.Tasks = append(c.Tasks, fairshare.Task{ID: j.ID, Start: j.Start, Units: units})
	return nil
}

// Waits counts a waiting job, if only nodes keep it from starting now. Jobs that are not
// counted keep nothing from other classes.
func (t *Tally) Waits(j *row.Job, limits Limits) error {
	c, err := t.class(j)
	if c == nil || err != nil {
		return err
	}
	if lets, err := limits.Lets(j); j.Never || !lets || err != nil {
		return err
	}
	t.starts[j.ID] = true
	units, err := t.Wants(j)
	c.Waiting = sum(c.Waiting, units)
	return err
}

// class returns a job's class, or nil in a store without classes.
func (t *Tally) class(j *row.Job) (*fairshare.Class, error) {
	if len(t.State.Classes) == 0 {
		return nil, nil
	}
	at, err := t.Place(j)
	if err != nil {
		return nil, err
	}
	return &t.State.Classes[at], nil
}

// Place returns the position of a job's class in the state.
func (t *Tally) Place(j *row.Job) (int, error) {
	who := [2]string{j.Class, j.User}
	at, known := t.known[who]
	if !known {
		name, err := t.Classes.OfJob(j.Whose())
		if err != nil {
			return 0, err
		}
		at = t.places[name]
		t.known[who] = at
	}
	return at, nil
}

// Held returns how many units a running job has on nodes that are up.
func (t *Tally) Held(j *row.Job) (int, error) {
	spans, err := t.Allocations.Spans(j)
	if err != nil {
		return 0, err
	}
	amount := int64(0)
	for _, s := range spans {
		if t.notUp.Contains(s.Node) {
			continue
		}
		n, err := t.unit.amountOn(t.Nodes, s.Node, s.Use)
		if err != nil {
			return 0, err
		}
		amount = index.Plus(amount, n)
	}
	return sum(0, int(t.unit.steps(amount))), nil
}

// Wants returns how many units a waiting job asks for. It caches them, because many jobs ask
// for the same.
func (t *Tally) Wants(j *row.Job) (int, error) {
	key := j.Select + "\x00" + j.Place
	units, known := t.asked[key]
	if !known {
		spec, err := placer.Parse(t.Defs, placer.Request{Select: j.Select, Place: j.Place})
		if err != nil {
			return 0, err
		}
		units = t.unit.asked(t.Defs, spec)
		t.asked[key] = units
	}
	return int(units), nil
}

// Allotment is how many units each class may start in a cycle.
type Allotment struct {
	*Tally
	Left     []int // as in State.Classes
	Entitled []int // further units that each is entitled to
	targets  []int // units that each should have
	order    []int // the classes by load, then by name
	lifts    map[uint64][]bool
}

// Allot computes how much of what was counted each class may start.
func (t *Tally) Allot() (*Allotment, *fairshare.Plan, error) {
	plan, err := new(fairshare.Planner).Plan(&t.State)
	if err != nil {
		return nil, nil, err
	}
	n := len(plan.Classes)
	a := &Allotment{Tally: t, Left: make([]int, n), Entitled: make([]int, n), targets: make([]int, n),
		order: make([]int, n)}
	for i := range a.order {
		a.order[i] = i
	}
	slices.SortStableFunc(a.order, func(i, k int) int {
		x, y := t.State.Classes[i], t.State.Classes[k]
		return cmp.Or(cmp.Compare(y.Load, x.Load), cmp.Compare(x.Name, y.Name))
	})
	for i, c := range plan.Classes {
		a.targets[i] = c.Entitlement
		a.Left[i], a.Entitled[i] = c.Start, c.Entitlement-t.State.Classes[i].Running
	}
	return a, plan, nil
}

// Took charges a job's units to its class's allotment, times times; -1 gives them back.
func (a *Allotment) Took(j *row.Job, times int) error {
	at, err := a.Place(j)
	if err != nil {
		return err
	}
	units, err := a.Held(j)
	a.Left[at] -= times * units
	a.Entitled[at] -= times * units
	return err
}
