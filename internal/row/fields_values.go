package row

import (
	"encoding/binary"
	"math"
	"strings"
	"time"
	"unsafe"
)

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
		if n := f.ivar(int64(*v)); f.dir == reading { // a row being written may be shared
			*v = T(n)
		}
		return
	}
	numberAside(f, name, v)
}

// Uint is a non-negative number.
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
		if n := f.near(f.ivar(*v)); f.dir == reading {
			*v = n
		}
	case timing:
		*v = f.clock.at(*v, is)
	default:
		numberOf(f, name, instants[is], v)
	}
}

// AtAfter is an instant, written as its distance from another one.
func (f *Fields) AtAfter(name string, v *int64, from int64, is Clock) {
	if f.bytes() {
		if n := f.near(f.ivar(*v - from)); f.dir == reading {
			*v = from + n
		}
		return
	}
	f.At(name, v, is)
}

// near returns an instant or a distance between two. Beyond farthest it is damage, and is not written.
func (f *Fields) near(t int64) int64 {
	f.Bound(-farthest <= t && t <= farthest)
	return t
}

// farthest bounds instants of rows, in Unix seconds. LastInstant, and what follows it, is far
// below. Loops over time, such as those over months, end soon.
const farthest = 1 << 41

// Passed is a number of seconds of some kind since an instant. It cannot exceed the time since
// then.
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

// Bool is a bool, in a byte.
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

// Fact is one of several bools that share a byte.
type Fact struct {
	Name string
	Is   *bool
}

// Bits are up to eight facts in one byte, the first in its lowest bit. A fact without a name
// is not in documents.
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
				f.fact(strings.Clone(x.Name), x.Is) // a kept name would move the row of every caller to the heap
			}
		}
	}
}

// More reports whether a row has more fields. A row ends where nothing more must be written.
func (f *Fields) More(is bool) bool {
	switch f.dir {
	case writing:
		return is
	case reading:
		return len(f.b) > 0
	}
	return true
}

// Digits are a fixed number of bytes, written in hexadecimal in a document.
func (f *Fields) Digits(name string, v []byte) {
	if f.bytes() {
		f.fixedBytes(v)
		return
	}
	f.digitsAside(name, v)
}

// Octets are a fixed number of bytes, written as a list of numbers in a document.
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

// noUID means none in a row in which something follows.
const noUID = 1 << 32

// UID is a uid that may be unknown. The caller knows whether the row has room for it.
func (f *Fields) UID(name string, v **uint32) {
	switch {
	case f.dir == reading && f.borrow: // no index needs it
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
