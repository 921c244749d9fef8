package store

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/store/internal/row"
)

// validDevices refuses devices of which jobs could not get some, and an amount that is
// not theirs.
func validDevices(defs *index.Defs, n *index.Node) error {
	if !n.Distances.Valid() {
		return fmt.Errorf("%w distances of the groups of node %s: they are to be a square of numbers from 0 to 255", ErrInvalid, n.Name)
	}
	for i, d := range n.Devices {
		def, ok := defs.Get(d.Res)
		switch {
		case !ok:
			return fmt.Errorf("%w: node %s names devices of resource #%d, which is not declared", ErrInvalid, n.Name, d.Res)
		case def.Type != index.Long || !def.Consumable:
			return fmt.Errorf("%w devices of %s of node %s: only a consumable long has devices", ErrInvalid, def.Name, n.Name)
		case i > 0 && n.Devices[i-1].Res >= d.Res || len(d.Set) == 0:
			return fmt.Errorf("%w: the devices of node %s are out of order", ErrInvalid, n.Name)
		}
		if err := d.Set.Check(); err != nil {
			return fmt.Errorf("%w %s of node %s: %w", ErrInvalid, def.Name, n.Name, err)
		}
		if v, _ := n.Get(d.Res); v.Num != int64(d.Set.Count()) {
			return &Conflict{fmt.Sprintf("%s of node %s", def.Name, n.Name),
				fmt.Sprintf("%d of its devices are in service, and it is to have %d; %s= forgets them", d.Set.Count(), v.Num, def.Name)}
		}
		for _, one := range d.Set {
			if err := cmp.Or(validCut(defs, n, def, one), validSlice(n, def, one)); err != nil {
				return err
			}
		}
	}
	return nil
}

// validCut refuses a device that is cut into slices of a resource that has none.
func validCut(defs *index.Defs, n *index.Node, def index.Def, d devices.Device) error {
	if d.Slices == 0 {
		return nil
	}
	into, ok := defs.Lookup(d.Into)
	switch {
	case !ok:
		return fmt.Errorf("no resource %q%s: %w; to declare it: placectl resource add %s=long,consumable",
			d.Into, index.DidYouMean(d.Into, defs.Names()), ErrNotFound, d.Into)
	case into.ID == def.ID:
		return fmt.Errorf("%w: device %s of %s of node %s cannot be cut into slices of the same resource", ErrInvalid, d.ID, def.Name, n.Name)
	}
	return nil
}

// validSlice refuses a slice of a device that the node names too, and that is whole: two
// jobs would have it. Cores are called by numbers as well, and are none of its devices.
func validSlice(n *index.Node, def index.Def, slice devices.Device) error {
	of, _, isSlice := strings.Cut(slice.ID, "/")
	if !isSlice {
		return nil
	}
	whole := false
	for _, d := range n.Devices {
		i := d.Set.Find(of)
		if i < 0 || d.Res == def.ID || d.Res == index.NCPUs {
			continue
		}
		if d.Set[i].Slices > 0 && d.Set[i].Into == def.Name {
			return nil
		}
		whole = true
	}
	if whole {
		return &Conflict{named(def, n, slice.ID), "it is a slice of " + of + ", which the node names as a whole device"}
	}
	return nil
}

// renaming is a node that is to name other devices than before.
type renaming struct {
	tx       *Tx
	old, now *index.Node
}

// holders are the running jobs on the node, with their devices as they stand in the new
// list. It is a Conflict where one has a device that is there no more, or has some of a
// resource whose devices nobody knew when it started. Nothing is changed.
func (r renaming) holders() (list []*row.Job, err error) {
	if index.SameDevices(r.old, r.now) {
		return nil, nil
	}
	err = r.tx.nodeDevices().eachHolder(r.old.Number, 0, func(j *row.Job) error {
		list = append(list, j)
		for _, d := range r.now.Devices {
			if r.old.DevicesOf(d.Res) == nil {
				if err := r.unknown(j, d.Res); err != nil {
					return err
				}
			}
		}
		return r.move(j)
	})
	return list, err
}

// unknown is the Conflict of a job that has some of a resource, and nobody knows which.
func (r renaming) unknown(j *row.Job, res index.ResID) error {
	for _, b := range r.tx.calendar().At(r.old.Number) {
		if b.Owner != row.JobOwner(j.ID) {
			continue
		}
		has := b.Use == nil
		if b.Use != nil {
			for _, a := range b.Use.Amounts {
				has = has || a.Quantity == uint16(res) && a.N > 0
			}
		}
		if has {
			return r.conflict(res, fmt.Sprintf("job %d has some of it, and nobody knows which of the devices that are to be named", j.ID))
		}
	}
	return nil
}

// move turns what a job has into positions in the new lists.
func (r renaming) move(j *row.Job) error {
	for i := range j.Devices {
		d := &j.Devices[i]
		if d.Node != r.old.Number {
			continue
		}
		from, to := r.old.DevicesOf(d.Res), r.now.DevicesOf(d.Res)
		moved, missing := from.Moved(d.Which, to)
		if missing != "" {
			return r.conflict(d.Res, fmt.Sprintf("job %d has device %s", j.ID, missing))
		}
		for k := range moved.Each {
			if was := from[from.Find(to[k].ID)]; was.Slices == 0 && to[k].Slices > 0 {
				return r.conflict(d.Res, fmt.Sprintf("job %d has device %s, which is to be cut", j.ID, was.ID))
			}
		}
		d.Which = moved
	}
	return nil
}

func (r renaming) conflict(res index.ResID, why string) error {
	return &Conflict{fmt.Sprintf("%s of node %s", resourceName(r.tx.loaded.defs, uint16(res)), r.old.Name), why}
}

// carryOut gives the running jobs what they have of the new devices, once the node's row
// is written, and plans those anew that the node has no room for any more.
func (r renaming) carryOut(holders []*row.Job) error {
	c := r.tx.calendar()
	for _, j := range holders {
		spans, err := r.tx.allocations().spans(j)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(spans, func(s span) bool { return s.node == r.now.Number })
		if err := errors.Join(c.Remove(spans[i].node, spans[i].Owner), c.Put(spans[i].node, spans[i].Busy), r.tx.putJob(j, JobRunning)); err != nil {
			return err
		}
	}
	return r.tx.nodeDevices().replan(r.now)
}

// replan plans those anew whose plans on a node do not fit any more.
func (ds nodeDevices) replan(n *index.Node) error {
	for _, b := range slices.Clone(ds.calendar().At(n.Number)) {
		if b.Claim || b.Start <= ds.now {
			continue
		}
		j, err := ds.job(b.Owner >> 1)
		if err != nil {
			return err
		}
		if j.State != JobReserved {
			continue
		}
		guest, err := ds.allocations().guest(j)
		if err != nil {
			return err
		}
		if taken, err := ds.allocations().conflict(j, guest, false); err != nil || !taken {
			if err != nil {
				return err
			}
			continue
		}
		j.Reason = "was to start at " + stamp(j.Start) + "; node " + n.Name + " has less than it had"
		if err := errors.Join(ds.allocations().vacate(j), ds.plans().anew(j)); err != nil {
			return err
		}
		ds.loaded.moved = append(ds.loaded.moved, j)
	}
	return nil
}

// Moved are the jobs whose plans this transaction has made anew, because a node has fewer
// devices in service, or there is less of a pool.
func (tx *Tx) Moved() []*Job { return converted(tx.loaded.moved, jobOf) }
