package store

import (
	"fmt"

	"github.com/placectl/placectl/store/internal/row"
	"go.etcd.io/bbolt"
)

// recorder is the one door to the rows of the file: whatever puts a row, removes one,
// clears a table or makes one goes through it, and nothing else calls the methods of
// bbolt that write; recorder_test.go states that. A writer's changes go through to
// bbolt. A reader's, while it brings its clock up to date, go into a patch that it
// sees the file through; it is of the type in which a writer's are kept for whoever
// wants to know what a commit changed. Rows come and go as they are stored, checksum and all.
type recorder struct {
	bolt    *bbolt.Tx
	buckets [row.TableCount]*bbolt.Bucket
	writes  [row.TableCount]int // how often each table was changed
	walks   []*walk             // that are under way
	changes *changeSet          // a reader's patch; a writer's where somebody wants to know them
	passing bool                // the clock is being brought up to date: readers may patch
}

func (r *recorder) writable() bool { return r.bolt.Writable() }

// table is where a table's rows are in the file, nil when it has no such table.
func (r *recorder) table(t row.Table) *bbolt.Bucket {
	if r.buckets[t] == nil {
		r.buckets[t] = r.bolt.Bucket([]byte(t.String()))
	}
	return r.buckets[t]
}

// existing is table for those who need it.
func (r *recorder) existing(t row.Table) (*bbolt.Bucket, error) {
	b := r.table(t)
	if b == nil {
		return nil, fmt.Errorf("%w: table %s is missing", ErrDamaged, t)
	}
	return b, nil
}

// get finds a row, nil when there is none.
func (r *recorder) get(t row.Table, key []byte) ([]byte, error) {
	b, err := r.existing(t)
	if err != nil {
		return nil, err
	}
	if p := r.patch(t); p != nil {
		if value, known := p.get(key); known {
			return value, nil
		}
	}
	return b.Get(key), nil
}

// patch is what a reader sees in place of a table's rows, nil for nothing.
func (r *recorder) patch(t row.Table) *changes {
	if r.changes == nil || r.writable() {
		return nil
	}
	return &r.changes[t]
}

// put writes a row.
func (r *recorder) put(t row.Table, key, value []byte) error {
	b, err := r.change(t)
	if b != nil {
		err = b.Put(key, value)
	}
	if err == nil && r.changes != nil {
		r.changes[t].set(key, value)
	}
	return err
}

// remove deletes a row, if there is one.
func (r *recorder) remove(t row.Table, key []byte) error {
	b, err := r.change(t)
	if b != nil {
		err = b.Delete(key)
	}
	if err == nil && r.changes != nil {
		r.changes[t].set(key, nil)
	}
	return err
}

// clear deletes every row of a table.
func (r *recorder) clear(t row.Table) error {
	b, err := r.change(t)
	if b != nil {
		name := []byte(t.String())
		if err = r.bolt.DeleteBucket(name); err == nil {
			r.buckets[t], err = r.bolt.CreateBucket(name)
		}
	}
	if err == nil && r.changes != nil {
		r.changes[t].clear()
	}
	return err
}

// create makes a table, unless there is one.
func (r *recorder) create(t row.Table) (err error) {
	if r.buckets[t], err = r.bolt.CreateBucketIfNotExists([]byte(t.String())); err != nil {
		return fmt.Errorf("table %s: %w", t, err)
	}
	return nil
}

// change is told that a table is about to be changed, and where in the file: nowhere for
// a reader.
func (r *recorder) change(t row.Table) (b *bbolt.Bucket, err error) {
	if r.writable() {
		b, err = r.existing(t)
	} else if !r.passing {
		err = ErrReadOnly
	}
	if err != nil {
		return nil, err
	}
	for _, w := range r.walks {
		if w.cursor.table == t {
			w.leave()
		}
	}
	r.writes[t]++
	return b, nil
}
