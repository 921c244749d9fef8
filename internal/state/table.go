// Package state keeps the rows of a transaction, and the derived rows that are declared to
// follow from them.
//
// Only Put writes rows of a Table. It knows the old row and so moves the keys of its indexes,
// and a caller cannot forget one. The old row comes from the bytes that were handed out in the
// transaction, so that no row is read twice.
package state

import (
	"bytes"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
)

// Table holds the rows of one kind, as one transaction reads and changes them. It reuses its
// memory from one row to the next.
type Table[T any] struct {
	rows    *file.Recorder
	of      *row.Stored[T]
	counter Counter
	follows []func(was, is *T) error // derived data that is itself computed by rows, such as limits
	handed  handed
	old     T
	key     []byte
	was, is []byte
}

// handed holds the present payloads of the rows that were read or put.
type handed struct {
	numbered map[uint64][]byte // by keys of eight bytes, as most are
	other    map[string][]byte
}

func (h *handed) set(key, payload []byte) {
	if len(key) == 8 {
		h.numbered[row.Number64(key)] = payload
	} else {
		h.other[string(key)] = payload
	}
}

func (h *handed) get(key []byte) (payload []byte, known bool) {
	if len(key) == 8 {
		payload, known = h.numbered[row.Number64(key)]
	} else {
		payload, known = h.other[string(key)]
	}
	return payload, known
}

// Counter changes the count of a table at a key. The key is valid until it returns.
type Counter func(t row.Table, key []byte, by int64) error

// NewTable returns a table. The counter is for kinds of rows that are counted. Each of follows
// is called when one row replaces another; nil means none. was is valid until the function
// returns.
func NewTable[T any](rows *file.Recorder, of *row.Stored[T], counter Counter,
	follows ...func(was, is *T) error) *Table[T] {
	return &Table[T]{rows: rows, of: of, counter: counter, follows: follows,
		handed: handed{make(map[uint64][]byte), make(map[string][]byte)}}
}

// Read returns the payload of a row, or nil if there is none.
func (t *Table[T]) Read(key []byte) ([]byte, error) {
	payload, err := t.rows.Get(t.of.Table, key)
	if err == nil {
		t.Handed(key, payload)
	}
	return payload, err
}

// Handed records the payload of a row that was read elsewhere.
func (t *Table[T]) Handed(key, payload []byte) {
	if t.rows.Writable() {
		t.handed.set(key, payload)
	}
}

// Put writes a row and updates what follows from it.
func (t *Table[T]) Put(v *T) error {
	t.key = t.of.Key(t.key[:0], v)
	old, was, err := t.stored(t.key)
	if err != nil {
		return err
	}
	key, payload := bytes.Clone(t.key), t.of.Encode(v) // cloned, because bbolt keeps them
	if err := t.move(old, v, was, payload); err != nil {
		return err
	}
	t.handed.set(key, payload)
	return t.rows.Put(t.of.Table, key, payload)
}

// Remove removes a row, if there is one, and what follows from it.
func (t *Table[T]) Remove(key []byte) error {
	old, was, err := t.stored(key)
	if err != nil || old == nil {
		return err
	}
	if err := t.move(old, nil, was, nil); err != nil {
		return err
	}
	t.handed.set(key, nil)
	return t.rows.Remove(t.of.Table, key)
}

// Unlist takes a row out of one of its indexes, in a transaction that only supposes and is
// never written. The row still exists, but that index no longer finds it.
func (t *Table[T]) Unlist(index row.Table, key []byte) error {
	if !t.rows.Supposed() {
		panic("state: a row is taken out of an index, in a transaction that is written")
	}
	return t.rows.Remove(index, key)
}

// stored returns a row as it is in the file and its payload, or nil if there is none.
func (t *Table[T]) stored(key []byte) (*T, []byte, error) {
	payload, known := t.handed.get(key)
	if !known {
		var err error
		if payload, err = t.rows.Get(t.of.Table, key); err != nil {
			return nil, nil, err
		}
	}
	if payload == nil {
		return nil, nil, nil
	}
	return &t.old, payload, t.of.Borrow(&t.old, key, payload)
}

// move replaces what follows from the old row by what follows from the new one. was and is are
// their payloads.
func (t *Table[T]) move(old, v *T, was, is []byte) error {
	for i := range t.of.Indexes {
		if err := t.index(&t.of.Indexes[i], old, v); err != nil {
			return err
		}
	}
	for i := range t.of.Counts {
		if err := t.count(&t.of.Counts[i], old, v, was, is); err != nil {
			return err
		}
	}
	for _, fn := range t.follows {
		if err := fn(old, v); err != nil {
			return err
		}
	}
	return nil
}

// count moves a row's count from its old key to its new one.
func (t *Table[T]) count(c *row.Count[T], old, v *T, was, is []byte) error {
	t.was, t.is = t.was[:0], t.is[:0]
	if old != nil {
		t.was = c.Key(t.was, old, was)
	}
	if v != nil {
		t.is = c.Key(t.is, v, is)
	}
	if bytes.Equal(t.was, t.is) {
		return nil
	}
	if len(t.was) > 0 {
		if err := t.counter(c.Table, t.was, -1); err != nil {
			return err
		}
	}
	if len(t.is) > 0 {
		return t.counter(c.Table, t.is, 1)
	}
	return nil
}

// index moves the keys that a row has in an index. It removes all old keys before it adds new
// ones, because the row may have the same key at another position.
func (t *Table[T]) index(ix *row.Index[T], old, v *T) error {
	if ix.Nth == nil && old != nil && v != nil {
		t.was, t.is = ix.Key(t.was[:0], old), ix.Key(t.is[:0], v)
		if bytes.Equal(t.was, t.is) && (ix.Value == nil || bytes.Equal(ix.Value(old), ix.Value(v))) {
			return nil // as for most rows
		}
	}
	moved := old == nil || v == nil || ix.Value != nil && !bytes.Equal(ix.Value(old), ix.Value(v))
	for i := 0; !moved; i++ {
		t.was, t.is = ix.At(t.was[:0], old, i), ix.At(t.is[:0], v, i)
		if moved = !bytes.Equal(t.was, t.is); len(t.was) == 0 {
			break
		}
	}
	if !moved {
		return nil
	}
	for i := 0; old != nil; i++ {
		if t.was = ix.At(t.was[:0], old, i); len(t.was) == 0 {
			break
		}
		if err := t.rows.Remove(ix.Table, t.was); err != nil {
			return err
		}
	}
	for i := 0; v != nil; i++ {
		if t.is = ix.At(t.is[:0], v, i); len(t.is) == 0 {
			break
		}
		if err := t.rows.Put(ix.Table, bytes.Clone(t.is), ix.Row(v)); err != nil {
			return err
		}
	}
	return nil
}
