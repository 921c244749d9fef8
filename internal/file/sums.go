package file

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/placectl/placectl/internal/row"
	"go.etcd.io/bbolt"
)

// A page that a disk has lost, or kept in an older state, has correct checksums: its rows are
// whole, but not those that should be there. So a writer maintains a sum of each table's rows,
// and writes all sums with each commit. check finds such pages by adding the rows up again.
// Each transaction verifies that the row of the sums is that of the last transaction.

// readSums verifies that the row of the sums is that of the file's last transaction. A writer
// starts from it.
func (r *Recorder) readSums() error {
	payload, err := r.Get(row.Meta, row.KeySums)
	if err == nil && payload == nil {
		err = fmt.Errorf("%w: the row that sums up the tables is missing", row.ErrDamaged)
	}
	if err != nil {
		return err
	}
	at := uint64(r.bolt.ID())
	if r.bolt.Writable() {
		at-- // it is already this transaction's number
	}
	written, err := row.SumsTransaction(payload)
	if err == nil && written != at {
		err = fmt.Errorf("%w: the tables are as transaction %d left them, and the file stands at %d: a page is "+
			"lost or stale", row.ErrDamaged, written, at)
	}
	if err == nil && r.bolt.Writable() {
		err = row.SumsRow.Read(&r.sums, row.KeySums, payload)
	}
	return err
}

// storedSums returns the sums as the last transaction left them.
func (r *Recorder) storedSums() (*row.Sums, error) {
	if r.bolt.Writable() || r.stored {
		return &r.sums, nil
	}
	payload, err := r.Get(row.Meta, row.KeySums)
	if err == nil {
		err = row.SumsRow.Read(&r.sums, row.KeySums, payload)
	}
	r.stored = err == nil
	return &r.sums, err
}

// gap is a range without rows of a table: after one key and before another.
type gap struct {
	known    bool
	low, own []byte
	high     []byte // nil if no row follows
}

// holds reports whether a key is in the gap.
func (g *gap) holds(key []byte) bool {
	return g.known && bytes.Compare(key, g.low) > 0 && (g.high == nil || bytes.Compare(key, g.high) < 0)
}

// since records that no row is between a key and the next one; nil means none.
func (g *gap) since(key, next []byte) {
	g.known, g.low, g.high = true, append(g.low[:0], key...), nil
	if next != nil {
		g.own = append(g.own[:0], next...)
		g.high = g.own
	}
}

// count adds a row that is about to be put to the sums of its table, and subtracts the one
// that it replaces; nil deletes. A row in the gap after the last new row replaces none. Most
// new rows come in the order of their keys, at least within their state or kind, so it need
// not search for them. same means that nothing changes: the row is already there, or there is
// none to delete.
func (r *Recorder) count(t row.Table, b *bbolt.Bucket, key, value []byte) (same bool, err error) {
	if !row.Counted(t, key) {
		r.changed = true
		return false, nil
	}
	gap := &r.gaps[t]
	var old []byte
	if gap.holds(key) {
		gap.low = append(gap.low[:0], key...)
	} else if next, found := b.Cursor().Seek(key); bytes.Equal(next, key) {
		old = found
	} else {
		gap.since(key, next)
	}
	if old == nil && value == nil || old != nil && bytes.Equal(old, value) {
		return true, nil
	}
	r.differs(t, key, old, value)
	r.sums.Tables[t].Change(old, value)
	part, err := r.part(t, key)
	if part != nil {
		part.Change(old, value)
	}
	return false, err
}

// part returns the sum of the rows of an index with the same first part of the key, or nil if
// they are not summed.
func (r *Recorder) part(t row.Table, key []byte) (*row.Sum, error) {
	n := t.Part(key)
	if n < 0 {
		return nil, nil
	}
	if r.recent[t].sum != nil && string(r.recent[t].part) == string(key[:n]) {
		return r.recent[t].sum, nil
	}
	var room [128]byte
	at := row.IndexSumKey(room[:0], t, key[:n])
	if sum := r.parts[string(at)]; sum != nil {
		r.recent[t] = recentPart{append(r.recent[t].part[:0], key[:n]...), sum}
		return sum, nil
	}
	sum := new(row.Sum)
	if !r.anew {
		payload, err := r.Get(row.IndexSums, at)
		if payload != nil {
			err = row.IndexSumRow.Read(sum, at, payload)
		}
		if err != nil {
			return nil, err
		}
	}
	if r.parts == nil {
		r.parts = make(map[string]*row.Sum)
	}
	r.parts[string(at)] = sum
	return sum, nil
}

// recentPart is the part of an index that was changed last, because most changes are in few
// parts.
type recentPart struct {
	part []byte
	sum  *row.Sum
}

// sumOf returns the expected sum of the rows of a table whose keys have a prefix, if the file
// has it.
func (r *Recorder) sumOf(t row.Table, prefix []byte) (sum row.Sum, known bool, err error) {
	if len(prefix) == 0 {
		stored, err := r.storedSums()
		if stored == nil || err != nil {
			return sum, false, err
		}
		return stored.Tables[t], true, nil
	}
	all := row.IndexSumKey(nil, t, prefix)
	err = r.Each(row.IndexSums, all, func(key, payload []byte) (bool, error) {
		if r.parts[string(key)] != nil {
			return true, nil
		}
		one, err := row.IndexSumRow.Decode(key, payload)
		sum.Join(*one)
		return true, err
	})
	for key, one := range r.parts {
		if strings.HasPrefix(key, string(all)) {
			sum.Join(*one)
		}
	}
	return sum, err == nil, err
}

// countParts recomputes the sums of the rows of indexes by the first parts of their keys.
func (r *Recorder) countParts() error {
	r.parts, r.anew, r.recent = nil, true, [row.TableCount]recentPart{}
	defer func() { r.anew = false }()
	for t := range row.TableCount {
		b := r.bucket(t)
		if b == nil || !t.Parted() {
			continue
		}
		err := b.ForEach(func(key, value []byte) error {
			part, err := r.part(t, key)
			if part != nil {
				part.Add(value)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// clearParts removes the sums of a table whose rows are removed.
func (r *Recorder) clearParts(t row.Table) error {
	r.recent[t].sum = nil
	if t == row.IndexSums {
		r.parts, r.recent = nil, [row.TableCount]recentPart{}
	}
	if !t.Parted() {
		return nil
	}
	all := row.IndexSumKey(nil, t, nil)
	maps.DeleteFunc(r.parts, func(key string, _ *row.Sum) bool { return strings.HasPrefix(key, string(all)) })
	return r.RemoveAll(row.IndexSums, all)
}

// writeSums writes the sums as the transaction leaves them.
func (r *Recorder) writeSums() error {
	for _, key := range slices.Sorted(maps.Keys(r.parts)) {
		if err := r.PutOrRemove(row.IndexSums, []byte(key), r.parts[key].Encode()); err != nil {
			return err
		}
	}
	r.sums.Transaction = uint64(r.bolt.ID())
	return r.put(row.Meta, row.KeySums, row.Seal(row.KeySums, row.SumsRow.Encode(&r.sums)))
}
