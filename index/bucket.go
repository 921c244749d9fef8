package index

import (
	"cmp"
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// NoNode stands for a node number if there is no node.
const NoNode = math.MaxUint32

// Bucket is the head of a bucket: what its nodes have in common, and how many are in each
// class. The Index loads the bitmaps when they are needed.
type Bucket struct {
	ID        uint32
	Signature Signature
	Queue     string
	Priority  int32
	Total     uint32    // nodes in all
	Count     [4]uint32 // by Class; Count[None]: nodes that are not up
	First     uint32    // smallest number of a node that is up, or NoNode

	values  []Amount   // the signature, decoded
	bits    [5]*bitmap // by Family; nil until needed
	changed bool
}

// Up returns how many nodes of the bucket are up.
func (b *Bucket) Up() int { return int(b.Count[Free] + b.Count[Later] + b.Count[Busy]) }

// Get returns the value of a signature resource.
func (b *Bucket) Get(id ResID) (Value, bool) {
	for i := range b.values {
		if b.values[i].Res == id {
			return b.values[i].Value, true
		}
	}
	return Value{}, false
}

// Values returns the signature, by resource number; for reading only.
func (b *Bucket) Values() []Amount { return b.values }

// CompareBuckets compares buckets in the order in which they are tried: by their first node,
// where nodes go by priority, highest first, then as declared.
func CompareBuckets(b, c *Bucket) int {
	return cmp.Or(cmp.Compare(c.Priority, b.Priority), cmp.Compare(b.First, c.First), cmp.Compare(b.ID, c.ID))
}

var classFamily = [...]Family{None: AllNodes, Free: FreeNodes, Later: LaterNodes, Busy: BusyNodes}

// family returns one of a bucket's bitmaps.
func (ix *Index) family(b *Bucket, f Family) *bitmap {
	if b.bits[f] == nil {
		b.bits[f] = ix.at(BitsKey{Family: f, ID: b.ID})
	}
	return b.bits[f]
}

// Nodes returns the bitmap of a bucket's nodes of a class, or all of them for None. It is for
// reading only, and only valid as long as the Index's Source.
func (ix *Index) Nodes(b *Bucket, c Class) *roaring.Bitmap {
	return &ix.family(b, classFamily[c]).Bitmap
}

// Bucket returns a bucket's head, or nil if there is none.
func (ix *Index) Bucket(id uint32) *Bucket {
	if int(id) < len(ix.buckets) && ix.buckets[id] != nil {
		return ix.buckets[id]
	}
	if ix.src == nil || id >= ix.limits.Buckets {
		return nil
	}
	b, err := ix.src.Bucket(id)
	ix.fail(err)
	if b == nil {
		return nil
	}
	b.values, err = ix.decodeSignature(b.Signature)
	ix.fail(err)
	ix.hold(b)
	return b
}

func (ix *Index) hold(b *Bucket) {
	for int(b.ID) >= len(ix.buckets) {
		ix.buckets = append(ix.buckets, nil)
	}
	ix.buckets[b.ID] = b
}

// Buckets returns all buckets that have nodes, in the order in which they are tried.
func (ix *Index) Buckets() []*Bucket {
	var out []*Bucket
	for id := range ix.limits.Buckets {
		if b := ix.Bucket(id); b != nil && b.Total > 0 {
			out = append(out, b)
		}
	}
	slices.SortFunc(out, CompareBuckets)
	return out
}

// CountNodes returns how many nodes a queue owns, or for "" how many belong to no queue.
func (ix *Index) CountNodes(queue string) int {
	n := 0
	for it := ix.at(BitsKey{Family: OfQueue, Value: queue}).Iterator(); it.HasNext(); {
		if b := ix.Bucket(it.Next()); b != nil {
			n += int(b.Total)
		}
	}
	return n
}

// OwnsNodes reports whether a queue owns nodes. It stops at the first.
func (ix *Index) OwnsNodes(queue string) bool {
	for it := ix.at(BitsKey{Family: OfQueue, Value: queue}).Iterator(); it.HasNext(); {
		if b := ix.Bucket(it.Next()); b != nil && b.Total > 0 {
			return true
		}
	}
	return false
}
