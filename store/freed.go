package store

import (
	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/placer/cycle"
	"github.com/placectl/placectl/store/internal/row"
)

// freed is where room was made since a cycle has looked at all plans: what one cycle
// hands on to the next. It is kept only as long as anybody waits.
type freed struct {
	tx      *Tx
	list    *cycle.Freed    // nil until it is read
	nodes   *roaring.Bitmap // and all that was freed in the transaction before that
	any     bool
	changed bool
}

// on notes that room was made on nodes.
func (f *freed) on(nodes []uint32) {
	f.count()
	if f.list != nil {
		f.list.On(nodes)
		return
	}
	if f.nodes == nil {
		f.nodes = roaring.New()
	}
	f.nodes.AddMany(nodes)
}

// anywhere notes that any request may fit now.
func (f *freed) anywhere() {
	f.count()
	if f.any = true; f.list != nil {
		f.list.Anywhere()
	}
}

// count notes that the next cycle is to look again at jobs that wait for anything but
// room, too.
func (f *freed) count() {
	f.tx.state.Invalidations++
	f.changed = f.tx.Writable()
	f.tx.dirty = f.tx.dirty || f.changed
}

// read adds what is in the file.
func (f *freed) read() (*cycle.Freed, error) {
	if f.list != nil {
		return f.list, nil
	}
	payload, err := f.tx.file.Get(row.Invalidations, row.KeyFreed)
	if err != nil {
		return nil, err
	}
	stored := new(row.Freed)
	if payload != nil {
		if stored, err = row.DecodeFreed(payload); err != nil {
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

// flush writes it down.
func (f *freed) flush() error {
	if !f.changed {
		return nil
	}
	f.changed = false
	if f.tx.file.Last(row.Waiting) == nil {
		return f.tx.file.Remove(row.Invalidations, row.KeyFreed)
	}
	list, err := f.read()
	if err != nil {
		return err
	}
	if !list.Any && list.Nodes.IsEmpty() {
		return f.tx.file.Remove(row.Invalidations, row.KeyFreed)
	}
	return f.tx.file.Put(row.Invalidations, row.KeyFreed, row.EncodeFreed(&row.Freed{Anywhere: list.Any, Nodes: list.Nodes.ToArray()}))
}
