package replica

import (
	"bytes"
	"fmt"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
)

// find finds a row as stored; nil if there is none.
type find = func(t row.Table, key []byte) []byte

// deltaLevel is the level of deflate for the difference between a row and the one before.
const deltaLevel = 4

// changesOf returns the changes of a transaction. It leaves out rows that did not change in
// the end, and rows that belong to the file only.
func changesOf(set *file.ChangeSet, before find) (tables []tableChange, err error) {
	for t := range row.TableCount {
		if row.Local(t, nil) {
			continue
		}
		c := tableChange{name: t.String(), cleared: set.Cleared(t)}
		set.Each(t, func(key, value []byte) {
			if row.Local(t, key) {
				return
			}
			var old []byte
			if !c.cleared {
				old = before(t, key)
			}
			o, same, failed := change(key, old, value)
			if failed == nil && o.kind == opChange { // no other machine could make the new row from a damaged one
				_, failed = row.Unseal(t, key, old)
			}
			if failed != nil {
				err = failed
			}
			if !same {
				c.ops = append(c.ops, o)
			}
		})
		if c.cleared || len(c.ops) > 0 {
			tables = append(tables, c)
		}
	}
	return tables, err
}

// change returns the operation that turns one row into another; nil means none.
func change(key, old, value []byte) (o op, same bool, err error) {
	switch {
	case value == nil:
		return op{kind: opDelete, key: key}, old == nil, nil
	case old == nil || len(value) < deltaFrom:
		return op{opPut, key, value}, bytes.Equal(old, value), nil
	case bytes.Equal(old, value):
		return op{}, true, nil
	}
	packed, err := deflate(value, dictionary(old), deltaLevel)
	if err != nil || len(packed) >= len(value) {
		return op{opPut, key, value}, false, err
	}
	return op{opChange, key, packed}, false, nil
}

// rowMost is the longest row that is stored as a difference, in bytes: the limit of bbolt.
const rowMost = 1<<31 - 2

// becomes returns the row that a change makes of another, or nil. Applied to a different row
// than the one that it was made from, the change gives a row with a wrong checksum.
func (o *op) becomes(t row.Table, old []byte) ([]byte, error) {
	switch o.kind {
	case opDelete:
		return nil, nil
	case opPut:
		return o.value, nil
	}
	value, err := inflate(o.value, dictionary(old), rowMost)
	if err == nil && old != nil {
		_, err = row.Unseal(t, o.key, value)
	}
	if err != nil || old == nil {
		return nil, fmt.Errorf("%w: the row %s of table %s is not the one that was changed", errDiffers,
			row.Shown(o.key), t)
	}
	return value, nil
}

// errDiffers means that a replica differs from the log. It is then made again.
var errDiffers = fmt.Errorf("%w: the replica differs from the log", row.ErrDamaged)

// apply applies an entry to a replica.
func (e *Entry) apply(r *file.Recorder) error {
	for i := range e.tables {
		c := &e.tables[i]
		t, known := row.TableNamed(c.name)
		if !known {
			return fmt.Errorf("%w: entry %d, %s, is of a table %q", file.ErrNewer, e.Position, e.author(), c.name)
		}
		if c.cleared {
			if err := r.Clear(t); err != nil {
				return err
			}
		}
		for k := range c.ops {
			o := &c.ops[k]
			if row.Local(t, o.key) {
				return fmt.Errorf("%w: entry %d, %s, has the row %q", errEntry, e.Position, e.author(), o.key)
			}
			old, err := r.Stored(t, o.key)
			if err != nil {
				return err
			}
			value, err := o.becomes(t, old)
			if err != nil {
				return fmt.Errorf("entry %d, %s: %w", e.Position, e.author(), err)
			}
			if err := r.PutStored(t, o.key, value); err != nil {
				return err
			}
		}
	}
	return nil
}

// prove verifies that applying an entry to the rows before it gives those after it: an entry that
// cannot be applied would stop every replica.
func prove(b []byte, set *file.ChangeSet, before find) error {
	e, err := decodeEntry(b)
	if err != nil {
		return fmt.Errorf("the entry that was made of the transaction cannot be read: %w", err)
	}
	var told [row.TableCount]map[string][]byte
	for i := range e.tables {
		c := &e.tables[i]
		t, known := row.TableNamed(c.name)
		if !known || c.cleared != set.Cleared(t) {
			return fmt.Errorf("%w: the entry that was made of the transaction says of table %s what it did not do",
				row.ErrDamaged, c.name)
		}
		told[t] = make(map[string][]byte, len(c.ops))
		for k := range c.ops {
			o := &c.ops[k]
			var old []byte
			if !c.cleared {
				old = before(t, o.key)
			}
			if told[t][string(o.key)], err = o.becomes(t, old); err != nil {
				return err
			}
		}
	}
	for t := range row.TableCount {
		set.Each(t, func(key, value []byte) {
			if row.Local(t, key) {
				return
			}
			got, is := told[t][string(key)]
			delete(told[t], string(key))
			if !is && !set.Cleared(t) {
				got = before(t, key)
			}
			if !bytes.Equal(got, value) {
				err = fmt.Errorf("%w: the entry that was made of the transaction has another row %s of table %s",
					row.ErrDamaged, row.Shown(key), t)
			}
		})
		if len(told[t]) > 0 && err == nil {
			err = fmt.Errorf("%w: the entry that was made of the transaction changes rows of table %s that "+
				"it left alone", row.ErrDamaged, t)
		}
	}
	return err
}
