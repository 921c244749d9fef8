package store

import (
	"fmt"
	"slices"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/limits"
	"github.com/placectl/placectl/store/internal/derived"
	"github.com/placectl/placectl/store/internal/row"
)

// MaxPools is how many pools a cluster has at most.
const MaxPools = 64

// Pool is an amount of the whole cluster, of licences, say, which belongs to no node.
type Pool struct {
	Name    string
	Amount  int64
	Outside int64     // use outside placectl
	Until   time.Time // until when; zero: until changed
}

// PoolUse is a pool at an instant.
type PoolUse struct {
	Pool
	Held int64 // by jobs, planned ones and reservations, what others use not among it
	Free int64
}

func (cs counters) poolNames() (names []string, err error) {
	err = cs.tx.file.Each(row.Counters, row.PoolPrefix(), func(key, _ []byte) (bool, error) {
		name, _ := row.PoolOf(string(key))
		names = append(names, name)
		return true, nil
	})
	return names, err
}

// Pools are the pools of the cluster in a transaction.
type Pools struct{ tx *Tx }

// Pools are the pools of the cluster.
func (tx *Tx) Pools() Pools { return Pools{tx} }

// At lists the pools by name as they are at an instant that is not past.
func (ps Pools) At(at time.Time) ([]PoolUse, error) {
	names, err := ps.tx.counters().poolNames()
	if err != nil {
		return nil, err
	}
	var out []PoolUse
	for _, name := range names {
		u, err := ps.at(name, max(unix(at), ps.tx.now))
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
	err := ps.tx.file.Each(row.Counters, nil, func(key, payload []byte) (bool, error) {
		array, ok := row.ArrayOf(string(key))
		if !ok {
			return true, nil
		}
		c, err := row.DecodeCounter(key, payload)
		most[array] = c.Amount
		return true, err
	})
	return most, err
}

func (ps Pools) at(name string, at int64) (u PoolUse, err error) {
	key := row.PoolKey(name)
	payload, err := ps.tx.file.Get(row.Counters, []byte(key))
	if err == nil && payload == nil {
		err = row.Missing("pool", name)
	}
	if err != nil {
		return u, err
	}
	r, err := row.DecodeCounter([]byte(key), payload)
	if err != nil {
		return u, err
	}
	c, err := ps.tx.counters().Named(key)
	if err != nil {
		return u, err
	}
	u.Pool = Pool{Name: name, Amount: r.Amount, Outside: r.Outside, Until: instant(r.Until)}
	outside, _ := c.Outside(at)
	if u.Outside = outside; outside == 0 {
		u.Until = time.Time{}
	}
	u.Held = c.Held(at) - outside
	u.Free = max(0, r.Amount-outside-u.Held)
	return u, nil
}

// Set changes a pool, or makes it if add is true: then its name must be free. If more is held than
// the new amount, its holders go on, nothing more starts, and plans that break it are made again:
// see Moved. It fails with ErrNotFound if there is no such pool, a Conflict if a name is taken, and
// ErrInvalid.
func (ps Pools) Set(p Pool, add bool) error {
	tx := ps.tx
	if err := tx.operates("pools"); err != nil {
		return err
	}
	defs, err := tx.Resources()
	if err != nil {
		return err
	}
	name, known := defs.Pool(p.Name)
	if err := validPool(p, tx.now); err != nil {
		return err
	}
	if add {
		err = ps.free(p, defs)
		name = p.Name
	} else if !known {
		err = fmt.Errorf("no pool %q%s: %w", p.Name, index.DidYouMean(p.Name, defs.Pools()), ErrNotFound)
	}
	if err != nil {
		return err
	}
	key := row.PoolKey(name)
	r := &row.Counter{Amount: p.Amount, Outside: p.Outside, Until: unix(p.Until)}
	if err := tx.file.Put(row.Counters, []byte(key), row.EncodeCounter(r)); err != nil {
		return err
	}
	tx.loaded.freed.Anywhere()
	if add {
		names, err := tx.counters().poolNames()
		tx.counters().Forget(key)
		defs.SetPools(names)
		tx.loaded.sayings = requestCache{}
		return err
	}
	c, err := tx.counters().Named(key)
	if err != nil {
		return err
	}
	c.SetTotal(r.Amount)
	c.SetOutside(r.Outside, derived.Until(r))
	if err := tx.counters().fit(c); err != nil {
		return tx.spoil(err)
	}
	return tx.spoil(tx.placeAnew())
}

func validPool(p Pool, now int64) error {
	switch {
	case !index.ValidResourceName(p.Name):
		return fmt.Errorf("%w pool name %q: it begins with a letter, and goes on with letters, digits, - and _, at most 64", ErrInvalid, p.Name)
	case p.Amount < 0 || p.Amount > limits.MaxAmount || p.Outside < 0 || p.Outside > limits.MaxAmount:
		return fmt.Errorf("%w: pool %s: amounts are whole numbers from 0 to %d", ErrInvalid, p.Name, int64(limits.MaxAmount))
	case !p.Until.IsZero() && unix(p.Until) <= now:
		return fmt.Errorf("%w: pool %s: what others use until %s is over, it is %s now", ErrInvalid, p.Name, stamp(unix(p.Until)), stamp(now))
	}
	return nil
}

// free makes sure that a pool can be made under its name.
func (ps Pools) free(p Pool, defs *index.Defs) error {
	if def, ok := defs.Lookup(p.Name); ok {
		return taken("the name "+p.Name, ", by resource "+def.Name)
	}
	if index.ReservedName(p.Name) {
		return fmt.Errorf("%w pool name %q: it means something else in requests, or in the table of nodes", ErrInvalid, p.Name)
	}
	if other, ok := defs.Pool(p.Name); ok {
		return taken("pool "+other, "")
	}
	if len(defs.Pools()) >= MaxPools {
		return fmt.Errorf("%w: a cluster has at most %d pools", ErrInvalid, MaxPools)
	}
	return nil
}

// Remove deletes a pool. It fails with a Conflict naming a job that has not ended, or a
// reservation, that needs it.
func (ps Pools) Remove(name string) error {
	tx := ps.tx
	if err := tx.operates("pools"); err != nil {
		return err
	}
	defs, err := tx.Resources()
	if err != nil {
		return err
	}
	known, ok := defs.Pool(name)
	if !ok {
		return fmt.Errorf("no pool %q%s: %w", name, index.DidYouMean(name, defs.Pools()), ErrNotFound)
	}
	if err := ps.unused(known); err != nil {
		return err
	}
	key := row.PoolKey(known)
	tx.counters().Forget(key)
	if err := tx.file.Remove(row.Counters, []byte(key)); err != nil {
		return err
	}
	names, err := tx.counters().poolNames()
	defs.SetPools(names)
	tx.loaded.sayings = requestCache{}
	return err
}

// unused returns a Conflict if a job or rule uses a pool.
func (ps Pools) unused(name string) error {
	if err := ps.tx.Limits().measured("pool", name); err != nil {
		return err
	}
	asks := func(list []placer.PoolAmount, who string, args ...any) error {
		if slices.ContainsFunc(list, func(a placer.PoolAmount) bool { return a.Pool == name }) {
			return row.Clash("pool "+name, fmt.Sprintf(who, args...))
		}
		return nil
	}
	err := ps.tx.eachJob(func(j *row.Job) error { return asks(j.Pools, "job %d asks for it, %s", j.ID, j.State) },
		JobRunning, JobReserved, JobQueued, JobHeld)
	if err != nil {
		return err
	}
	err = ps.tx.reservations().each(func(r *row.Reservation) error {
		if r.End <= ps.tx.now {
			return nil
		}
		return asks(r.Pools, "reservation %s holds some of it", r.Name)
	})
	if err != nil {
		return err
	}
	return ps.tx.reservations().eachStanding(func(s *row.Standing) error {
		if s.Over {
			return nil
		}
		return asks(s.Request.Pools, "reservation %s repeats, and holds some of it", s.Name)
	})
}

// choosePools finds what a reservation keeps of the pools, and refuses what is not available
// throughout.
func (r booking) choosePools(req placer.Request) error {
	defs, err := r.tx.Resources()
	if err != nil {
		return err
	}
	spec, err := placer.Parse(defs, req)
	if err != nil {
		return err
	}
	demands, err := r.tx.counters().pools(spec.Pools, "")
	if err != nil {
		return err
	}
	start := max(r.Start, r.tx.now)
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

// holdPools calls do for everything that a reservation keeps of pools.
func (r booking) holdPools(do func(key string, c *limits.Counter, h limits.Holder) error) error {
	for key, h := range r.Held {
		c, err := r.tx.counters().Named(key)
		if err == nil && c == nil {
			err = fmt.Errorf("%w: reservation %s keeps some of %s, which there is not", ErrDamaged, r.Name, key)
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
