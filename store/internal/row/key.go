package row

import (
	"encoding/binary"
	"math"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/placer"
)

// Key16 returns a number as a key, as are Key32 and Key64: big-endian, so that the order of
// the keys is that of the numbers.
func Key16(n uint16) []byte { return binary.BigEndian.AppendUint16(nil, n) }

// Key32 returns a number of four bytes.
func Key32(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }

// Key64 returns a number of eight bytes.
func Key64(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// TimeKey returns an instant, then an owner. Instants before 1970 do not occur.
func TimeKey(t int64, owner uint64) []byte {
	key := binary.BigEndian.AppendUint64(make([]byte, 0, 16), uint64(t))
	return binary.BigEndian.AppendUint64(key, owner)
}

// SplitTimeKey takes such a key apart.
func SplitTimeKey(k []byte) (t int64, owner uint64) {
	if len(k) != 16 {
		return 0, 0
	}
	return int64(binary.BigEndian.Uint64(k)), binary.BigEndian.Uint64(k[8:])
}

// JobOwner returns a job as the owner of a stretch of the calendar. On disk; jobs have even
// numbers there, reservations odd ones.
func JobOwner(id uint64) uint64 { return id << 1 }

// ReservationOwner returns a reservation as such an owner.
func ReservationOwner(id uint64) uint64 { return id<<1 | 1 }

// IsReservation tells the two apart.
func IsReservation(owner uint64) bool { return owner&1 == 1 }

// JobStateKey lists the jobs by state.
func JobStateKey(s JobState, id uint64) []byte {
	return binary.BigEndian.AppendUint64(append(make([]byte, 0, 9), byte(s)), id)
}

// AccessKey returns the key under which a reservation is found by whom it lets in.
func AccessKey(a placer.AccessEntry, id uint64) []byte {
	return append(AccessPrefix(a.Kind, a.Value), Key64(id)...)
}

// AccessPrefix returns how those keys of one entry begin.
func AccessPrefix(kind placer.AccessKind, value string) []byte {
	return append(append([]byte{byte(kind)}, value...), 0)
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
	left := ^math.Float64bits(c.TimeLeft()) // of numbers that are not negative, the bits are in their order
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(Key32(batch), left), uint64(c.First))
}

// DueKey orders what is due in a batch by time.
func DueKey(batch uint32, d locality.Due) []byte {
	key := binary.BigEndian.AppendUint64(Key32(batch), uint64(d.At))
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(key, d.Host), uint64(d.Slot+1))
}

// SplitDueKey takes such a key apart.
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

// Number64 returns the number that a key of eight bytes is.
func Number64(key []byte) uint64 { return binary.BigEndian.Uint64(key) }
