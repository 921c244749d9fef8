package store

import (
	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/store/internal/row"
)

// ShareState is what class shares are planned on now: all nodes that are up, what
// running jobs have of them, and what queued jobs ask for, by class and in the unit
// of the setting share_unit. What runs on nodes that are not up counts nowhere.
// What a reservation that lets nobody in keeps now is away. A job is in the class
// that was given with it, where there is such a class, else in that of its user.
func (tx *Tx) ShareState() (*fairshare.State, error) {
	t, err := newShareTally(tx)
	if err != nil {
		return nil, err
	}
	if err := tx.eachJob(t.runs, JobRunning); err != nil {
		return nil, err
	}
	waits := func(j *row.Job) error {
		if !j.Queued {
			return nil // planned by hand
		}
		return t.waits(j)
	}
	if err := tx.eachJob(waits, JobQueued, JobReserved, JobLate); err != nil {
		return nil, err
	}
	return &t.state, nil
}

// ofJob is the class that a job's shares are of: the one that was given, where
// there is such a class, else that of its user as a requestor; "" in a store
// without classes.
func (cs classShares) ofJob(j *row.Job) (string, error) {
	s, err := cs.Shares()
	if err != nil {
		return "", err
	}
	for _, c := range s.Loads {
		if c.Class == j.Class {
			return j.Class, nil
		}
	}
	return cs.ClassOf(j.User)
}

// A shareTally counts jobs into the classes of a state. Whoever goes through the
// jobs anyway, as a cycle does, hands them to runs and waits.
type shareTally struct {
	tx     *Tx
	unit   shareUnit
	state  fairshare.State
	places map[string]int    // in state.Classes, by name
	known  map[[2]string]int // the same, by class given and user
	asked  map[string]int64
	spare  fairshare.Spare
	notUp  *roaring.Bitmap
}

// newShareTally begins with nothing running or waiting.
func newShareTally(tx *Tx) (*shareTally, error) {
	s, err := tx.Shares()
	if err != nil {
		return nil, err
	}
	t := &shareTally{tx: tx, known: make(map[[2]string]int), asked: make(map[string]int64)}
	t.state.Now, t.state.Rebalance, t.spare = tx.now, s.Rebalance, s.Spare
	t.state.Classes, t.places = s.NewClasses()
	if t.state.Timer, err = tx.ShareTimer(); err != nil {
		return nil, err
	}
	if t.unit, err = tx.classShares().unit(); err != nil {
		return nil, err
	}
	ix, err := tx.index()
	if err != nil {
		return nil, err
	}
	t.notUp = ix.NotUp()
	t.state.TotalWorkers = sum(0, int(t.unit.inService(ix)))
	if err := tx.reservations().each(t.keeps); err != nil {
		return nil, err
	}
	return t, ix.Err()
}

// keeps counts what a reservation keeps from everybody as away.
func (t *shareTally) keeps(r *row.Reservation) error {
	if r.Start > t.tx.now || r.End <= t.tx.now || len(r.Access) > 0 {
		return nil
	}
	amount := int64(0)
	for i, node := range r.Nodes {
		if t.notUp.Contains(node) {
			continue
		}
		n, err := t.unit.amountOn(t.tx, node, r.Span(i).Use)
		if err != nil {
			return err
		}
		amount = index.Plus(amount, n)
	}
	t.state.Away = sum(t.state.Away, int(t.unit.steps(amount)))
	return nil
}

// sum adds up units, as far as shares are planned with.
func sum(a, b int) int { return int(min(index.Plus(int64(a), int64(b)), fairshare.MaxCount)) }

// runs counts a job that runs.
func (t *shareTally) runs(j *row.Job) error {
	if j.Ending {
		return nil // it gives back what it has already
	}
	c, err := t.class(j)
	if c == nil || err != nil {
		return err
	}
	units, err := t.held(j)
	if err != nil || units == 0 {
		return err
	}
	c.Running = sum(c.Running, units)
	if !j.Queued {
		return nil // placed by hand: nobody else stops it
	}
	if t.tx.now-j.Start < t.spare.MinRun || t.spare.AtMost > 0 && len(j.YieldedTo) >= t.spare.AtMost {
		return nil
	}
	c.Tasks = append(c.Tasks, fairshare.Task{ID: j.ID, Start: j.Start, Units: units})
	return nil
}

// waits counts a job that waits.
func (t *shareTally) waits(j *row.Job) error {
	c, err := t.class(j)
	if c == nil || err != nil {
		return err
	}
	units, err := t.wants(j)
	c.Waiting = sum(c.Waiting, units)
	return err
}

// class finds a job's class, nil in a store without classes.
func (t *shareTally) class(j *row.Job) (*fairshare.Class, error) {
	if len(t.state.Classes) == 0 {
		return nil, nil
	}
	at, err := t.place(j)
	if err != nil {
		return nil, err
	}
	return &t.state.Classes[at], nil
}

// place is where in the state a job's class is.
func (t *shareTally) place(j *row.Job) (int, error) {
	who := [2]string{j.Class, j.User}
	at, known := t.known[who]
	if !known {
		name, err := t.tx.classShares().ofJob(j)
		if err != nil {
			return 0, err
		}
		at = t.places[name]
		t.known[who] = at
	}
	return at, nil
}

// held is how many units a running job has on nodes that are up.
func (t *shareTally) held(j *row.Job) (int, error) {
	spans, err := t.tx.allocations().spans(j)
	if err != nil {
		return 0, err
	}
	amount := int64(0)
	for _, s := range spans {
		if t.notUp.Contains(s.node) {
			continue
		}
		n, err := t.unit.amountOn(t.tx, s.node, s.Use)
		if err != nil {
			return 0, err
		}
		amount = index.Plus(amount, n)
	}
	return sum(0, int(t.unit.steps(amount))), nil
}

// wants is how many units a waiting job asks for. Many ask for the same.
func (t *shareTally) wants(j *row.Job) (int, error) {
	key := j.Select + "\x00" + j.Place
	units, known := t.asked[key]
	if !known {
		spec, err := placer.Parse(t.tx.loaded.defs, placer.Request{Select: j.Select, Place: j.Place})
		if err != nil {
			return 0, err
		}
		units = t.unit.asked(t.tx.loaded.defs, spec)
		t.asked[key] = units
	}
	return int(units), nil
}
