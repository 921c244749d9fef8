package kernel

import (
	"fmt"
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/nodes"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer/limits"
)

// Resources returns the resources that the store knows, including the built-in ones.
func (tx *Tx) Resources() (*index.Defs, error) {
	if tx.Loaded.Defs != nil {
		return tx.Loaded.Defs, nil
	}
	defs := index.NewDefs()
	err := tx.File.Each(row.Resources, nil, func(key, payload []byte) (bool, error) {
		def, err := row.ResourceRow.Decode(key, payload)
		if err != nil {
			return false, err
		}
		if err := defs.Restore(*def); err != nil {
			return false, fmt.Errorf("%w: %v", row.ErrDamaged, err)
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	defs.SetNext(tx.State.NextResource)
	names, err := tx.Counters().PoolNames()
	if err != nil {
		return nil, err
	}
	defs.SetPools(names)
	tx.Loaded.Defs = defs
	return defs, nil
}

func (cs Counters) PoolNames() (names []string, err error) {
	err = cs.tx.File.Each(row.Counters, row.PoolPrefix(), func(key, _ []byte) (bool, error) {
		name, _ := row.PoolOf(string(key))
		names = append(names, name)
		return true, nil
	})
	return names, err
}

// Counters is the part of a transaction that deals with shared amounts: pools of the cluster,
// limits, and how many jobs of an array run at once.
type Counters struct {
	*nodes.Counters
	tx *Tx
}

func (tx *Tx) Counters() Counters { return Counters{tx.Loaded.Counters, tx} }

// lettable is a set of waiting jobs that pools and limits allow to start now, side by side.
// While it is in use, the counters hold what these jobs would then hold, instead of their
// plans and claims.
type lettable struct {
	Counters
	open map[*limits.Counter]*joined
	put  []displacedHolder // in the order of putting
}

// joined are the holders of a counter that has not been read yet.
type joined struct {
	list []limits.Holder
	sum  int64
}

// displacedHolder records what the owner of a holder held before.
type displacedHolder struct {
	of  *limits.Counter
	was limits.Holder
	had bool
	now uint64 // owner
}

func (cs Counters) Lettable() *lettable {
	return &lettable{Counters: cs, open: make(map[*limits.Counter]*joined)}
}

// Lets reports whether a job may start now beside those before it. If so, it adds the job.
func (t *lettable) Lets(j *row.Job) (bool, error) {
	now, lets := *j, true
	now.Start, now.End = t.tx.Now, t.tx.Now+j.Walltime
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

// join adds a holder. While there is room in any case, it does not read the counter's holders.
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

// Undo restores the counters.
func (t *lettable) Undo() {
	for _, d := range slices.Backward(t.put) {
		d.of.Remove(d.now)
		if d.had {
			d.of.Put(d.was)
		}
	}
}
