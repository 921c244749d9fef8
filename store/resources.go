package store

import (
	"fmt"
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/priorityf"
	"github.com/placectl/placectl/store/internal/row"
)

// Resources are the resources that the store knows, the built-in ones among
// them.
func (tx *Tx) Resources() (*index.Defs, error) {
	if tx.loaded.defs != nil {
		return tx.loaded.defs, nil
	}
	defs := index.NewDefs()
	err := tx.file.Each(row.Resources, nil, func(key, payload []byte) (bool, error) {
		def, err := row.DecodeResource(key, payload)
		if err != nil {
			return false, err
		}
		if err := defs.Restore(def); err != nil {
			return false, fmt.Errorf("%w: %v", ErrDamaged, err)
		}
		return true, nil
	})
	if err != nil {
		return nil, err
	}
	defs.SetNext(tx.state.NextResource)
	names, err := tx.counters().poolNames()
	if err != nil {
		return nil, err
	}
	defs.SetPools(names)
	tx.loaded.defs = defs
	return defs, nil
}

// AddResource declares a resource.
func (tx *Tx) AddResource(def index.Def) error {
	if err := tx.operates("resources"); err != nil {
		return err
	}
	defs, err := tx.Resources()
	if err != nil {
		return err
	}
	err = tx.loaded.book.Renamed(def.Name, func() error {
		if def, err = defs.Add(def); err != nil {
			return err
		}
		tx.state.NextResource = defs.Next()
		tx.loaded.sayings = requestCache{}
		return tx.file.Put(row.Resources, row.Key16(uint16(def.ID)), row.EncodeResource(def))
	})
	if err != nil {
		return err
	}
	tx.loaded.freed.Anywhere()
	return tx.nodeIndex().forget()
}

// RemoveResource forgets a declared resource that no node has and no setting
// names.
func (tx *Tx) RemoveResource(name string) error {
	if err := tx.operates("resources"); err != nil {
		return err
	}
	defs, err := tx.Resources()
	if err != nil {
		return err
	}
	def, ok := defs.Lookup(name)
	if !ok {
		return fmt.Errorf("no resource %q%s: %w", name, index.DidYouMean(name, defs.Names()), ErrNotFound)
	}
	if def.Builtin {
		return row.Clash("resource "+def.Name, "it is built in")
	}
	set, err := tx.settings()
	if err != nil {
		return err
	}
	if slices.Contains(set.Signature, def.Name) || slices.Contains(set.GroupKey, def.Name) || slices.Contains(set.Topology, def.Name) {
		return row.Clash("resource "+def.Name, "the setting signature, group_key or topology names it")
	}
	if set.ShareUnit == def.Name {
		return row.Clash("resource "+def.Name, "the setting share_unit names it")
	}
	if ranksBy(tx.loaded.defs, set.PriorityF, def) {
		return row.Clash("resource "+def.Name, "the setting priorityf names it")
	}
	if err := tx.Limits().measured("resource", def.Name); err != nil {
		return err
	}
	if err := unusedResource(tx, def); err != nil {
		return err
	}
	err = tx.loaded.book.Renamed(def.Name, func() error {
		defs.Remove(def.ID)
		tx.loaded.sayings = requestCache{}
		return tx.file.Remove(row.Resources, row.Key16(uint16(def.ID)))
	})
	if err != nil {
		return err
	}
	return tx.nodeIndex().rebuild()
}

// ranksBy reports whether a PRIORITYF speaks of a resource.
func ranksBy(defs *index.Defs, text string, def index.Def) bool {
	if text == "" {
		return false
	}
	f, err := priorityf.Parse(defs, text)
	return err == nil && f.Names(def.ID)
}

// unusedResource fails if a node or a queue has the resource, or if it is requested: by a job that
// has not ended, or by the next occurrence of a standing reservation.
func unusedResource(tx *Tx, def index.Def) error {
	queues, err := tx.Queues()
	if err != nil {
		return err
	}
	for _, q := range queues {
		if slices.Contains(q.GroupKey, def.Name) {
			return row.Clash("resource "+def.Name, "queue "+q.Name+" has it as group key")
		}
	}
	err = tx.ScanNodes(func(n *index.Node) error {
		if _, ok := n.Get(def.ID); ok {
			return row.Clash("resource "+def.Name, "node "+n.Name+" has it")
		}
		if ranksBy(tx.loaded.defs, n.PriorityF, def) {
			return row.Clash("resource "+def.Name, "the priorityf of node "+n.Name+" names it")
		}
		return nil
	})
	if err != nil {
		return err
	}
	asks := func(who string, r placer.Request) error {
		spec, err := placer.Parse(tx.loaded.defs, placer.Request{Select: r.Select, Place: r.Place})
		if err != nil {
			return nil // it asks for something that is gone already, and never runs
		}
		if spec.Names(def.ID) {
			return row.Clash("resource "+def.Name, who+" asks for it")
		}
		return nil
	}
	err = tx.EachStanding(func(s *Standing) error {
		if s.Over || s.Request.Select == "" {
			return nil
		}
		return asks("reservation "+s.Name, s.Request)
	})
	if err != nil {
		return err
	}
	return tx.eachJob(func(j *row.Job) error {
		return asks(fmt.Sprintf("job %d", j.ID), placer.Request{Select: j.Select, Place: j.Place})
	}, JobHeld, JobQueued, JobReserved, JobRunning)
}

// forget writes the index back and drops it, because its sources have changed.
func (ni nodeIndex) forget() error {
	ni.loaded.settings = nil
	if ni.loaded.index == nil {
		return nil
	}
	err := ni.loaded.source.FlushIndex(ni.loaded.index)
	ni.loaded.index = nil
	return err
}

// rebuild sorts all nodes into buckets again, and measures what shared nodes have left, which the
// index also knows by bitmaps. The buckets have new numbers, so room freed by bucket counts for
// all.
func (ni nodeIndex) rebuild() error {
	if err := ni.forget(); err != nil {
		return err
	}
	ni.loaded.rooms.Forget()
	for _, t := range []row.Table{row.Buckets, row.Bitmaps, row.Rooms} {
		if err := ni.file.Clear(t); err != nil {
			return err
		}
	}
	ni.loaded.freed.Anywhere()
	ix, err := ni.index()
	if err != nil {
		return err
	}
	var nodes []*index.Node
	if err := ni.EachNode(func(n *index.Node) error { nodes = append(nodes, n); return nil }); err != nil {
		return err
	}
	for _, n := range nodes {
		class := ni.classOf(n.Number)
		ix.Insert(n, class)
		if err := ni.file.Put(row.Nodes, row.Key32(n.Number), row.EncodeNode(n)); err != nil {
			return err
		}
		if err := ni.loaded.rooms.Measure(ix, n.Number, class == index.Busy && n.State == index.Up); err != nil {
			return err
		}
	}
	return ix.Err()
}
