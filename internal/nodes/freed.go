package nodes

import (
	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer/cycle"
)

// Freed notes where room was made since a cycle last examined all plans: one cycle passes it
// on to the next. It is kept only while jobs wait or were postponed.
type Freed struct {
	Base
	list    *cycle.Freed    // nil until it is read
	nodes   *roaring.Bitmap // what the transaction freed before list was read
	any     bool
	changed bool // whether it must be written
}

// On notes that room was made on nodes.
func (f *Freed) On(nodes []uint32) {
	f.Count()
	if f.list != nil {
		f.list.On(nodes)
		return
	}
	if f.nodes == nil {
		f.nodes = roaring.New()
	}
	f.nodes.AddMany(nodes)
}

// Anywhere notes that any request may now fit.
func (f *Freed) Anywhere() {
	f.Count()
	if f.any = true; f.list != nil {
		f.list.Anywhere()
	}
}

// Count makes the next cycle also examine the jobs that wait for something other than room.
func (f *Freed) Count() {
	f.State.Invalidations++
	if f.changed = f.Rows.Writable(); f.changed {
		f.MarkDirty()
	}
}

// Read returns what was freed, including what is in the file.
func (f *Freed) Read() (*cycle.Freed, error) {
	if f.list != nil {
		return f.list, nil
	}
	payload, err := f.Rows.Get(row.Invalidations, row.KeyFreed)
	if err != nil {
		return nil, err
	}
	stored := new(row.Freed)
	if payload != nil {
		if stored, err = row.FreedRow.Decode(row.KeyFreed, payload); err != nil {
			return nil, err
		}
	}
	nodes := roaring.BitmapOf(stored.Nodes...)
	if f.nodes != nil {
		nodes.Or(f.nodes)
	}
	f.list = cycle.NewFreed(nodes, stored.Anywhere || f.any)
	return f.list, nil
}

// Made reports whether room was made in this transaction.
func (f *Freed) Made() bool { return f.changed }

// Keep marks it for writing: the plans have been examined.
func (f *Freed) Keep() { f.changed = true }

// Flush writes to the file what was freed.
func (f *Freed) Flush() error {
	if !f.changed {
		return nil
	}
	f.changed = false
	if any, err := f.Rows.Last(row.Waiting); err != nil {
		return err
	} else if any == nil {
		postponed, err := f.Rows.Get(row.Meta, row.KeyPostponed)
		if err != nil {
			return err
		}
		if postponed == nil {
			return f.Rows.Remove(row.Invalidations, row.KeyFreed)
		}
	}
	list, err := f.Read()
	if err != nil {
		return err
	}
	if !list.Any && list.Nodes.IsEmpty() {
		return f.Rows.Remove(row.Invalidations, row.KeyFreed)
	}
	return f.Rows.Put(row.Invalidations, row.KeyFreed,
		row.FreedRow.Encode(&row.Freed{Anywhere: list.Any, Nodes: list.Nodes.ToArray()}))
}
