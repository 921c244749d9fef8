package nodes

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer/limits"
	"github.com/placectl/placectl/timeline"
)

// What many jobs share beside nodes is counted: pools of the cluster, and how many jobs of an
// array run at once. Each counter has a row, and one for everybody who holds some of it or
// will. Those rows come and go in the commit that puts a job on its nodes or takes it off.
// What is free when follows from them (see placer/limits).

type Counters struct {
	Base
	Rules *Ruled                     // for the counters of rules
	named map[string]*limits.Counter // by key; nil if there is no such counter

	arrays   bool // whether some array has a throttle
	searched bool // whether that is known
}

// Named returns the counter of a key, or nil if there is none.
func (cs *Counters) Named(key string) (*limits.Counter, error) {
	c, known := cs.named[key]
	if !known {
		var err error
		if c, err = cs.read(key); err != nil {
			return nil, err
		}
		if cs.named == nil {
			cs.named = make(map[string]*limits.Counter)
		}
		cs.named[key] = c
	}
	if c != nil {
		c.SetNow(cs.Calendar().Now())
	}
	return c, nil
}

func (cs *Counters) read(key string) (*limits.Counter, error) {
	payload, err := cs.Rows.Get(row.Counters, []byte(key))
	if payload == nil || err != nil {
		return nil, err
	}
	r, err := row.CounterRow.Decode([]byte(key), payload)
	if err != nil {
		return nil, err
	}
	name, pool := row.PoolOf(key)
	if !pool {
		name = key + " running"
	}
	c := limits.New(name, !pool, r.Amount, cs.Calendar().Now(), Grace)
	c.Own, c.Overrun = !pool, cs.Overrun
	c.SetOutside(r.Outside, CounterEnd(r))
	err = cs.Rows.Each(row.Holdings, row.HoldingPrefix(key), func(key, payload []byte) (bool, error) {
		h, err := row.HoldingRow.Decode(key, payload)
		c.Put(*h)
		return true, err
	})
	return c, err
}

// CounterEnd returns until when others use what they do of a pool.
func CounterEnd(r *row.Counter) int64 {
	if r.Until == 0 {
		return timeline.Forever
	}
	return r.Until
}

// EachHeld calls fn for what a job holds of counters, or will hold, from its start to its end.
func (cs *Counters) EachHeld(j *row.Job, fn func(key string, c *limits.Counter, h limits.Holder) error) error {
	for key, h := range j.Held {
		c, err := cs.Named(key)
		if err == nil && c == nil {
			err = fmt.Errorf("%w: job %d has some of %s, which there is not", row.ErrDamaged, j.ID, key)
		}
		if err == nil {
			err = fn(key, c, h)
		}
		if err != nil {
			return err
		}
	}
	c, err := cs.Throttle(j.Array)
	if err == nil && c != nil {
		err = fn(row.ArrayKey(j.Array), c, j.InArray())
	}
	if err != nil {
		return err
	}
	return cs.Rules.EachTimed(j, fn)
}

// Hold counts a job that has been given a start.
func (cs *Counters) Hold(j *row.Job) error { return cs.EachHeld(j, cs.Put) }

// Put notes what a holder has of a counter.
func (cs *Counters) Put(key string, c *limits.Counter, h limits.Holder) error {
	if err := cs.Rules.moved(key, h.Amount); err != nil {
		return err
	}
	if !c.Adjust(h.Amount) {
		c.Put(h)
	}
	return cs.Rows.Put(row.Holdings, row.HoldingKey(key, h.Owner), row.HoldingRow.Encode(&h))
}

// LetGo takes a job off the counters.
func (cs *Counters) LetGo(j *row.Job) error { return cs.EachHeld(j, cs.Remove) }

// Remove takes a holder off a counter.
func (cs *Counters) Remove(key string, c *limits.Counter, h limits.Holder) error {
	if err := cs.Rules.moved(key, -h.Amount); err != nil {
		return err
	}
	if !c.Adjust(-h.Amount) {
		c.Remove(h.Owner)
	}
	return cs.Rows.Remove(row.Holdings, row.HoldingKey(key, h.Owner))
}

// errStop ends an iteration.
var errStop = errors.New("enough")

// Exceeds names a counter, or returns "". A job, which has a start, would hold too much of
// that counter in another time. If by is set, everybody counts until the planned end.
func (cs *Counters) Exceeds(j *row.Job, start, end int64, by bool) (short string, err error) {
	if start >= end {
		return "", nil
	}
	err = cs.EachHeld(j, func(_ string, c *limits.Counter, h limits.Holder) error {
		if !c.Binds(j.OverLimits) {
			return nil
		}
		h.Start, h.End = start, end
		if c.Left { // the whole remaining time counts, not only what is added
			h.Start = max(min(start, j.Start), cs.Calendar().Now())
		}
		exceeds := c.Refuses(h, by)
		if exceeds {
			d := limits.Demand{Counter: c, Amount: h.Amount}
			if h.Within != 0 {
				d.Within = []uint64{h.Within}
			}
			was, had := c.Holder(h.Owner)
			c.Remove(h.Owner)
			if short = d.Text(h.Start, h.End-h.Start); had {
				c.Put(was)
			}
		}
		if exceeds {
			return errStop
		}
		return nil
	})
	if errors.Is(err, errStop) {
		err = nil
	}
	return short, err
}

// Overdue lists the jobs that are past their end and hold some of what a job holds.
func (cs *Counters) Overdue(j *row.Job) ([]uint64, error) {
	late := make(map[uint64]bool)
	err := cs.EachHeld(j, func(_ string, c *limits.Counter, own limits.Holder) error {
		for h := range c.Holders {
			if !h.Claim && h.End <= cs.Calendar().Now() && h.Owner != own.Owner {
				late[h.Owner>>1] = true
			}
		}
		return nil
	})
	return slices.Sorted(maps.Keys(late)), err
}

// Planned lists the jobs that will start in a period and hold some of what a job holds.
func (cs *Counters) Planned(j *row.Job, after, before int64) ([]uint64, error) {
	next := make(map[uint64]bool)
	err := cs.EachHeld(j, func(_ string, c *limits.Counter, _ limits.Holder) error {
		for h := range c.Holders {
			if !h.Claim && h.Start > after && h.Start < before {
				next[h.Owner>>1] = true
			}
		}
		return nil
	})
	return slices.Sorted(maps.Keys(next)), err
}

// Throttle returns the limit on how many jobs of an array may run at once, or nil if it has none.
// If no array has one, it costs nothing.
func (cs *Counters) Throttle(array uint64) (*limits.Counter, error) {
	if array == 0 {
		return nil, nil
	}
	if !cs.searched {
		err := cs.Rows.Each(row.Counters, row.ArrayPrefix(), func(_, _ []byte) (bool, error) {
			cs.arrays = true
			return false, nil
		})
		if err != nil {
			return nil, err
		}
		cs.searched = true
	}
	if !cs.arrays {
		return nil, nil
	}
	return cs.Named(row.ArrayKey(array))
}

// Forget makes a counter be read again, because its row has changed.
func (cs *Counters) Forget(key string) {
	delete(cs.named, key)
	cs.searched = false
}
