package file

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"

	"github.com/placectl/placectl/internal/row"
	"go.etcd.io/bbolt"
)

// Recorder is the only access to the rows of the file, for one transaction. All code that puts
// or removes a row, or clears or makes a table, uses it, and nothing else calls bbolt's
// writing methods; recorder_test.go checks that. A writer's changes go to bbolt. Those of a
// reader that brings its clock up to date, and of a writer beside readers, go into a patch
// through which it sees the file. A patch has the same type as the recorded changes of a
// commit.
//
// What the methods return is valid as long as the transaction, and must not be changed. A
// table that a file of an older format lacks is empty, and rows put there are dropped. That is
// for replicas of logs, which are written in the log's format until it is upgraded. Other
// files are migrated before they are written to.
type Recorder struct {
	bolt     *bbolt.Tx
	where    *whereabouts // which file it is, nil for a replica
	data     *os.File     // the file, nil for a private copy
	judged   bool         // it may be a copy: it is neither under construction nor a replica
	format   uint32
	older    uint32 // the format before a migration, 0 without one
	buckets  [row.TableCount]*bbolt.Bucket
	writes   [row.TableCount]int // how often each table was changed
	changed  bool
	was      map[storedRow][]byte // rows that differ and may be changed back, until changed is set
	sums     row.Sums             // a writer's; a reader's once it has read them
	stored   bool                 // a reader has read them
	parts    map[string]*row.Sum  // rows of IndexSums that the writer writes with its commit
	recent   [row.TableCount]recentPart
	anew     bool                // the sums are being counted from the rows
	gaps     [row.TableCount]gap // gaps without rows
	walks    []*Walk             // walks under way
	changes  *ChangeSet          // a reader's patch; a writer's changes if they are recorded
	passing  bool                // the clock is being brought up to date: readers may patch
	inOrder  bool                // rows are put in the order of their keys, mostly
	beside   bool                // a writer beside readers: its changes are only in changes
	supposed bool                // and are never written
}

// filledInOrder is the fill factor of pages whose rows come in order. bbolt's default of a
// half is for rows in any order.
const filledInOrder = 0.95

// begin starts a transaction. A writer brings a file of an older format up to date.
func (f *File) begin(o *opened, tx *bbolt.Tx) (*Recorder, error) {
	r := &Recorder{bolt: tx, inOrder: f.opt.Scratch}
	if !f.opt.Replica {
		r.where, r.judged = o.where, !f.opt.Scratch
	}
	if f.copied == nil {
		r.data = o.data
	}
	if (f.Committed != nil || f.opt.Replica) && tx.Writable() {
		r.changes = new(ChangeSet)
	}
	if err := r.readFormat(); err != nil {
		return nil, err
	}
	if err := refused(r.format); err != nil {
		return nil, err
	}
	if err := r.readSums(); err != nil {
		return nil, err
	}
	if err := f.same(r); err != nil {
		return nil, err
	}
	if !tx.Writable() || f.opt.Replica {
		return r, nil
	}
	if err := r.alone(); err != nil || r.format == Newest {
		return r, err
	}
	if err := r.migrate(); err != nil || f.opt.Scratch {
		return r, err
	}
	return r, r.Settle("")
}

// Writable reports whether the transaction may change the file.
func (r *Recorder) Writable() bool { return r.beside || r.bolt.Writable() }

// Format returns the format of the file.
func (r *Recorder) Format() uint32 { return r.format }

// Migrated reports whether the transaction has migrated the file: derived rows must be rebuilt.
func (r *Recorder) Migrated() bool { return r.older != 0 }

// FoundFormat returns the format that the transaction found the file in.
func (r *Recorder) FoundFormat() uint32 { return cmp.Or(r.older, r.format) }

// Size returns the size of the file, in bytes.
func (r *Recorder) Size() int64 { return r.bolt.Size() }

// Changed reports whether the file differs from its state before. Putting a row unchanged,
// removing a missing row, or changing a row back is no change.
func (r *Recorder) Changed() bool { return r.changed || len(r.was) > 0 }

// errEnded means that a transaction was kept and used after its end.
var errEnded = errors.New("the transaction is over: its function has returned")

// storedRow is a row of a table.
type storedRow struct {
	table row.Table
	key   string
}

// mostBack is the most different rows that are watched for being changed back.
const mostBack = 4096

// differs records that a row changes from an old value to another; nil means none.
func (r *Recorder) differs(t row.Table, key, old, value []byte) {
	if r.changed {
		return
	}
	k := storedRow{t, string(key)}
	switch was, known := r.was[k]; {
	case known && value != nil && bytes.Equal(was, value):
		delete(r.was, k)
	case known:
	case old == nil || len(r.was) == mostBack:
		r.changed, r.was = true, nil
	default:
		if r.was == nil {
			r.was = make(map[storedRow][]byte)
		}
		r.was[k] = bytes.Clone(old)
	}
}

// Writes returns how often a table was changed in the transaction.
func (r *Recorder) Writes(t row.Table) int { return r.writes[t] }

// AllWrites returns how often any table was changed.
func (r *Recorder) AllWrites() (n int) {
	for _, writes := range r.writes {
		n += writes
	}
	return n
}

// Pass lets a reader change its view of the file, as a writer changes the file, until done is
// called. It is for bringing the clock up to date.
func (r *Recorder) Pass() (done func()) {
	if !r.Writable() {
		r.changes = new(ChangeSet)
	}
	r.passing = true
	return func() { r.passing = false }
}

// Passing reports whether the clock is being brought up to date.
func (r *Recorder) Passing() bool { return r.passing }

// bucket returns the bbolt bucket of a table's rows, or nil if the file has no such table.
func (r *Recorder) bucket(t row.Table) *bbolt.Bucket {
	if r.buckets[t] == nil {
		r.buckets[t] = r.bolt.Bucket([]byte(t.String()))
		if r.inOrder && r.buckets[t] != nil {
			r.buckets[t].FillPercent = filledInOrder
		}
	}
	return r.buckets[t]
}

// table is bucket for readers. It is nil only if the file is older than the table.
func (r *Recorder) table(t row.Table) (*bbolt.Bucket, error) {
	if r.bolt.DB() == nil {
		return nil, errEnded
	}
	b := r.bucket(t)
	if b == nil && !r.Lacks(t) {
		return nil, fmt.Errorf("%w: table %s is missing", row.ErrDamaged, t)
	}
	return b, nil
}

// Get finds a row's payload, or nil if there is none.
func (r *Recorder) Get(t row.Table, key []byte) ([]byte, error) {
	value, err := r.get(t, key)
	if err != nil {
		return nil, err
	}
	if value == nil {
		return nil, r.absent(t, key)
	}
	return row.Unseal(t, key, value)
}

// get finds a row as it is stored.
func (r *Recorder) get(t row.Table, key []byte) ([]byte, error) {
	b, err := r.table(t)
	if b == nil {
		return nil, err
	}
	if p := r.patch(t); p != nil {
		if value, known := p.get(key); known {
			return value, nil
		}
	}
	return b.Get(key), nil
}

// patch returns the changes through which a reader, or a writer beside readers, sees a table's
// rows, or nil.
func (r *Recorder) patch(t row.Table) *changes {
	if r.changes == nil || r.bolt.Writable() {
		return nil
	}
	if c := &r.changes[t]; c.cleared || len(c.pages) > 0 {
		return c
	}
	return nil
}

// Put writes a row.
func (r *Recorder) Put(t row.Table, key, payload []byte) error {
	if len(payload) == 0 {
		return fmt.Errorf("%w: an instant or an amount is beyond the bounds of table %s (row %s)", row.ErrInvalid, t,
			row.Shown(key))
	}
	return r.put(t, key, row.Seal(key, payload))
}

// PutOrRemove writes a row, or removes it if the payload is nil.
func (r *Recorder) PutOrRemove(t row.Table, key, payload []byte) error {
	if payload == nil {
		return r.Remove(t, key)
	}
	return r.Put(t, key, payload)
}

// Mark writes a row whose key says everything.
func (r *Recorder) Mark(t row.Table, key []byte) error { return r.Put(t, key, row.EncodeMark()) }

// Remove deletes a row, if there is one.
func (r *Recorder) Remove(t row.Table, key []byte) error { return r.put(t, key, nil) }

// put writes a row as it is stored, or deletes it if value is nil.
func (r *Recorder) put(t row.Table, key, value []byte) error {
	if r.Lacks(t) {
		return nil
	}
	b, err := r.change(t)
	switch {
	case err != nil:
		return err
	case b == nil:
		if r.alike(t, key, value) {
			return nil
		}
	default:
		if same, err := r.count(t, b, key, value); same || err != nil {
			return err
		}
		if value == nil {
			err = b.Delete(key)
		} else {
			err = b.Put(key, value)
		}
	}
	if err == nil && r.changes != nil {
		r.changes[t].set(key, value)
	}
	return err
}

// RemoveAll deletes the rows whose keys begin with prefix.
func (r *Recorder) RemoveAll(t row.Table, prefix []byte) error {
	return r.Each(t, prefix, func(key, _ []byte) (bool, error) { return true, r.Remove(t, key) })
}

// Clear deletes every row of a table.
func (r *Recorder) Clear(t row.Table) error {
	if r.Lacks(t) {
		return nil
	}
	b, err := r.change(t)
	if b != nil {
		name := []byte(t.String())
		r.sums.Tables[t], r.changed = row.Sum{}, true
		if err = r.clearParts(t); err != nil {
			return err
		}
		if err = r.bolt.DeleteBucket(name); err == nil {
			r.buckets[t], err = r.bolt.CreateBucket(name)
		}
	} else if row.Local(t, nil) { // it is derived from rows
		return err
	} else if err == nil && r.beside {
		r.changed = true
	}
	if err == nil && r.changes != nil {
		r.changes[t].clear()
	}
	return err
}

// create makes a table, unless there is one.
func (r *Recorder) create(t row.Table) (err error) {
	if r.buckets[t], err = r.bolt.CreateBucketIfNotExists([]byte(t.String())); err != nil {
		return fmt.Errorf("table %s: %w", t, err)
	}
	return nil
}

// drop removes an empty table.
func (r *Recorder) drop(t row.Table) error {
	if r.bucket(t) == nil {
		return nil
	}
	r.buckets[t] = nil
	return r.bolt.DeleteBucket([]byte(t.String()))
}

// change prepares a change of a table, and returns its bucket in the file, or nil for a patch.
func (r *Recorder) change(t row.Table) (b *bbolt.Bucket, err error) {
	if r.bolt.Writable() {
		b, err = r.table(t)
	} else if !r.beside && !r.passing {
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
