package row

import (
	"encoding/binary"
	"fmt"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/placer/cycle"
)

const decisionVersion = 1

// EncodeDecision is the row of what is known of a request that did not fit.
func EncodeDecision(c *cycle.Decision) []byte {
	e := encoder{}
	e.byte(decisionVersion)
	e.bool(c.Never)
	e.uint(c.Version)
	e.string(c.Why)
	e.int(c.Until)
	e.int(c.For.Priority)
	e.uint(c.For.ID)
	return e.b
}

// DecodeDecision reads it. What the first versions found is not known to hold for any
// time.
func DecodeDecision(key, payload []byte) (*cycle.Decision, error) {
	c := new(cycle.Decision)
	d := decoder{b: payload}
	d.byte()
	c.Never, c.Version, c.Why = d.byte() == 1, d.uint(), d.string()
	if len(d.b) > 0 {
		c.Until, c.For.Priority, c.For.ID = d.int(), d.int(), d.uint()
	}
	return c, d.done(Decided, key)
}

// The keys of the table Invalidations: a 0 and the number of a bucket, or nothing for all (bbolt
// has no empty keys), and
var (
	KeyInvalidatedAll = []byte{0}
	KeyFreed          = []byte{1} // that of the nodes on which room was made since a cycle has looked at all plans
)

const invalidationVersion = 1

// InvalidationKey is the key of a bucket's last invalidation.
func InvalidationKey(bucket uint32) []byte { return append([]byte{0}, Key32(bucket)...) }

// EncodeInvalidation is the row of the number of an invalidation.
func EncodeInvalidation(n uint64) []byte { return binary.AppendUvarint([]byte{invalidationVersion}, n) }

// DecodeInvalidation reads it.
func DecodeInvalidation(key, payload []byte) (uint64, error) {
	d := decoder{b: payload}
	d.byte()
	n := d.uint()
	return n, d.done(Invalidations, key)
}

// EncodeFreed is the row of the nodes on which room was made.
func EncodeFreed(nodes *roaring.Bitmap) ([]byte, error) {
	content, err := nodes.MarshalBinary()
	return append([]byte{invalidationVersion}, content...), err
}

// DecodeFreed reads it, into memory of its own.
func DecodeFreed(payload []byte) (*roaring.Bitmap, error) {
	nodes := roaring.New()
	if err := nodes.UnmarshalBinary(payload[1:]); err != nil {
		return nil, fmt.Errorf("%w: the nodes that have woken: %v", ErrDamaged, err)
	}
	return nodes, nil
}
