package plan

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/placectl/placectl/internal/kernel"
	internallimits "github.com/placectl/placectl/internal/limits"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/limits"
	"github.com/placectl/placectl/placer/subject"
)

// bind sets the amounts that a request needs of counters: its pools, the throttle of its
// array, and limits. A request that insists on a reservation takes them from what the
// reservation holds.
func bind(tx *kernel.Tx, a *placer.Ask, r placer.Request, array uint64) (err error) {
	c, err := tx.Counters().Throttle(array) // the array's own throttle, which over_limits does not lift
	if err != nil {
		return err
	}
	if c != nil {
		a.Demands = append(a.Demands, limits.Demand{Counter: c, Amount: 1})
	}
	pools, err := pools(tx, a.Spec.Pools, r.Reservation)
	if err != nil {
		return err
	}
	a.Demands = append(a.Demands, pools...)
	if all, err := tx.Counters().Rules.All(); r.OverLimits || all == nil || err != nil {
		return err
	}
	who, asked := r.Whose(), internallimits.Asked{Spec: a.Spec, Walltime: a.Duration}
	ruled, err := tx.Counters().Rules.Demands(who, asked)
	if err != nil {
		return err
	}
	a.Demands = append(a.Demands, ruled...)
	a.Barred, err = tx.Counters().Rules.Barred(who, asked)
	return err
}

// alone refuses a job that a limit on single jobs forbids.
func alone(tx *kernel.Tx, j *row.Job) error {
	all, err := tx.Counters().Rules.All()
	if all == nil || err != nil || j.OverLimits {
		return err
	}
	asked, err := all.Asked(j)
	if err != nil {
		return err
	}
	return barred(tx, j.Whose(), asked)
}

func barred(tx *kernel.Tx, who subject.Names, asked internallimits.Asked) error {
	why, err := tx.Counters().Rules.Barred(who, asked)
	if err != nil || why != "" {
		return cmp.Or(err, error(&placer.Refusal{Kind: placer.ErrNever, Chunk: -1, Why: why, Rule: true}))
	}
	return nil
}

// Admit refuses jobs that a limit forbids: on a single job, or on how many may wait and run.
func Admit(tx *kernel.Tx, j *row.Job, spec placer.Spec, jobs int64, waits bool) error {
	if j.OverLimits {
		return nil
	}
	who, asked := j.Whose(), internallimits.Asked{Spec: spec, Walltime: j.Walltime}
	if err := barred(tx, who, asked); err != nil {
		return err
	}
	why, err := tx.Counters().Rules.Full(who, asked, jobs, waits)
	if err != nil || why != "" {
		return cmp.Or(err, error(&placer.Refusal{Kind: placer.ErrNotNow, Chunk: -1, Why: why, Rule: true}))
	}
	return nil
}

// HoldsBack reports whether a limit keeps a waiting job from starting now, whether or not
// there is room.
func HoldsBack(tx *kernel.Tx, j *row.Job) (bool, error) {
	all, err := tx.Counters().Rules.All()
	if all == nil || err != nil || j.OverLimits {
		return false, err
	}
	asked, err := all.Asked(j)
	if err != nil {
		return false, err
	}
	demands, err := tx.Counters().Rules.Demands(j.Whose(), asked)
	return demands.Short(tx.Now, j.Walltime, true) != nil, err
}

// pools returns the amounts of pools that a request needs.
func pools(tx *kernel.Tx, list []placer.PoolAmount, insist string) (out limits.Demands, err error) {
	if len(list) == 0 {
		return nil, nil
	}
	var within []uint64
	if insist != "" {
		list, err := occurrences(tx, insist)
		if err != nil {
			return nil, err
		}
		for _, r := range list {
			within = append(within, row.ReservationOwner(r.ID))
		}
	}
	for _, a := range list {
		c, err := tx.Counters().Named(row.PoolKey(a.Pool))
		if err != nil {
			return nil, err
		}
		if c == nil {
			return nil, row.Missing("pool", a.Pool)
		}
		out = append(out, limits.Demand{Counter: c, Amount: a.Amount, Within: within})
	}
	return out, nil
}

// within records the reservation from which a job that insists on one takes its pools: the
// occurrence in which it runs.
func within(tx *kernel.Tx, j *row.Job) error {
	j.PoolsWithin = 0
	if len(j.Pools) == 0 || j.Reservation == "" {
		return nil
	}
	list, err := occurrences(tx, j.Reservation)
	if errors.Is(err, row.ErrNotFound) { // it was deleted
		return nil
	}
	if err != nil {
		return err
	}
	for _, r := range list {
		if r.Start <= j.Start && j.Start < r.End {
			j.PoolsWithin = r.ID
		}
	}
	return nil
}

// take verifies that a job may hold the amounts that its plan takes of counters, and counts
// them.
func take(tx *kernel.Tx, j *row.Job) error {
	if err := tx.Counters().Rules.Disclaim(j.ID); err != nil {
		return err
	}
	if err := within(tx, j); err != nil {
		return err
	}
	short, err := tx.Counters().Exceeds(j, j.Start, j.End, false)
	if err != nil {
		return err
	}
	if short != "" {
		return fmt.Errorf("%w: the plan does not fit: %s", row.ErrConflict, short)
	}
	return tx.Counters().Hold(j)
}

// Unthrottle removes the limit on how many of an array's jobs run at once.
func Unthrottle(tx *kernel.Tx, array uint64) error {
	key := row.ArrayKey(array)
	tx.Counters().Forget(key)
	tx.Loaded.Freed.Anywhere()
	if err := tx.File.RemoveAll(row.Holdings, row.HoldingPrefix(key)); err != nil {
		return err
	}
	return tx.File.Remove(row.Counters, []byte(key))
}

// ArrayEnded removes the throttle of an array once its last job has ended.
func ArrayEnded(tx *kernel.Tx, array uint64) error {
	c, err := tx.Counters().Throttle(array)
	if c == nil || err != nil {
		return err
	}
	if lives, err := tx.ArrayLives(array); lives || err != nil {
		return err
	}
	return Unthrottle(tx, array)
}

// choosePools computes the amounts of pools that a reservation keeps, and refuses those that
// are not available throughout.
func (r Booking) choosePools(req placer.Request) error {
	defs, err := r.Tx.Resources()
	if err != nil {
		return err
	}
	spec, err := placer.Parse(defs, req)
	if err != nil {
		return err
	}
	demands, err := pools(r.Tx, spec.Pools, "")
	if err != nil {
		return err
	}
	start := max(r.Start, r.Tx.Now)
	if short := demands.Short(start, r.End-start, false); short != nil {
		refused := &placer.Refusal{Kind: placer.ErrNotNow, Chunk: -1, Why: short.Text(start, r.End-start)}
		if short.Amount > short.Total() {
			refused.Kind = placer.ErrNever
		} else {
			refused.Start, refused.HasStart = demands.Next(start, r.End-start)
		}
		return refused
	}
	r.Pools = spec.Pools
	return nil
}

// holdPools calls do for each amount of a pool that a reservation keeps.
func (r Booking) holdPools(do func(key string, c *limits.Counter, h limits.Holder) error) error {
	for key, h := range r.Held {
		c, err := r.Tx.Counters().Named(key)
		if err == nil && c == nil {
			err = fmt.Errorf("%w: reservation %s keeps some of %s, which does not exist", row.ErrDamaged, r.Name, key)
		}
		if err == nil {
			err = do(key, c, h)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
