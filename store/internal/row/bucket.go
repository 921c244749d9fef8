package row

import (
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
)

const bucketVersion = 1

func bucketFields(f *Fields, b *index.Bucket) {
	f.Version(bucketVersion)
	f.Text("signature", (*string)(&b.Signature))
	f.Text("queue", &b.Queue)
	Int(f, "priority", &b.Priority)
	Uint(f, "total", &b.Total)
	Counts(f, "count", b.Count[:])
	Fixed(f, "first", &b.First)
}

// EncodeBucket returns the row of a bucket.
func EncodeBucket(b *index.Bucket) []byte { return encode(bucketFields, b) }

// DecodeBucket reads it.
func DecodeBucket(id uint32, key, payload []byte) (*index.Bucket, error) {
	f, b := Fields{dir: reading, b: payload, key: key}, &index.Bucket{ID: id}
	bucketFields(&f, b)
	return b, f.done(Buckets)
}

const bitsVersion = 1

// DecodeBits reads a bitmap in place. It is valid as long as the row is.
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

// EncodeBits returns the row of a bitmap, in the portable format.
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
