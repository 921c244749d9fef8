package cluster

import (
	"fmt"
	"slices"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/nodes"
	"github.com/placectl/placectl/internal/queue"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/users"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/limits"
)

// MaxPools is the maximum number of pools in a cluster.
const MaxPools = 64

// Pool is an amount of the whole cluster that belongs to no node, such as licences.
type Pool struct {
	Name    string
	Amount  int64
	Outside int64     // use outside placectl
	Until   time.Time // until when; zero: until changed
}

// PoolUse is a pool at an instant.
type PoolUse struct {
	Pool
	Held int64 // by jobs, plans and reservations, without Outside
	Free int64
}

// Pools gives access to the pools of the cluster in a transaction.
type Pools struct{ tx *kernel.Tx }

// PoolsOf returns the pools of a transaction.
func PoolsOf(tx *kernel.Tx) Pools { return Pools{tx} }

// At lists the pools by name, as they are at an instant that is not past.
func (ps Pools) At(at time.Time) ([]PoolUse, error) {
	names, err := ps.tx.Counters().PoolNames()
	if err != nil {
		return nil, err
	}
	var out []PoolUse
	for _, name := range names {
		u, err := ps.at(name, max(kernel.Unix(at), ps.tx.Now))
		if err != nil {
			return nil, err
		}
		out = append(out, u)
	}
	return out, nil
}

// Throttles returns the limits on how many jobs of an array may run at once, by array, for arrays
// that have one.
func (ps Pools) Throttles() (map[uint64]int64, error) {
	most := make(map[uint64]int64)
	err := ps.tx.File.Each(row.Counters, nil, func(key, payload []byte) (bool, error) {
		array, ok := row.ArrayOf(string(key))
		if !ok {
			return true, nil
		}
		c, err := row.CounterRow.Decode(key, payload)
		most[array] = c.Amount
		return true, err
	})
	return most, err
}

func (ps Pools) at(name string, at int64) (u PoolUse, err error) {
	key := row.PoolKey(name)
	payload, err := ps.tx.File.Get(row.Counters, []byte(key))
	if err == nil && payload == nil {
		err = row.Missing("pool", name)
	}
	if err != nil {
		return u, err
	}
	r, err := row.CounterRow.Decode([]byte(key), payload)
	if err != nil {
		return u, err
	}
	c, err := ps.tx.Counters().Named(key)
	if err != nil {
		return u, err
	}
	u.Pool = Pool{Name: name, Amount: r.Amount, Outside: r.Outside, Until: kernel.Instant(r.Until)}
	outside, _ := c.Outside(at)
	if u.Outside = outside; outside == 0 {
		u.Until = time.Time{}
	}
	u.Held = c.Held(at) - outside
	u.Free = max(0, r.Amount-outside-u.Held)
	return u, nil
}

// Set changes a pool, or makes it if add is true: then its name must be free. If more is held
// than the new amount, its holders continue, nothing more starts, and plans that break it are
// made again: see Moved. It fails with ErrNotFound if there is no such pool, a Conflict if a
// name is taken, and ErrInvalid.
func (ps Pools) Set(p Pool, add bool) error {
	tx := ps.tx
	if err := users.Operates(tx, "pools"); err != nil {
		return err
	}
	defs, err := tx.Resources()
	if err != nil {
		return err
	}
	name, known := defs.Pool(p.Name)
	if err := validPool(p, tx.Now); err != nil {
		return err
	}
	if add {
		err = ps.free(p, defs)
		name = p.Name
	} else if !known {
		err = fmt.Errorf("no pool %q%s: %w", p.Name, index.DidYouMean(p.Name, defs.Pools()), row.ErrNotFound)
	}
	if err != nil {
		return err
	}
	key := row.PoolKey(name)
	r := &row.Counter{Amount: p.Amount, Outside: p.Outside, Until: kernel.Unix(p.Until)}
	if err := tx.File.Put(row.Counters, []byte(key), row.CounterRow.Encode(r)); err != nil {
		return err
	}
	tx.Loaded.Freed.Anywhere()
	if add {
		names, err := tx.Counters().PoolNames()
		tx.Counters().Forget(key)
		defs.SetPools(names)
		tx.Loaded.Sayings = kernel.RequestCache{}
		return err
	}
	c, err := tx.Counters().Named(key)
	if err != nil {
		return err
	}
	c.SetTotal(r.Amount)
	c.SetOutside(r.Outside, nodes.CounterEnd(r))
	if err := jobs.FitCounter(tx, c); err != nil {
		return tx.Spoil(err)
	}
	return tx.Spoil(queue.PlaceAnew(tx))
}

func validPool(p Pool, now int64) error {
	switch {
	case !index.ValidResourceName(p.Name):
		return fmt.Errorf("%w pool name %q: use at most 64 letters, digits, - and _, a letter first", row.ErrInvalid,
			p.Name)
	case p.Amount < 0 || p.Amount > limits.MaxAmount || p.Outside < 0 || p.Outside > limits.MaxAmount:
		return fmt.Errorf("%w: pool %s: amounts are whole numbers from 0 to %d", row.ErrInvalid, p.Name,
			int64(limits.MaxAmount))
	case !p.Until.IsZero() && kernel.Unix(p.Until) <= now:
		return fmt.Errorf("%w: pool %s: the outside use ended at %s, it is %s now", row.ErrInvalid, p.Name,
			kernel.Stamp(kernel.Unix(p.Until)), kernel.Stamp(now))
	}
	return nil
}

// free makes sure that a pool's name is available.
func (ps Pools) free(p Pool, defs *index.Defs) error {
	if def, ok := defs.Lookup(p.Name); ok {
		return kernel.Taken("the name "+p.Name, ", by resource "+def.Name)
	}
	if index.ReservedName(p.Name) {
		return fmt.Errorf("%w pool name %q: the name has another meaning in requests or in the table of nodes",
			row.ErrInvalid, p.Name)
	}
	if other, ok := defs.Pool(p.Name); ok {
		return kernel.Taken("pool "+other, "")
	}
	if len(defs.Pools()) >= MaxPools {
		return fmt.Errorf("%w: a cluster has at most %d pools", row.ErrInvalid, MaxPools)
	}
	return nil
}

// Remove deletes a pool. It fails with a Conflict naming a job that has not ended, or a
// reservation, that needs it.
func (ps Pools) Remove(name string) error {
	tx := ps.tx
	if err := users.Operates(tx, "pools"); err != nil {
		return err
	}
	defs, err := tx.Resources()
	if err != nil {
		return err
	}
	known, ok := defs.Pool(name)
	if !ok {
		return fmt.Errorf("no pool %q%s: %w", name, index.DidYouMean(name, defs.Pools()), row.ErrNotFound)
	}
	if err := ps.unused(known); err != nil {
		return err
	}
	key := row.PoolKey(known)
	tx.Counters().Forget(key)
	if err := tx.File.Remove(row.Counters, []byte(key)); err != nil {
		return err
	}
	names, err := tx.Counters().PoolNames()
	defs.SetPools(names)
	tx.Loaded.Sayings = kernel.RequestCache{}
	return err
}

// unused returns a Conflict if a job or rule uses a pool.
func (ps Pools) unused(name string) error {
	if err := LimitsOf(ps.tx).measured("pool", name); err != nil {
		return err
	}
	asks := func(list []placer.PoolAmount, who string, args ...any) error {
		if slices.ContainsFunc(list, func(a placer.PoolAmount) bool { return a.Pool == name }) {
			return row.Clash("pool "+name, fmt.Sprintf(who, args...))
		}
		return nil
	}
	err := ps.tx.EachJob(func(j *row.Job) error { return asks(j.Pools, "job %d asks for it, %s", j.ID, j.State) },
		row.JobRunning, row.JobReserved, row.JobQueued, row.JobHeld)
	if err != nil {
		return err
	}
	err = ps.tx.Reservations().Each(func(r *row.Reservation) error {
		if r.End <= ps.tx.Now {
			return nil
		}
		return asks(r.Pools, "reservation %s holds some of it", r.Name)
	})
	if err != nil {
		return err
	}
	return ps.tx.Reservations().EachStanding(func(s *row.Standing) error {
		if s.Over {
			return nil
		}
		return asks(s.Request.Pools, "reservation %s repeats, and holds some of it", s.Name)
	})
}
