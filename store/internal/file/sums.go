package file

import (
	"bytes"
	"fmt"

	"github.com/placectl/placectl/store/internal/row"
	"go.etcd.io/bbolt"
)

// A page that a disk has lost, or kept as it was some transactions ago, carries right
// checksums: its rows are whole, and not those that should be there. So a writer keeps a
// sum of each table's rows up to date, and writes all of them with each commit. Adding
// the rows up again, as check does, tells; that the row of the sums is the last
// transaction's, each transaction looks at.

// readSums verifies that the row of the sums is that of the transaction which the file
// stands at. A writer takes it over. Older formats have none.
func (r *Recorder) readSums() error {
	if r.format < sumsSince {
		return nil
	}
	payload, err := r.Get(row.Meta, row.KeySums)
	if err == nil && payload == nil {
		err = fmt.Errorf("%w: the row that sums up the tables is missing", row.ErrDamaged)
	}
	if err != nil {
		return err
	}
	at := uint64(r.bolt.ID())
	if r.bolt.Writable() {
		at-- // it is this transaction's number already
	}
	written, err := row.SumsTransaction(payload)
	if err == nil && written != at {
		err = fmt.Errorf("%w: the tables are as transaction %d left them, and the file stands at %d: a page is lost or stale", row.ErrDamaged, written, at)
	}
	if err == nil && r.bolt.Writable() {
		err = r.sums.Decode(payload)
	}
	return err
}

// sumsSince is the format that brought the sums.
const sumsSince = 4

// storedSums are the sums as the last transaction left them, nil in an older format.
func (r *Recorder) storedSums() (*row.Sums, error) {
	switch {
	case r.format < sumsSince:
		return nil, nil
	case r.bolt.Writable() || r.stored:
		return &r.sums, nil
	}
	payload, err := r.Get(row.Meta, row.KeySums)
	if err == nil {
		err = r.sums.Decode(payload)
	}
	r.stored = err == nil
	return &r.sums, err
}

// gap is where no row of a table is: behind one key and before another.
type gap struct {
	known    bool
	low, own []byte
	high     []byte // nil: no row is behind
}

// holds reports whether a key lies there.
func (g *gap) holds(key []byte) bool {
	return g.known && bytes.Compare(key, g.low) > 0 && (g.high == nil || bytes.Compare(key, g.high) < 0)
}

// since says that no row is between a key and the next one, nil for none.
func (g *gap) since(key, next []byte) {
	g.known, g.low, g.high = true, append(g.low[:0], key...), nil
	if next != nil {
		g.own = append(g.own[:0], next...)
		g.high = g.own
	}
}

// count adds a row that is about to be put, or removed where it is nil, to the sum of its
// table, and takes off the one that it replaces. One in the gap behind the last new row
// replaces none: most new ones come in the order of their keys, of their state or kind if
// not of all, and nobody has to look for theirs. It reports whether nothing is
// to be done: the row is there already, or there is none to remove.
func (r *Recorder) count(t row.Table, b *bbolt.Bucket, key, value []byte) (same bool) {
	if !row.Counted(t, key) {
		return false
	}
	sum := &r.sums.Tables[t]
	gap := &r.gaps[t]
	var old []byte
	if gap.holds(key) {
		gap.low = append(gap.low[:0], key...)
	} else if next, found := b.Cursor().Seek(key); bytes.Equal(next, key) {
		old = found
	} else {
		gap.since(key, next)
	}
	switch {
	case old == nil && value == nil, old != nil && bytes.Equal(old, value):
		return true
	case old != nil:
		sum.Remove(old)
	}
	if value == nil {
		return false
	}
	sum.Add(value)
	return false
}

// writeSums writes the sums as the transaction leaves them.
func (r *Recorder) writeSums() error {
	r.sums.Transaction = uint64(r.bolt.ID())
	return r.put(row.Meta, row.KeySums, row.Seal(row.KeySums, r.sums.Encode()))
}

// sumUp adds up the rows of every table, and verifies each.
func (r *Recorder) sumUp() error {
	r.sums = row.Sums{}
	for t := range row.TableCount {
		b := r.bucket(t)
		if b == nil {
			continue
		}
		err := b.ForEach(func(key, value []byte) error {
			if !row.Counted(t, key) {
				return nil
			}
			r.sums.Tables[t].Add(value)
			_, err := row.Unseal(t, key, value)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
