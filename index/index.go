package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"github.com/RoaringBitmap/roaring/v2"
)

// ErrCorrupt says that the index contradicts itself or its caller.
var ErrCorrupt = errors.New("the node index is inconsistent")

// Index is the node index: buckets, bitmaps and postings, loaded on demand. If the Source fails,
// reading methods return what they can; Err then returns the error, as a bufio.Scanner's does.
type Index struct {
	defs       *Defs
	signed     signatureSet
	types      []Type
	src        Source
	buckets    []*Bucket
	bits       map[BitsKey]*bitmap
	values     valueLists
	bySig      map[string]uint32 // queue, priority and signature, encoded
	limits     Limits
	generation uint64
	memo       memo
	rooms      map[BitsKey]*roaring.Bitmap // unions that WithRoom has made

	configured   map[ResID]int64 // sums that Configured has made
	configuredAt uint64          // the generation for which they hold
	scratch      []byte
	err          error
}

// Limits holds the smallest bucket and node numbers that were never used.
type Limits struct {
	Buckets, Nodes uint32
}

// New returns an index over what src holds; a nil src holds nothing. signature lists the
// resources that signatures consist of.
func New(defs *Defs, signature []ResID, src Source, limits Limits) *Index {
	ix := &Index{defs: defs, signed: newSignatureSet(signature), src: src, limits: limits,
		bits: make(map[BitsKey]*bitmap), values: make(valueLists), bySig: make(map[string]uint32)}
	for _, def := range defs.All() {
		for int(def.ID) >= len(ix.types) {
			ix.types = append(ix.types, 0)
		}
		ix.types[def.ID] = def.Type
	}
	return ix
}

// Copy returns an index that holds the same, and changes apart from this one. It loads from this one
// what it needs.
func (ix *Index) Copy() *Index {
	c := New(ix.defs, nil, original{ix}, ix.limits)
	c.signed = ix.signed
	return c
}

// original is the Source of a copy.
type original struct{ *Index }

func (o original) Bucket(id uint32) (*Bucket, error) {
	b := o.Index.Bucket(id)
	if b == nil {
		return nil, o.err
	}
	c := *b
	c.bits, c.changed = [5]*bitmap{}, false
	return &c, o.err
}

func (o original) Bits(k BitsKey) (*roaring.Bitmap, error) { return o.at(k).Clone(), o.err }

func (o original) Range(from BitsKey) iter.Seq2[BitsKey, *roaring.Bitmap] { return o.scan(from) }

// Err returns the first failure of the Source, or the first contradiction found.
func (ix *Index) Err() error { return ix.err }

// Fail records an error that the Source could not return.
func (ix *Index) Fail(err error) { ix.fail(err) }

func (ix *Index) fail(err error) {
	if ix.err == nil && err != nil {
		ix.err = err
	}
}

// Defs returns the resources that the index knows.
func (ix *Index) Defs() *Defs { return ix.defs }

// Limits returns the smallest bucket and node numbers that were never used.
func (ix *Index) Limits() Limits { return ix.limits }

func (ix *Index) typeOf(id ResID) Type {
	if int(id) < len(ix.types) {
		return ix.types[id]
	}
	return 0
}

// Signed reports whether a resource is part of signatures.
func (ix *Index) Signed(id ResID) bool { return ix.signed.has(id) }

func (ix *Index) textual(id ResID) bool {
	t := ix.typeOf(id)
	return t == String || t == StringArray
}

func (ix *Index) boolean(id ResID) bool { return ix.typeOf(id) == Boolean }

// Insert puts a node into its bucket, which it makes if necessary, and sets n.Bucket. It
// ignores class if the node is not up.
func (ix *Index) Insert(n *Node, class Class) {
	b := ix.bucketFor(n)
	n.Bucket = b.ID
	if n.State != Up {
		class = None
	}
	if !ix.editFamily(b, AllNodes).CheckedAdd(n.Number) {
		ix.fail(fmt.Errorf("%w: node %d is in bucket %d already", ErrCorrupt, n.Number, b.ID))
		return
	}
	ix.limits.Nodes = max(ix.limits.Nodes, n.Number+1)
	b.Total++
	b.Count[class]++
	if class != None {
		ix.editFamily(b, classFamily[class]).Add(n.Number)
		b.First = min(b.First, n.Number)
	}
	ix.attributes(n, func(k BitsKey) {
		ix.values.add(k)
		ix.edit(k).Add(n.Number)
	})
	ix.mark(n)
	ix.touch(b)
	ix.generation++
}

// Remove takes a node out of its bucket; n must be as it was inserted.
func (ix *Index) Remove(n *Node, class Class) {
	b := ix.Bucket(n.Bucket)
	if n.State != Up {
		class = None
	}
	if b == nil || !ix.editFamily(b, AllNodes).CheckedRemove(n.Number) {
		ix.fail(fmt.Errorf("%w: node %d is not in bucket %d", ErrCorrupt, n.Number, n.Bucket))
		return
	}
	b.Total--
	ix.leave(b, n.Number, class)
	ix.attributes(n, func(k BitsKey) { ix.edit(k).Remove(n.Number) })
	ix.unmark(n.Number)
	ix.generation++
}

// leave takes a node out of a class, and updates the bucket's first node.
func (ix *Index) leave(b *Bucket, node uint32, class Class) {
	if class != None && !ix.editFamily(b, classFamily[class]).CheckedRemove(node) {
		ix.fail(fmt.Errorf("%w: node %d is not among the %s nodes of bucket %d", ErrCorrupt, node, class, b.ID))
		return
	}
	b.Count[class]--
	ix.touch(b)
	if class != None && b.First == node {
		b.First = NoNode
		for _, c := range []Class{Free, Later, Busy} {
			if bm := ix.Nodes(b, c); !bm.IsEmpty() {
				b.First = min(b.First, bm.Minimum())
			}
		}
	}
}

// Move changes the class of one node of a bucket. None means that it is not up.
func (ix *Index) Move(b *Bucket, node uint32, from, to Class) {
	if from == to {
		return
	}
	if from == None || to == None {
		ix.generation++ // the order of buckets, or a total, may change
	}
	if to != None {
		if !ix.editFamily(b, classFamily[to]).CheckedAdd(node) {
			ix.fail(fmt.Errorf("%w: node %d is %s already", ErrCorrupt, node, to))
			return
		}
		b.First = min(b.First, node)
	}
	b.Count[to]++
	ix.leave(b, node, from)
}

// MoveMany changes the class of nodes of a bucket that are up and stay up.
func (ix *Index) MoveMany(b *Bucket, nodes *roaring.Bitmap, from, to Class) {
	if from == None || to == None {
		ix.fail(fmt.Errorf("%w: many nodes moved from %s to %s", ErrCorrupt, from, to))
		return
	}
	n := uint32(nodes.GetCardinality())
	src, dst := ix.editFamily(b, classFamily[from]), ix.editFamily(b, classFamily[to])
	if uint32(src.AndCardinality(nodes)) != n || dst.Intersects(nodes) {
		ix.fail(fmt.Errorf("%w: of %d nodes of bucket %d not all are %s", ErrCorrupt, n, b.ID, from))
		return
	}
	src.AndNot(nodes)
	dst.Or(nodes)
	b.Count[from] -= n
	b.Count[to] += n
	ix.touch(b)
}

// ClassOf returns the class of a node of a bucket.
func (ix *Index) ClassOf(b *Bucket, node uint32) Class {
	for _, c := range []Class{Free, Busy, Later} {
		if ix.Nodes(b, c).Contains(node) {
			return c
		}
	}
	return None
}

func (ix *Index) editFamily(b *Bucket, f Family) *bitmap {
	x := ix.family(b, f)
	x.changed = true
	return x
}

func (ix *Index) touch(b *Bucket) { b.changed = true }

// attributes calls f with the key of every bitmap that has the node because of a value outside
// the signature.
func (ix *Index) attributes(n *Node, f func(BitsKey)) {
	for _, a := range n.Res {
		if !ix.signed.has(a.Res) && a.Res != Host && a.Res != VNode {
			ix.valueKeys(NodesWith, a, f)
		}
	}
	for _, w := range n.Features {
		f(BitsKey{NodesWith, uint32(Feature), w})
	}
	if host, ok := n.Get(Host); ok && host.Str != n.Name {
		f(BitsKey{NodesWith, uint32(Host), host.Str})
	}
	if n.Speed != 0 || n.ProcSpeed != 0 {
		f(speedKey(n))
	}
}

// valueKeys calls f with the keys of a value: one for each member of a string_array, none for
// a false boolean.
func (ix *Index) valueKeys(fam Family, a Amount, f func(BitsKey)) {
	switch ix.typeOf(a.Res) {
	case StringArray:
		for _, m := range a.Value.Members() {
			f(BitsKey{fam, uint32(a.Res), m})
		}
	case String:
		f(BitsKey{fam, uint32(a.Res), a.Value.Str})
	default:
		if a.Value.Num != 0 {
			f(BitsKey{fam, uint32(a.Res), numKey(a.Value.Num)})
		}
	}
}

// appendBucketKey appends what a bucket has besides its signature.
func appendBucketKey(b []byte, queue string, priority int32) []byte {
	b = binary.AppendVarint(b, int64(priority))
	b = binary.AppendUvarint(b, uint64(len(queue)))
	return append(b, queue...)
}

func signatureHash(key string) BitsKey {
	return BitsKey{Family: OfSignature, Value: numKey(int64(hash64([]byte(key))))}
}

// bucketFor returns the bucket of a node, which it makes if necessary.
func (ix *Index) bucketFor(n *Node) *Bucket {
	key := appendBucketKey(ix.scratch[:0], n.Queue, n.Priority)
	sigAt := len(key)
	key = ix.appendSignature(key, n)
	ix.scratch = key
	if id, ok := ix.bySig[string(key)]; ok {
		return ix.buckets[id]
	}
	hash := signatureHash(string(key))
	for _, id := range ix.at(hash).ToArray() {
		b := ix.Bucket(id)
		if b != nil && b.Queue == n.Queue && b.Priority == n.Priority && string(b.Signature) == string(key[sigAt:]) {
			ix.bySig[string(key)] = id
			return b
		}
	}
	b := &Bucket{ID: ix.limits.Buckets, Signature: Signature(key[sigAt:]), Queue: n.Queue, Priority: n.Priority,
		First: NoNode}
	ix.addBucket(b, string(key), hash)
	return b
}

// Adopt makes an empty bucket with a given number. Numbers must ascend. Use it to recompute an
// index and compare it with a stored one.
func (ix *Index) Adopt(id uint32, sig Signature, queue string, priority int32) {
	b := &Bucket{ID: id, Signature: sig, Queue: queue, Priority: priority, First: NoNode}
	key := string(append(appendBucketKey(nil, queue, priority), sig...))
	ix.limits.Buckets = id
	ix.addBucket(b, key, signatureHash(key))
}

// AdoptOf calls Adopt for the bucket that a node's values call for.
func (ix *Index) AdoptOf(id uint32, n *Node) {
	ix.Adopt(id, Signature(ix.appendSignature(nil, n)), n.Queue, n.Priority)
}

// addBucket adds a bucket so that it is found by its signature, its queue and its values.
func (ix *Index) addBucket(b *Bucket, key string, hash BitsKey) {
	var err error
	b.values, err = ix.decodeSignature(b.Signature)
	ix.fail(err)
	ix.limits.Buckets++
	ix.hold(b)
	ix.touch(b)
	ix.bySig[key] = b.ID
	ix.edit(hash).Add(b.ID)
	ix.edit(BitsKey{Family: OfQueue, Value: b.Queue}).Add(b.ID)
	for _, a := range b.values {
		ix.valueKeys(HavingValue, a, func(k BitsKey) {
			ix.values.add(k)
			ix.edit(k).Add(b.ID)
		})
	}
}

// Changed returns the bitmaps that were changed since the last call. An empty bitmap must be
// deleted from the store.
func (ix *Index) Changed() iter.Seq2[BitsKey, *roaring.Bitmap] {
	return func(yield func(BitsKey, *roaring.Bitmap) bool) {
		for k, b := range ix.bits {
			if b.changed {
				b.changed = false
				if !yield(k, &b.Bitmap) {
					return
				}
			}
		}
	}
}

// ChangedBuckets lists the bucket heads that were changed since the last call.
func (ix *Index) ChangedBuckets() []*Bucket {
	var out []*Bucket
	for _, b := range ix.buckets {
		if b != nil && b.changed {
			b.changed = false
			out = append(out, b)
		}
	}
	return out
}
