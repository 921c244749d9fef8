package cluster

import (
	"fmt"
	"slices"
	"strings"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/row"
)

// renaming is a change of the devices that a node names.
type renaming struct {
	tx       *kernel.Tx
	old, now *index.Node
}

// holders lists the running jobs on the node, with their devices numbered as in the new list. It
// returns a Conflict if a job has a device that is no longer listed, or an amount of a resource
// whose devices were unknown when it started. It changes nothing.
func (r renaming) holders() (list []*row.Job, err error) {
	if index.SameDevices(r.old, r.now) {
		return nil, nil
	}
	err = plan.EachHolder(r.tx, r.old.Number, 0, func(j *row.Job) error {
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

// unknown returns the Conflict for a job that has some of a resource without recorded devices.
func (r renaming) unknown(j *row.Job, res index.ResID) error {
	for _, b := range r.tx.Calendar().At(r.old.Number) {
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
			return r.conflict(res,
				fmt.Sprintf("job %d has some of it from before its devices were named, so its devices are unknown",
					j.ID))
		}
	}
	return nil
}

// move converts the positions of a job's devices to those in the new lists.
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
		for _, id := range from.IDs(d.Which) {
			if was, is := r.parts(r.old, d.Res, id), r.parts(r.now, d.Res, id); was != is {
				return r.conflict(d.Res,
					fmt.Sprintf("job %d has device %s, which is one of %d slices and would be one of %d", j.ID, id, was,
						is))
			}
		}
		for k := range moved.Each {
			if was := from[from.Find(to[k].ID)]; was.Slices == 0 && to[k].Slices > 0 {
				return r.conflict(d.Res, fmt.Sprintf("job %d is using device %s, so it cannot be cut", j.ID, was.ID))
			}
		}
		d.Which = moved
	}
	return nil
}

// parts returns the number of slices of the device that this one is a slice of, or 0 if it is not a
// slice.
func (r renaming) parts(n *index.Node, res index.ResID, id string) int {
	of, _, slice := strings.Cut(id, "/")
	def, ok := r.tx.Loaded.Defs.Get(res)
	if !slice || !ok {
		return 0
	}
	for _, named := range n.Devices {
		if i := named.Set.Find(of); i >= 0 && named.Set[i].Into == def.Name {
			return named.Set[i].Slices
		}
	}
	return 0
}

func (r renaming) conflict(res index.ResID, why string) error {
	def, _ := r.tx.Loaded.Defs.Get(res)
	return row.Clash(def.Name+" of node "+r.old.Name, why)
}

// carryOut gives the running jobs their devices by the new list, once the node's row is written.
func (r renaming) carryOut(holders []*row.Job) error {
	c := r.tx.Calendar()
	for _, j := range holders {
		spans, err := r.tx.Allocations().Spans(j)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(spans, func(s kernel.Span) bool { return s.Node == r.now.Number })
		err = c.Remove(spans[i].Node, spans[i].Owner)
		if err == nil {
			err = c.Put(spans[i].Node, spans[i].Busy)
		}
		if err == nil {
			err = jobs.PutJob(r.tx, j, row.JobRunning)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Moved returns the jobs placed at an instant that this transaction has given another start,
// because a node can no longer serve them, or there is less of a pool.
func (ns Nodes) Moved() []*kernel.Job { return kernel.Converted(ns.tx.Loaded.Moved, kernel.JobOf) }
