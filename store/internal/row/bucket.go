package row

import (
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
)

const bucketVersion = 1

// EncodeBucket is the row of a bucket.
func EncodeBucket(b *index.Bucket) []byte {
	e := encoder{}
	e.byte(bucketVersion)
	e.string(string(b.Signature))
	e.string(b.Queue)
	e.int(int64(b.Priority))
	e.uint(uint64(b.Total))
	for _, n := range b.Count {
		e.uint(uint64(n))
	}
	e.fixed32(b.First)
	return e.b
}

// DecodeBucket reads it.
func DecodeBucket(id uint32, key, payload []byte) (*index.Bucket, error) {
	d := decoder{b: payload}
	d.byte()
	b := &index.Bucket{ID: id}
	b.Signature = index.Signature(d.string())
	b.Queue = d.string()
	b.Priority = int32(d.int())
	b.Total = uint32(d.uint())
	for i := range b.Count {
		b.Count[i] = uint32(d.uint())
	}
	b.First = d.fixed32()
	return b, d.done(Buckets, key)
}

const bitsVersion = 1

// DecodeBits reads a bitmap in place: it lives as long as the row does.
func DecodeBits(key, payload []byte) (*roaring.Bitmap, error) {
	bm := roaring.New()
	if len(payload) < 1 {
		return nil, fmt.Errorf("%w: empty bitmap %x", ErrDamaged, key)
	}
	if _, err := bm.FromBuffer(payload[1:]); err != nil {
		return nil, fmt.Errorf("%w: bitmap %x: %v", ErrDamaged, key, err)
	}
	return bm, nil
}

// EncodeBits is the row of a bitmap, in the portable format.
func EncodeBits(bm *roaring.Bitmap) ([]byte, error) {
	if bm.GetSerializedSizeInBytes() > 1024 {
		bm.RunOptimize()
	}
	b, err := bm.ToBytes()
	if err != nil {
		return nil, err
	}
	payload := make([]byte, 0, len(b)+5)
	return append(append(payload, bitsVersion), b...), nil
}
