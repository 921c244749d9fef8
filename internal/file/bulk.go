package file

import "github.com/placectl/placectl/internal/row"

// bulkRows is the number of rows in a commit of Bulk, which are in memory until then.
const bulkRows = 20_000

// Bulk puts many rows into a scratch file, in several commits.
type Bulk struct {
	file *File
	open *opened
	r    *Recorder
	rows int
}

// Bulk lets fn put rows, most of them in the order of their keys, and commits them. A file of
// an older format keeps its format.
func (f *File) Bulk(fn func(*Bulk) error) error {
	return f.run(writing, func(o *opened) error {
		bulk := &Bulk{file: f, open: o}
		if err := bulk.begin(); err != nil {
			return err
		}
		defer func() { bulk.r.bolt.Rollback() }() //nolint:errcheck // after a commit it only says so
		if err := fn(bulk); err != nil {
			return err
		}
		return f.commit(o, bulk.r)
	})
}

func (b *Bulk) begin() error {
	tx, err := b.open.bolt.Begin(true)
	if err != nil {
		return err
	}
	b.r, b.rows = &Recorder{bolt: tx, inOrder: true}, 0
	if err := b.r.readFormat(); err != nil {
		return err
	}
	return b.r.readSums()
}

// Put writes a row.
func (b *Bulk) Put(t row.Table, key, payload []byte) error {
	if err := b.room(); err != nil {
		return err
	}
	return b.r.Put(t, key, payload)
}

// room makes room for one more row: it commits the present ones if there are many.
func (b *Bulk) room() error {
	if b.rows++; b.rows <= bulkRows {
		return nil
	}
	if err := b.file.commit(b.open, b.r); err != nil {
		return err
	}
	return b.begin()
}

// Has reports whether a row has been put.
func (b *Bulk) Has(t row.Table, key []byte) (bool, error) {
	value, err := b.r.get(t, key)
	return value != nil, err
}

// SetFormat gives the new file the format of the rows that will be put.
func (b *Bulk) SetFormat(format uint32) error { return b.r.lower(format) }

// PutOrRemove writes a row, or removes it if the payload is nil.
func (b *Bulk) PutOrRemove(t row.Table, key, payload []byte) error {
	if payload == nil {
		return b.r.Remove(t, key)
	}
	return b.Put(t, key, payload)
}
