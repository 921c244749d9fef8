package row

import (
	"encoding/binary"
	"math"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/placer/subject"
)

// Key16 returns a number of two bytes as a key. Like Key32 and Key64, it is big-endian, so
// that keys sort as the numbers do.
func Key16(n uint16) []byte { return binary.BigEndian.AppendUint16(nil, n) }

// Key32 returns a number of four bytes as a key.
func Key32(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }

// Key64 returns a number of eight bytes as a key.
func Key64(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// TimeKey returns a key of an instant, then an owner. Instants before 1970 do not occur.
func TimeKey(t int64, owner uint64) []byte {
	key := binary.BigEndian.AppendUint64(make([]byte, 0, 16), uint64(t))
	return binary.BigEndian.AppendUint64(key, owner)
}

// SplitTimeKey splits such a key.
func SplitTimeKey(k []byte) (t int64, owner uint64) {
	if len(k) != 16 {
		return 0, 0
	}
	return int64(binary.BigEndian.Uint64(k)), binary.BigEndian.Uint64(k[8:])
}

// JobOwner returns the owner number of a job in the calendar. On disk: jobs have even numbers,
// reservations odd ones.
func JobOwner(id uint64) uint64 { return id << 1 }

// ReservationOwner returns the owner number of a reservation.
func ReservationOwner(id uint64) uint64 { return id<<1 | 1 }

// IsReservation reports whether an owner is a reservation.
func IsReservation(owner uint64) bool { return owner&1 == 1 }

// JobStateKey lists the jobs by state.
func JobStateKey(s JobState, id uint64) []byte {
	return binary.BigEndian.AppendUint64(append(make([]byte, 0, 9), byte(s)), id)
}

// AccessKey returns the key of a reservation by a subject of its access list.
func AccessKey(s subject.Subject, id uint64) []byte { return append(AccessPrefix(s), Key64(id)...) }

// AccessPrefix returns the prefix of those keys for one subject.
func AccessPrefix(s subject.Subject) []byte {
	return append(append([]byte{byte(s.Kind)}, s.Name...), 0)
}

// BitsKey returns a bitmap's key: family, number, value.
func BitsKey(k index.BitsKey) []byte {
	key := make([]byte, 5, 5+len(k.Value))
	key[0] = byte(k.Family)
	binary.BigEndian.PutUint32(key[1:], k.ID)
	return append(key, k.Value...)
}

// RangeKey returns the key of a range of a batch. It begins with the number of the batch, as
// do the keys that follow.
func RangeKey(batch uint32, first int) []byte {
	return binary.BigEndian.AppendUint64(Key32(batch), uint64(first))
}

// LongestKey orders the ranges of a batch by time left, the longest first.
func LongestKey(batch uint32, c *locality.Cursor) []byte {
	left := ^math.Float64bits(c.TimeLeft()) // the bits of numbers that are not negative sort as the numbers
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(Key32(batch), left), uint64(c.First))
}

// DueKey orders what is due in a batch by time.
func DueKey(batch uint32, d locality.Due) []byte {
	key := binary.BigEndian.AppendUint64(Key32(batch), uint64(d.At))
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(key, d.Host), uint64(d.Slot+1))
}

// SplitDueKey splits such a key.
func SplitDueKey(key []byte) locality.Due {
	if len(key) != 24 {
		return locality.Due{}
	}
	return locality.Due{At: int64(binary.BigEndian.Uint64(key[4:])), Host: binary.BigEndian.Uint32(key[12:]),
		Slot: int(binary.BigEndian.Uint64(key[16:])) - 1}
}

// BatchOf returns the number of the batch whose row has a key; ok is false if the key has none.
func BatchOf(key []byte) (number uint32, ok bool) {
	if len(key) < 4 {
		return 0, false
	}
	return binary.BigEndian.Uint32(key), true
}

// BatchBlockKey returns the key of a block of a batch's jobs or files, or of a host in it.
func BatchBlockKey(batch uint32, block int) []byte {
	return binary.BigEndian.AppendUint32(Key32(batch), uint32(block))
}

// Number64 returns the number in a key of eight bytes.
func Number64(key []byte) uint64 { return binary.BigEndian.Uint64(key) }

// Reader takes fields from bytes. After a short or invalid field it reads zeros, and is Bad.
type Reader struct {
	B   []byte // the rest
	Bad bool
}

// Fail makes the reader bad.
func (r *Reader) Fail() { r.B, r.Bad = nil, true }

// Take takes n bytes, or returns nil if there are fewer.
func (r *Reader) Take(n int) []byte {
	if n < 0 || n > len(r.B) {
		r.Fail()
		return nil
	}
	out := r.B[:n:n]
	r.B = r.B[n:]
	return out
}

// Byte takes a byte.
func (r *Reader) Byte() byte {
	if b := r.Take(1); b != nil {
		return b[0]
	}
	return 0
}

// Uint takes a varint.
func (r *Reader) Uint() uint64 {
	if len(r.B) > 0 && r.B[0] < 0x80 { // most varints are that short
		v := uint64(r.B[0])
		r.B = r.B[1:]
		return v
	}
	v, n := binary.Uvarint(r.B)
	if n <= 0 {
		r.Fail()
		return 0
	}
	r.B = r.B[n:]
	return v
}

// Int takes a varint that may be negative.
func (r *Reader) Int() int64 {
	v := r.Uint()
	return int64(v>>1) ^ -int64(v&1)
}

// Count takes the number of items that follow, each of at least one byte.
func (r *Reader) Count() int {
	n := r.Uint()
	if n > uint64(len(r.B)) {
		r.Fail()
		return 0
	}
	return int(n)
}

// Bytes takes a number and that many bytes.
func (r *Reader) Bytes() []byte { return r.Take(r.Count()) }
