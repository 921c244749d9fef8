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
	"github.com/placectl/placectl/store/internal/rules"
)

// counters is the transaction as far as it is about what many share: pools of the cluster,
// and how many jobs of an array run at once.
type counters struct {
	*derived.Counters
	tx *Tx
}

func (tx *Tx) counters() counters { return counters{tx.loaded.counters, tx} }

// bind sets what a request wants of counters: of its pools, of the throttle of its array, and of
// its rules. A request that requires a reservation takes it out of what that holds.
func (cs counters) bind(a *placer.Ask, r placer.Request, array uint64) (err error) {
	c, err := cs.Throttle(array) // the array's own, and so no limit that it could be over
	if err != nil {
		return err
	}
	if c != nil {
		a.Demands = append(a.Demands, limits.Demand{Counter: c, Amount: 1})
	}
	pools, err := cs.pools(a.Spec.Pools, r.Reservation)
	if err != nil {
		return err
	}
	a.Demands = append(a.Demands, pools...)
	if all, err := cs.Rules.All(); r.OverLimits || all == nil || err != nil {
		return err
	}
	who, asked := [5]string{r.Queue, r.Class, r.Account, r.Group, r.User}, rules.Asked{Spec: a.Spec, Walltime: a.Duration}
	ruled, err := cs.Rules.Demands(who, asked)
	if err != nil {
		return err
	}
	a.Demands = append(a.Demands, ruled...)
	a.Barred, err = cs.Rules.Barred(who, asked)
	return err
}

// alone refuses a job that a rule on one job does not let in.
func (cs counters) alone(j *row.Job) error {
	all, err := cs.Rules.All()
	if all == nil || err != nil || j.OverLimits {
		return err
	}
	asked, err := all.Asked(j)
	if err != nil {
		return err
	}
	return cs.barred(rules.Subject(j), asked)
}

func (cs counters) barred(who [5]string, asked rules.Asked) error {
	why, err := cs.Rules.Barred(who, asked)
	if err != nil || why != "" {
		return cmp.Or(err, error(&placer.Refusal{Kind: placer.ErrNever, Chunk: -1, Why: why, Rule: true}))
	}
	return nil
}

// admit refuses jobs that a rule does not let in: on a job by itself, or on how many may wait
// and run.
func (cs counters) admit(j *row.Job, spec placer.Spec, jobs int64, waits bool) error {
	if j.OverLimits {
		return nil
	}
	who, asked := rules.Subject(j), rules.Asked{Spec: spec, Walltime: j.Walltime}
	if err := cs.barred(who, asked); err != nil {
		return err
	}
	why, err := cs.Rules.Full(who, asked, jobs, waits)
	if err != nil || why != "" {
		return cmp.Or(err, error(&placer.Refusal{Kind: placer.ErrNotNow, Chunk: -1, Why: why, Rule: true}))
	}
	return nil
}

// lettable are waiting jobs that pools and limits allow to start now, one beside the other. While it
// is in use, the counters hold what these jobs would hold then, in place of their plans and claims.
type lettable struct {
	counters
	open map[*limits.Counter]*joined
	put  []displacedHolder // in the order of putting
}

// joined are the holders of a counter that has not been read yet.
type joined struct {
	list []limits.Holder
	sum  int64
}

// displacedHolder is what the owner of a holder held before.
type displacedHolder struct {
	of  *limits.Counter
	was limits.Holder
	had bool
	now uint64 // owner
}

func (cs counters) lettable() *lettable {
	return &lettable{counters: cs, open: make(map[*limits.Counter]*joined)}
}

// lets reports whether a job may start now beside those before it, and adds it to them then.
func (t *lettable) lets(j *row.Job) (bool, error) {
	now, lets := *j, true
	now.Start, now.End = t.tx.now, t.tx.now+j.Walltime
	each := func(fn func(c *limits.Counter, h limits.Holder)) error {
		return t.EachHeld(&now, func(_ string, c *limits.Counter, h limits.Holder) error {
			if c.Binds(j.OverLimits) {
				fn(c, h)
			}
			return nil
		})
	}
	err := t.Rules.Unclaimed(j.ID, func() error {
		return each(func(c *limits.Counter, h limits.Holder) { lets = lets && !t.refuses(c, h) })
	})
	if lets && err == nil {
		err = each(t.join)
	}
	return lets, err
}

// refuses reports whether a counter has no room for another holder.
func (t *lettable) refuses(c *limits.Counter, h limits.Holder) bool {
	if of := t.open[c]; of == nil && c.Roomy(h.Amount) || of != nil && c.Roomy(of.sum+h.Amount) {
		return false
	} else if of != nil {
		delete(t.open, c)
		for _, h := range of.list {
			t.hold(c, h)
		}
	}
	return c.Refuses(h, false)
}

// join adds a holder. Holders are not read for it as long as there is room whatever they are.
func (t *lettable) join(c *limits.Counter, h limits.Holder) {
	if !c.Roomy(0) {
		t.hold(c, h)
		return
	}
	of := t.open[c]
	if of == nil {
		of = new(joined)
		t.open[c] = of
	}
	of.list, of.sum = append(of.list, h), of.sum+h.Amount
}

func (t *lettable) hold(c *limits.Counter, h limits.Holder) {
	was, had := c.Holder(h.Owner)
	t.put = append(t.put, displacedHolder{c, was, had, h.Owner})
	c.Put(h)
}

// undo restores the counters.
func (t *lettable) undo() {
	for _, d := range slices.Backward(t.put) {
		d.of.Remove(d.now)
		if d.had {
			d.of.Put(d.was)
		}
	}
}

// keeps reports whether a limit keeps a job that waits from starting now, whatever else may.
func (cs counters) keeps(j *row.Job) (bool, error) {
	all, err := cs.Rules.All()
	if all == nil || err != nil || j.OverLimits {
		return false, err
	}
	asked, err := all.Asked(j)
	if err != nil {
		return false, err
	}
	demands, err := cs.Rules.Demands(rules.Subject(j), asked)
	return demands.Short(cs.tx.now, j.Walltime, true) != nil, err
}

// pools are a request's wants of pools.
func (cs counters) pools(list []placer.PoolAmount, insist string) (out limits.Demands, err error) {
	if len(list) == 0 {
		return nil, nil
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
	for _, a := range list {
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
	if err := cs.Rules.Disclaim(j.ID); err != nil {
		return err
	}
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
// first.
func (cs counters) fit(c *limits.Counter) error {
	var planned []limits.Holder
	for h := range c.Holders {
		if !h.Claim && h.Start > cs.tx.now {
			planned = append(planned, h)
		}
	}
	slices.SortFunc(planned, func(a, b limits.Holder) int {
		return cmp.Or(cmp.Compare(b.Start, a.Start), cmp.Compare(b.Owner, a.Owner))
	})
	var list []*row.Job
	for _, h := range planned {
		if !c.Exceeded(h, false) {
			continue
		}
		j, err := cs.tx.job(h.Owner >> 1)
		if err != nil {
			return err
		}
		if c.Binds(j.OverLimits) {
			c.Remove(h.Owner) // free it for those that start before it
			list = append(list, j)
		}
	}
	why := row.Because(row.CauseRoom, "there is less of "+c.Name+" now")
	if c.Rule {
		why = row.Because(row.CauseLimit, "it would go beyond the limit "+c.Name)
	}
	return cs.tx.displace(list, why)
}

// throttle sets the throttle of an array.
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
		return cs.fit(c)
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
	return cs.fit(c)
}

// unthrottle removes the limit on how many of an array's jobs run at once.
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
