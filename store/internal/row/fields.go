package row

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"
	"unsafe"
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
)

var clockNames = [...]string{Past: "past", Begins: "begins", Ends: "ends", Shifts: "shifts", Wish: "wish", Made: "made"}

func (c Clock) String() string { return clockNames[c] }

// number is what a field may be that is written as an integer.
type number interface {
	~int | ~int8 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// encode is the payload of a row. It is small enough to be inlined, which makes the call of
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

// done is the error of a payload that was not what it should be. Bytes left over are no
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

// Version is the version that a row is of: current in all directions but reading.
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

// take takes n bytes, nil if there are fewer.
func (f *Fields) take(n int) []byte {
	if n < 0 || n > len(f.b) {
		f.bad, f.b = true, nil
		return nil
	}
	out := f.b[:n:n]
	f.b = f.b[n:]
	return out
}

// uvar is a varint, written or read.
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

// ivar is a varint that may be negative.
func (f *Fields) ivar(v int64) int64 {
	n := f.uvar(uint64(v)<<1 ^ uint64(v>>63))
	return int64(n>>1) ^ -int64(n&1)
}

// count is how many of something follow. A row that is read cannot have more of anything
// than bytes.
func (f *Fields) count(n int) int {
	v := f.uvar(uint64(n))
	if f.dir == reading && v > uint64(len(f.b)) {
		f.bad, f.b = true, nil
		return 0
	}
	return int(v)
}

// Text is a text.
func (f *Fields) Text(name string, v *string) {
	switch f.dir {
	case writing:
		f.uvar(uint64(len(*v)))
		f.b = append(f.b, *v...)
	case reading:
		if b := f.take(f.count(0)); f.borrow && len(b) > 0 {
			*v = unsafe.String(&b[0], len(b))
		} else {
			*v = string(b)
		}
	default:
		f.textAside(name, v)
	}
}

// Blob is bytes of any length.
func (f *Fields) Blob(name string, v *[]byte) {
	switch f.dir {
	case writing:
		f.uvar(uint64(len(*v)))
		f.b = append(f.b, *v...)
	case reading:
		if *v = f.take(f.count(0)); !f.borrow {
			*v = append([]byte(nil), *v...)
		}
	default:
		f.blobAside(name, v)
	}
}

// Int is a number that may be negative.
func Int[T number](f *Fields, name string, v *T) {
	if f.bytes() {
		if n := f.ivar(int64(*v)); f.dir == reading { // a row that is written may be shared
			*v = T(n)
		}
		return
	}
	numberAside(f, name, v)
}

// Uint is a number from 0 on.
func Uint[T number](f *Fields, name string, v *T) {
	if f.bytes() {
		if n := f.uvar(uint64(*v)); f.dir == reading {
			*v = T(n)
		}
		return
	}
	numberAside(f, name, v)
}

// Byte is a number of one byte.
func Byte[T number](f *Fields, name string, v *T) {
	switch f.dir {
	case writing:
		f.b = append(f.b, byte(*v))
	case reading:
		*v = T(f.takeByte())
	default:
		numberAside(f, name, v)
	}
}

// Fixed is a number of four bytes.
func Fixed[T ~uint32 | ~int32](f *Fields, name string, v *T) {
	switch f.dir {
	case writing:
		f.b = binary.LittleEndian.AppendUint32(f.b, uint32(*v))
	case reading:
		if *v = 0; len(f.b) >= 4 {
			*v = T(binary.LittleEndian.Uint32(f.b))
		}
		f.take(4)
	default:
		numberAside(f, name, v)
	}
}

// At is an instant, in Unix seconds.
func (f *Fields) At(name string, v *int64, is Clock) {
	switch f.dir {
	case writing, reading:
		if n := f.ivar(*v); f.dir == reading {
			*v = n
		}
	case timing:
		*v = f.clock.at(*v, is)
	case namingFields:
		f.named.add(name, "instant, "+is.String())
	default:
		numberAside(f, name, v)
	}
}

// AtAfter is an instant as its distance from another one.
func (f *Fields) AtAfter(name string, v *int64, from int64, is Clock) {
	if f.bytes() {
		if n := f.ivar(*v - from); f.dir == reading {
			*v = from + n
		}
		return
	}
	f.At(name, v, is)
}

// Passed is how many seconds have passed of something since an instant: no more than there
// have been.
func (f *Fields) Passed(name string, v *int64, since int64) {
	if f.dir == timing {
		f.clock.passed(v, since)
		return
	}
	Int(f, name, v)
}

// Lasts is how long something lasts, in nanoseconds.
func (f *Fields) Lasts(name string, v *time.Duration) { Int(f, name, v) }

// Float is a floating-point number.
func (f *Fields) Float(name string, v *float64) {
	switch f.dir {
	case writing:
		f.b = binary.LittleEndian.AppendUint64(f.b, math.Float64bits(*v))
	case reading:
		if b := f.take(8); b != nil {
			*v = math.Float64frombits(binary.LittleEndian.Uint64(b))
		}
	default:
		f.floatAside(name, v)
	}
}

// Bool is yes or no, in a byte.
func (f *Fields) Bool(name string, v *bool) {
	switch f.dir {
	case writing:
		b := byte(0)
		if *v {
			b = 1
		}
		f.b = append(f.b, b)
	case reading:
		*v = f.takeByte() != 0
	default:
		f.fact(name, v)
	}
}

// Fact is one of those that share a byte.
type Fact struct {
	Name string
	Is   *bool
}

// Bits are up to eight facts in one byte, the first in its lowest bit. One without a name is
// in the byte alone.
func (f *Fields) Bits(facts ...Fact) {
	switch f.dir {
	case writing:
		bits := byte(0)
		for i, x := range facts {
			if *x.Is {
				bits |= 1 << i
			}
		}
		f.b = append(f.b, bits)
	case reading:
		bits := f.takeByte()
		for i, x := range facts {
			*x.Is = bits&(1<<i) != 0
		}
	default:
		for _, x := range facts {
			if x.Name != "" {
				f.fact(x.Name, x.Is)
			}
		}
	}
}

// More reports whether there is more of a row that ends where nothing is left to write.
func (f *Fields) More(is bool) bool {
	switch f.dir {
	case writing:
		return is
	case reading:
		return len(f.b) > 0
	}
	return true
}

// Digits are bytes of a fixed number, hexadecimal digits in a document.
func (f *Fields) Digits(name string, v []byte) {
	if f.bytes() {
		f.fixedBytes(v)
		return
	}
	f.digitsAside(name, v)
}

// Octets are bytes of a fixed number, a list of numbers in a document.
func (f *Fields) Octets(name string, v []byte) {
	if f.bytes() {
		f.fixedBytes(v)
		return
	}
	Counts(f, name, v)
}

func (f *Fields) fixedBytes(v []byte) {
	if f.dir == writing {
		f.b = append(f.b, v...)
		return
	}
	copy(v, f.take(len(v)))
}

// noUID stands for none in a row where something else follows.
const noUID = 1 << 32

// UID is a number that may be unknown. The caller knows whether the row has a place for it.
func (f *Fields) UID(name string, v **uint32) {
	switch {
	case f.dir == reading && f.borrow: // no index looks at it
		f.uvar(0)
	case f.dir == reading:
		if uid := f.uvar(0); uid < noUID {
			*v = new(uint32)
			**v = uint32(uid)
		}
	case f.dir == writing && *v == nil:
		f.uvar(noUID)
	case f.dir == writing:
		f.uvar(uint64(**v))
	default:
		f.uidAside(name, v)
	}
}

// Part is a part of a row behind a pointer, whose end is End; is reports whether the row that
// is read has it.
func Part[T any](f *Fields, name string, v **T, is bool) bool {
	switch f.dir {
	case reading:
		if *v = nil; is {
			*v = new(T)
		}
	case sayingJSON:
		if *v != nil {
			f.said.open(name, true)
		}
	case hearingJSON:
		if f.heard.open(name) {
			*v = new(T)
		} else {
			f.heard.end()
		}
	case namingFields:
		*v = new(T)
		f.named.open(name)
	}
	return *v != nil
}

// Object begins a part of a row that is an object of its own in a document, whose end is End.
func (f *Fields) Object(name string) {
	switch f.dir {
	case sayingJSON:
		f.said.open(name, false)
	case hearingJSON:
		f.heard.open(name)
	case namingFields:
		f.named.open(name)
	}
}

// End ends a part.
func (f *Fields) End() {
	switch f.dir {
	case sayingJSON:
		f.said.end()
	case hearingJSON:
		f.heard.end()
	case namingFields:
		f.named.end()
	}
}

// Items begins a list and returns how many items it has. A list of fields goes through them:
//
//	for i := range Items(f, "after", &j.After) {
//		afterFields(f, &j.After[i])
//		f.Next()
//	}
//
// There is no function for each item, so that nothing escapes.
func Items[T any](f *Fields, name string, of *[]T) int {
	switch f.dir {
	case writing:
		f.uvar(uint64(len(*of)))
	case reading:
		if f.borrow {
			return Again(f, name, of)
		}
		n := f.count(0)
		if *of = nil; n > 0 {
			*of = make([]T, n)
		}
	default:
		return itemsAside(f, name, of)
	}
	return len(*of)
}

// Again begins a list whose memory is used again.
func Again[T any](f *Fields, name string, of *[]T) int {
	if f.dir != reading {
		return Items(f, name, of)
	}
	n := f.count(0)
	if cap(*of) < n {
		*of = append((*of)[:cap(*of)], make([]T, n-cap(*of))...)
	}
	*of = (*of)[:n]
	return n
}

// Next ends an item of a list.
func (f *Fields) Next() {
	switch f.dir {
	case sayingJSON:
		f.said.next()
	case hearingJSON:
		f.heard.next()
	case namingFields:
		f.named.end()
	}
}

// Texts is a list of texts.
func (f *Fields) Texts(name string, of *[]string) {
	if f.borrow { // no index looks at any
		for range f.count(0) {
			f.take(f.count(0))
		}
		return
	}
	for i := range Items(f, name, of) {
		f.Text("", &(*of)[i])
		f.Next()
	}
}

// Uints is a list of numbers from 0 on.
func Uints[T number](f *Fields, name string, of *[]T) {
	for i := range Items(f, name, of) {
		Uint(f, "", &(*of)[i])
		f.Next()
	}
}

// Each begins a list whose length is fixed, and which is not in the row.
func Each[T comparable](f *Fields, name string, of []T) int {
	if f.bytes() {
		return len(of)
	}
	return eachAside(f, name, of)
}

// Counts is such a list, of numbers from 0 on.
func Counts[T number](f *Fields, name string, of []T) {
	for i := range Each(f, name, of) {
		Uint(f, "", &of[i])
		f.Next()
	}
}

// Delta is a number as its distance from one that is not greater.
func Delta[T number](f *Fields, name string, v *T, from T) {
	if f.bytes() {
		if n := f.uvar(uint64(*v - from)); f.dir == reading {
			*v = from + T(n)
		}
		return
	}
	numberAside(f, name, v)
}

// KeyText is a name that is the row's key.
func (f *Fields) KeyText(name string, v *string) {
	switch f.dir {
	case writing:
	case reading:
		*v = string(f.key)
	default:
		f.textAside(name, v)
	}
}

// KeyPart is a number that is a part of the row's key: size bytes from at on, of a key of
// so many bytes.
func KeyPart[T number](f *Fields, name string, at, size, of int, v *T) {
	switch f.dir {
	case writing:
	case reading:
		if len(f.key) != of {
			f.bad = true
			return
		}
		n := uint64(0)
		for _, b := range f.key[at : at+size] {
			n = n<<8 | uint64(b)
		}
		*v = T(n)
	default:
		numberAside(f, name, v)
	}
}
