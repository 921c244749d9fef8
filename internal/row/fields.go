package row

import (
	"encoding/binary"
	"fmt"
)

// Each kind of row has one list of its fields: a function that visits them in the order of
// their bytes. Fields holds the direction in which it runs:
//
//	writing       appends each field to a payload
//	reading       takes each field from a payload
//	writingJSON   appends each field that is not zero to a JSON object, under its name
//	readingJSON   takes each field from a JSON object
//	timing        shows each instant, with its meaning to the clock
//	namingFields  collects the names of fields and their types
//
// Writing and reading are hot. The methods belong to a concrete type and keep no pointer to a
// field, so that neither Fields nor the row escapes to the heap. A list allocates only the
// contents of the row.
type Fields struct {
	dir    direction
	bad    bool
	borrow bool // reading: only what indexes use, and texts share the memory of the payload
	traits bool // reading a node: only what policies use
	b      []byte
	key    []byte   // reading: the row's key
	words  *Words   // reading: what Word hands out
	form   form     // of the directions other than bytes
	clock  *rewound // timing
}

type direction uint8

const (
	writing direction = iota
	reading
	writingJSON
	readingJSON
	timing
	namingFields
)

// Clock is what an instant means to the clock, and so how it moves when the clock is reset.
// Every field that is an instant must be listed with one.
type Clock uint8

// Rules for an instant when the clock goes back.
const (
	Past   Clock = iota // happened: never after the file's instant
	Begins              // begins a stretch that Ends ends: if it has begun, both move together
	Ends                //
	Shifts              // moves as far as the Past or Begins before it
	Wish                // requested: it stays
	Made                // derived from other rows: recomputed from them
	Lapses              // no longer counts if it is after the file's former instant
)

// instants say what an instant of a row is.
var instants = [...]string{Past: "instant, past", Begins: "instant, begins", Ends: "instant, ends",
	Shifts: "instant, shifts", Wish: "instant, wish", Made: "instant, made", Lapses: "instant, lapses"}

// number lists the types of fields that are written as integers.
type number interface {
	~int | ~int8 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// encode returns the payload of a row. It is small enough to be inlined, which makes the call of
// the list a static one: then nothing escapes.
func encode[T any](list func(*Fields, *T), v *T) []byte {
	f := Fields{b: make([]byte, 0, 128)}
	list(&f, v)
	return f.written()
}

// written returns the payload, or an empty one of a row that could not be read again. The file refuses that.
func (f *Fields) written() []byte {
	if f.bad {
		return f.b[:0]
	}
	return f.b
}

// done returns the error of a payload that was not what it should be. Bytes left over are not
// an error: a newer version of the row may append fields.
func (f *Fields) done(t Table) error {
	if f.bad {
		return damagedRow(t, f.key)
	}
	return nil
}

func damagedRow(t Table, key []byte) error {
	return fmt.Errorf("%w: the row %s of table %s cannot be decoded", ErrDamaged, Shown(key), t)
}

// bytes reports whether the row is written or read as bytes.
func (f *Fields) bytes() bool { return f.dir <= reading }

// Must states a condition on a row that was read.
func (f *Fields) Must(holds bool) {
	if f.dir == reading && !holds {
		f.bad = true
	}
}

// Bound is Must for a value that callers may get wrong: a row beyond it is not written either.
func (f *Fields) Bound(holds bool) {
	if f.bytes() && !holds {
		f.bad = true
	}
}

// Version returns the version of a row: current in all directions but reading.
func (f *Fields) Version(current byte) byte {
	f.raw(&current)
	return current
}

// raw is a byte without a name.
func (f *Fields) raw(v *byte) {
	switch f.dir {
	case writing:
		f.b = append(f.b, *v)
	case reading:
		*v = f.takeByte()
	}
}

func (f *Fields) takeByte() byte {
	if len(f.b) == 0 {
		f.bad = true
		return 0
	}
	v := f.b[0]
	f.b = f.b[1:]
	return v
}

// take takes n bytes, or returns nil if there are fewer.
func (f *Fields) take(n int) []byte {
	if n < 0 || n > len(f.b) {
		f.bad, f.b = true, nil
		return nil
	}
	out := f.b[:n:n]
	f.b = f.b[n:]
	return out
}

// uvar writes or reads a varint.
func (f *Fields) uvar(v uint64) uint64 {
	if f.dir == writing {
		if v < 0x80 {
			f.b = append(f.b, byte(v))
		} else {
			f.b = binary.AppendUvarint(f.b, v)
		}
		return v
	}
	if len(f.b) > 0 && f.b[0] < 0x80 { // most varints are that short
		v = uint64(f.b[0])
		f.b = f.b[1:]
		return v
	}
	return f.longUvar()
}

func (f *Fields) longUvar() uint64 {
	v, n := binary.Uvarint(f.b)
	if n <= 0 {
		f.bad, f.b = true, nil
		return 0
	}
	f.b = f.b[n:]
	return v
}

// ivar writes or reads a varint that may be negative.
func (f *Fields) ivar(v int64) int64 {
	n := f.uvar(uint64(v)<<1 ^ uint64(v>>63))
	return int64(n>>1) ^ -int64(n&1)
}

// count writes or reads the number of items that follow. A row being read cannot have more
// items than bytes.
func (f *Fields) count(n int) int {
	v := f.uvar(uint64(n))
	if f.dir == reading && v > uint64(len(f.b)) {
		f.bad, f.b = true, nil
		return 0
	}
	return int(v)
}
