package row

import (
	"encoding/binary"
	"fmt"
)

// A kind of row has one list of its fields: a function that goes through them in the order
// of their bytes. Fields knows in which direction it runs:
//
//	writing   appends each field to a payload
//	reading   takes each field from a payload
//	saying    appends each field that is not zero to a JSON object, under its name
//	hearing   takes each field out of a JSON object
//	timing    shows each instant, with what it is to the clock
//	naming    notes the names of fields and what they are
//
// Writing and reading are hot. The methods belong to a concrete type and keep no pointer to
// a field, so that neither Fields nor the row escapes: a list allocates what the row holds
// and nothing else.
type Fields struct {
	dir    direction
	bad    bool
	borrow bool // reading: what indexes look at, and texts share the memory of the payload
	traits bool // reading a node: only what policies look at
	b      []byte
	key    []byte // reading: the row's key
	words  *Words // reading: what Word hands out
	*aside
}

// aside is what the directions need that are not hot.
type aside struct {
	said  saying
	heard hearing
	clock rewound
	named naming
}

type direction uint8

const (
	writing direction = iota
	reading
	sayingJSON
	hearingJSON
	timing
	namingFields
)

// Clock is what an instant means to the clock, and so what becomes of it when the clock is
// reset. A field that is an instant cannot be listed without it.
type Clock uint8

// Rules for an instant when the clock goes back.
const (
	Past   Clock = iota // has happened: never after the file's instant
	Begins              // begins a stretch that Ends ends: once begun, both move together
	Ends                //
	Shifts              // moves as far as the Past or Begins before it
	Wish                // asked for: it stays
	Made                // follows from other rows: made again from them
	Lapses              // counts no more if it is later than the instant at which the file stood
)

var clockNames = [...]string{Past: "past", Begins: "begins", Ends: "ends", Shifts: "shifts", Wish: "wish", Made: "made", Lapses: "lapses"}

func (c Clock) String() string { return clockNames[c] }

// number is what a field may be that is written as an integer.
type number interface {
	~int | ~int8 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// encode returns the payload of a row. It is small enough to be inlined, which makes the call of
// the list a static one: then nothing escapes.
func encode[T any](list func(*Fields, *T), v *T) []byte {
	f := Fields{b: make([]byte, 0, 128)}
	list(&f, v)
	return f.b
}

// decode reads it, for callers that may allocate: a caller that reads many rows calls the list itself.
func decode[T any](t Table, list func(*Fields, *T), key, payload []byte) (*T, error) {
	f, v := Fields{dir: reading, b: payload, key: key}, new(T)
	list(&f, v)
	return v, f.done(t)
}

// done returns the error of a payload that was not what it should be. Bytes left over are no
// error: a newer version of the row may append fields.
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

// Must says what has to hold of a row that was read.
func (f *Fields) Must(holds bool) {
	if f.dir == reading && !holds {
		f.bad = true
	}
}

// Version returns the version that a row is of: current in all directions but reading.
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

// take takes n bytes, or nil if there are fewer.
func (f *Fields) take(n int) []byte {
	if n < 0 || n > len(f.b) {
		f.bad, f.b = true, nil
		return nil
	}
	out := f.b[:n:n]
	f.b = f.b[n:]
	return out
}

// uvar returns a varint, written or read.
func (f *Fields) uvar(v uint64) uint64 {
	if f.dir == writing {
		if v < 0x80 {
			f.b = append(f.b, byte(v))
		} else {
			f.b = binary.AppendUvarint(f.b, v)
		}
		return v
	}
	if len(f.b) > 0 && f.b[0] < 0x80 { // most are that short
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

// ivar returns a varint that may be negative.
func (f *Fields) ivar(v int64) int64 {
	n := f.uvar(uint64(v)<<1 ^ uint64(v>>63))
	return int64(n>>1) ^ -int64(n&1)
}

// count returns how many of something follow. A row that is read cannot have more of anything
// than bytes.
func (f *Fields) count(n int) int {
	v := f.uvar(uint64(n))
	if f.dir == reading && v > uint64(len(f.b)) {
		f.bad, f.b = true, nil
		return 0
	}
	return int(v)
}
