package cluster

import (
	"fmt"
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/users"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/priorityf"
)

// AddResource declares a resource.
func (cf Config) AddResource(def index.Def) error {
	if err := users.Operates(cf.tx, "resources"); err != nil {
		return err
	}
	defs, err := cf.tx.Resources()
	if err != nil {
		return err
	}
	err = cf.tx.Loaded.Book.Renamed(def.Name, func() error {
		if def, err = defs.Add(def); err != nil {
			return err
		}
		cf.tx.State.NextResource = defs.Next()
		cf.tx.Loaded.Sayings = kernel.RequestCache{}
		return cf.tx.File.Put(row.Resources, row.Key16(uint16(def.ID)), row.ResourceRow.Encode(&def))
	})
	if err != nil {
		return err
	}
	cf.tx.Loaded.Freed.Anywhere()
	return forget(cf.tx)
}

// RemoveResource deletes a declared resource. No node may have it and no setting may name it.
func (cf Config) RemoveResource(name string) error {
	if err := users.Operates(cf.tx, "resources"); err != nil {
		return err
	}
	defs, err := cf.tx.Resources()
	if err != nil {
		return err
	}
	def, ok := defs.Lookup(name)
	if !ok {
		return fmt.Errorf("no resource %q%s: %w", name, index.DidYouMean(name, defs.Names()), row.ErrNotFound)
	}
	if def.Builtin {
		return row.Clash("resource "+def.Name, "it is built in")
	}
	set, err := cf.tx.Settings()
	if err != nil {
		return err
	}
	if slices.Contains(set.Signature, def.Name) || slices.Contains(set.GroupKey, def.Name) ||
		slices.Contains(set.Topology, def.Name) {
		return row.Clash("resource "+def.Name, "the setting signature, group_key or topology names it")
	}
	if set.ShareUnit == def.Name {
		return row.Clash("resource "+def.Name, "the setting share_unit names it")
	}
	if ranksBy(cf.tx.Loaded.Defs, set.PriorityF, def) {
		return row.Clash("resource "+def.Name, "the setting priorityf names it")
	}
	if err := LimitsOf(cf.tx).measured("resource", def.Name); err != nil {
		return err
	}
	if err := unusedResource(cf.tx, def); err != nil {
		return err
	}
	err = cf.tx.Loaded.Book.Renamed(def.Name, func() error {
		defs.Remove(def.ID)
		cf.tx.Loaded.Sayings = kernel.RequestCache{}
		return cf.tx.File.Remove(row.Resources, row.Key16(uint16(def.ID)))
	})
	if err != nil {
		return err
	}
	return rebuild(cf.tx)
}

// ranksBy reports whether a PRIORITYF names a resource.
func ranksBy(defs *index.Defs, text string, def index.Def) bool {
	if text == "" {
		return false
	}
	f, err := priorityf.Parse(defs, text)
	return err == nil && f.Names(def.ID)
}

// unusedResource fails if a node or a queue has the resource, or if it is requested: by a job that
// has not ended, or by the next occurrence of a standing reservation.
func unusedResource(tx *kernel.Tx, def index.Def) error {
	queues, err := tx.AllQueues()
	if err != nil {
		return err
	}
	for _, q := range queues {
		if slices.Contains(q.GroupKey, def.Name) {
			return row.Clash("resource "+def.Name, "queue "+q.Name+" has it as group key")
		}
	}
	err = NodesOf(tx).Scan(func(n *index.Node) error {
		if _, ok := n.Get(def.ID); ok {
			return row.Clash("resource "+def.Name, "node "+n.Name+" has it")
		}
		if ranksBy(tx.Loaded.Defs, n.PriorityF, def) {
			return row.Clash("resource "+def.Name, "the priorityf of node "+n.Name+" names it")
		}
		return nil
	})
	if err != nil {
		return err
	}
	asks := func(who string, r placer.Request) error {
		spec, err := placer.Parse(tx.Loaded.Defs, placer.Request{Select: r.Select, Place: r.Place})
		if err != nil {
			return nil // it asks for something that no longer exists, and never runs
		}
		if spec.Names(def.ID) {
			return row.Clash("resource "+def.Name, who+" asks for it")
		}
		return nil
	}
	err = plan.ReservationsOf(tx).EachStanding(func(s *kernel.Standing) error {
		if s.Over || s.Request.Select == "" {
			return nil
		}
		return asks("reservation "+s.Name, s.Request)
	})
	if err != nil {
		return err
	}
	return tx.EachJob(func(j *row.Job) error {
		return asks(fmt.Sprintf("job %d", j.ID), placer.Request{Select: j.Select, Place: j.Place})
	}, row.JobHeld, row.JobQueued, row.JobReserved, row.JobRunning)
}

// forget writes the index back and drops it, because its sources have changed.
func forget(tx *kernel.Tx) error {
	tx.Loaded.Settings = nil
	if tx.Loaded.Index == nil {
		return nil
	}
	err := tx.Loaded.Source.FlushIndex(tx.Loaded.Index)
	tx.Loaded.Index = nil
	return err
}

// rebuild sorts all nodes into buckets again, and recomputes what shared nodes have left,
// which the index also holds in bitmaps. The buckets have new numbers, so room freed in one
// bucket counts for all.
func rebuild(tx *kernel.Tx) error {
	if err := forget(tx); err != nil {
		return err
	}
	tx.Loaded.Rooms.Forget()
	for _, t := range []row.Table{row.Buckets, row.Bitmaps, row.Rooms} {
		if err := tx.File.Clear(t); err != nil {
			return err
		}
	}
	tx.Loaded.Freed.Anywhere()
	ix, err := tx.Index()
	if err != nil {
		return err
	}
	var nodes []*index.Node
	if err := tx.EachNode(func(n *index.Node) error { nodes = append(nodes, n); return nil }); err != nil {
		return err
	}
	for _, n := range nodes {
		class := tx.NodeIndex().ClassOf(n.Number)
		ix.Insert(n, class)
		if err := tx.File.Put(row.Nodes, row.Key32(n.Number), row.EncodeNode(n)); err != nil {
			return err
		}
		if err := tx.Loaded.Rooms.Measure(ix, n.Number, class == index.Busy && n.State == index.Up); err != nil {
			return err
		}
	}
	return ix.Err()
}
