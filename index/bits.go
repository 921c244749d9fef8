package index

import (
	"encoding/binary"
	"iter"

	"github.com/RoaringBitmap/roaring/v2"
)

// Family says what a keyed bitmap holds. The numbers are on disk and must not
// change.
type Family uint8

// The families of bitmaps.
const (
	AllNodes     Family = 1  // by bucket: its nodes
	FreeNodes    Family = 2  // by bucket: up, nothing on them, nothing planned
	LaterNodes   Family = 3  // by bucket: up, nothing on them, something planned
	BusyNodes    Family = 4  // by bucket: up, something on them
	HavingValue  Family = 5  // by resource and value: the buckets whose signature has it
	NodesWith    Family = 6  // by resource and value, outside the signature: the nodes that have it
	OfQueue      Family = 7  // by queue: the buckets of its nodes
	OfSignature  Family = 8  // by hash of signature, queue and priority: the buckets
	Roomy        Family = 9  // by resource and level: the shared nodes that have that much left (room.go)
	Marked       Family = 10 // by mark: the nodes that differ from others of their bucket (mark.go)
	OfSpeed      Family = 11 // by speed: the nodes that have it (speed.go)
	lastOfFamily        = OfSpeed
)

// BitsKey names one bitmap: its family, its bucket or resource, and a value. Numbers are 8
// bytes, big-endian, so that keys sort as the numbers do.
type BitsKey struct {
	Family Family
	ID     uint32
	Value  string
}

// Valid reports whether this package writes such a key.
func (k BitsKey) Valid() bool { return k.Family >= AllNodes && k.Family <= lastOfFamily }

// Source gives an Index what is stored. The Index does not change returned values in place
// while the caller keeps the memory behind them.
type Source interface {
	// Bucket returns a bucket's head, or nil if there is none.
	Bucket(id uint32) (*Bucket, error)
	// Bits returns a bitmap, or nil if there is none.
	Bits(k BitsKey) (*roaring.Bitmap, error)
	// Range returns the bitmaps with from's family and ID whose values are at least
	// from.Value, in ascending order.
	Range(from BitsKey) iter.Seq2[BitsKey, *roaring.Bitmap]
}

// bitmap is a bitmap in memory, and whether it differs from the stored one.
type bitmap struct {
	roaring.Bitmap
	changed bool
}

// numKey returns a number as the value of a key.
func numKey(n int64) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	return string(b[:])
}

func keyNum(s string) int64 {
	if len(s) != 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64([]byte(s)))
}

// at returns a bitmap for reading, never nil.
func (ix *Index) at(k BitsKey) *bitmap {
	if b, ok := ix.bits[k]; ok {
		return b
	}
	b := new(bitmap)
	if ix.src != nil {
		bm, err := ix.src.Bits(k)
		ix.fail(err)
		if bm != nil {
			b.Bitmap = *bm
		}
	}
	ix.bits[k] = b
	return b
}

// edit returns a bitmap to be changed.
func (ix *Index) edit(k BitsKey) *bitmap {
	b := ix.at(k)
	b.changed = true
	return b
}

// atLeast returns the union of the bitmaps with k's family and ID whose values are at least
// k's: the buckets (or nodes) that have that much.
func (ix *Index) atLeast(k BitsKey) *roaring.Bitmap {
	var parts []*roaring.Bitmap
	for _, bm := range ix.scan(k) {
		parts = append(parts, bm)
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return roaring.FastOr(parts...)
}

// scan returns the bitmaps from a key on, in ascending order. Those changed in memory replace
// the stored ones.
func (ix *Index) scan(from BitsKey) iter.Seq2[BitsKey, *roaring.Bitmap] {
	return func(yield func(BitsKey, *roaring.Bitmap) bool) {
		added := ix.values.from(from)
		if ix.src != nil {
			for k, stored := range ix.src.Range(from) {
				for len(added) > 0 && added[0] <= k.Value {
					if added[0] < k.Value && !ix.yieldBits(from, added[0], yield) {
						return
					}
					added = added[1:]
				}
				bm := stored
				if b, ok := ix.bits[k]; ok {
					bm = &b.Bitmap
				}
				if !bm.IsEmpty() && !yield(k, bm) {
					return
				}
			}
		}
		for _, v := range added {
			if !ix.yieldBits(from, v, yield) {
				return
			}
		}
	}
}

func (ix *Index) yieldBits(like BitsKey, value string, yield func(BitsKey, *roaring.Bitmap) bool) bool {
	like.Value = value
	bm := &ix.at(like).Bitmap
	return bm.IsEmpty() || yield(like, bm)
}
