package store

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/limits"
	"github.com/placectl/placectl/store/internal/derived"
	"github.com/placectl/placectl/store/internal/row"
)

// counters is the transaction as far as it is about what many share: pools of the cluster,
// and how many jobs of an array run at once.
type counters struct {
	*derived.Counters
	tx *Tx
}

func (tx *Tx) counters() counters { return counters{tx.loaded.counters, tx} }

// demands are what a request wants of counters: its pools and, in an array, the array's
// throttle. Who insists on a reservation takes out of what that holds.
func (cs counters) demands(pools []placer.PoolAmount, array uint64, insist string) (limits.Demands, error) {
	var out limits.Demands
	c, err := cs.Throttle(array)
	if err != nil {
		return nil, err
	}
	if c != nil {
		out = append(out, limits.Demand{Counter: c, Amount: 1})
	}
	if len(pools) == 0 {
		return out, nil
	}
	var within []uint64
	if insist != "" {
		list, err := cs.tx.reservations().occurrences(insist)
		if err != nil {
			return nil, err
		}
		for _, r := range list {
			within = append(within, row.ReservationOwner(r.ID))
		}
	}
	for _, a := range pools {
		c, err := cs.Named(row.PoolKey(a.Pool))
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

// within notes the reservation that a job which insists on one takes its pools out of:
// that in whose time it runs.
func (cs counters) within(j *row.Job) error {
	j.PoolsWithin = 0
	if len(j.Pools) == 0 || j.Reservation == "" {
		return nil
	}
	list, err := cs.tx.reservations().occurrences(j.Reservation)
	if errors.Is(err, ErrNotFound) { // it is gone
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

// take verifies that a job may hold what its plan takes of counters, and counts it.
func (cs counters) take(j *row.Job) error {
	if err := cs.within(j); err != nil {
		return err
	}
	short, err := cs.Exceeds(j, j.Start, j.End, false)
	if err != nil {
		return err
	}
	if short != "" {
		return fmt.Errorf("%w: the plan does not fit: %s", ErrConflict, short)
	}
	return cs.Hold(j)
}

// fit takes the plans of a counter away that it has no room for any more, the last to start
// first: those of jobs that were placed are made anew at once, all others by the next cycle.
func (cs counters) fit(key string) error {
	c, err := cs.Named(key)
	if err != nil {
		return err
	}
	var planned []limits.Holder
	for h := range c.Holders {
		if !h.Claim && h.Start > cs.tx.now {
			planned = append(planned, h)
		}
	}
	slices.SortFunc(planned, func(a, b limits.Holder) int {
		return cmp.Or(cmp.Compare(b.Start, a.Start), cmp.Compare(b.Owner, a.Owner))
	})
	var byHand []*row.Job
	for _, h := range planned {
		if !c.Exceeded(h, false) {
			continue
		}
		j, err := cs.tx.job(h.Owner >> 1)
		if err != nil {
			return err
		}
		why := "was to start at " + stamp(j.Start) + "; there is less of " + c.Name + " now"
		if j.Queued {
			if err := cs.tx.unplan(j, JobQueued, why); err != nil {
				return err
			}
			continue
		}
		j.Reason = why
		byHand = append(byHand, j)
		if err := cs.tx.allocations().vacate(j); err != nil {
			return err
		}
	}
	slices.SortFunc(byHand, func(a, b *row.Job) int { return cmp.Compare(a.ID, b.ID) })
	for _, j := range byHand {
		if err := cs.tx.plans().anew(j); err != nil {
			return err
		}
		cs.tx.loaded.moved = append(cs.tx.loaded.moved, j)
	}
	return errors.Join(err)
}

// Throttle lets at most so many jobs of an array run at once from now on: 0 lets none
// start, and a negative number any. Those that run go on; plans that break it are given up,
// for the next cycle to make anew. It fails with ErrNotFound where there is no such array,
// and a Conflict where all its jobs have ended.
func (tx *Tx) Throttle(array uint64, most int64) error {
	if !tx.Writable() {
		return ErrReadOnly
	}
	jobs, err := tx.arrayJobs(array)
	if err != nil {
		return err
	}
	live := false
	for _, j := range jobs {
		live = live || j.State.Live()
	}
	switch {
	case most > limits.MaxAmount:
		return fmt.Errorf("%w: %d jobs at once; it must be at most %d", ErrInvalid, most, int64(limits.MaxAmount))
	case !live:
		return &Conflict{fmt.Sprintf("job array %d[]", array), "all its jobs have ended"}
	case most < 0:
		return tx.spoil(tx.counters().unthrottle(array))
	}
	return tx.spoil(tx.counters().throttle(array, most, jobs))
}

// throttle makes the throttle of an array what it is to be.
func (cs counters) throttle(array uint64, most int64, jobs []*row.Job) error {
	key := row.ArrayKey(array)
	c, err := cs.Named(key)
	if err != nil {
		return err
	}
	if err := cs.tx.file.Put(row.Counters, []byte(key), row.EncodeCounter(&row.Counter{Amount: most})); err != nil {
		return err
	}
	cs.tx.loaded.freed.Anywhere()
	if c != nil {
		c.SetTotal(most)
		return cs.fit(key)
	}
	cs.Forget(key)
	if c, err = cs.Named(key); err != nil {
		return err
	}
	for _, j := range jobs {
		if j.State == JobRunning || j.State == JobReserved {
			if err := cs.Put(key, c, j.InArray()); err != nil {
				return err
			}
		}
	}
	return cs.fit(key)
}

// unthrottle lets any number of an array's jobs run at once.
func (cs counters) unthrottle(array uint64) error {
	key := row.ArrayKey(array)
	cs.Forget(key)
	cs.tx.loaded.freed.Anywhere()
	if err := cs.tx.file.RemoveAll(row.Holdings, row.HoldingPrefix(key)); err != nil {
		return err
	}
	return cs.tx.file.Remove(row.Counters, []byte(key))
}

// arrayEnded forgets the throttle of an array when the last of its jobs has ended. The jobs of
// an array have numbers in a row.
func (cs counters) arrayEnded(array uint64) error {
	c, err := cs.Throttle(array)
	if c == nil || err != nil {
		return err
	}
	for _, s := range []JobState{JobHeld, JobQueued, JobReserved, JobRunning} {
		live := false
		err := cs.tx.file.EachFrom(row.JobStates, row.JobStateKey(s, array), []byte{byte(s)}, func(key, _ []byte) (bool, error) {
			j, err := cs.tx.job(row.Number64(key[1:]))
			live = err == nil && j.Array == array
			return false, err
		})
		if live || err != nil {
			return err
		}
	}
	return cs.unthrottle(array)
}
