package row

import (
	"fmt"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/timeline"
)

const bucketVersion = 1

func bucketFields(f *Fields, b *index.Bucket) {
	f.Version(bucketVersion)
	KeyPart(f, "id", 0, 4, 4, &b.ID)
	f.Text("signature", (*string)(&b.Signature))
	f.Text("queue", &b.Queue)
	Int(f, "priority", &b.Priority)
	Uint(f, "total", &b.Total)
	Counts(f, "count", b.Count[:])
	Fixed(f, "first", &b.First)
}

// BucketRow is the row of a bucket.
var BucketRow = Kind[index.Bucket]{Buckets, bucketFields}

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

// RoomBlock holds what remains of each node of a block. It is nil for nodes that are not
// shared now, or admit no further job.
type RoomBlock [timeline.BlockNodes][]index.Amount

const roomVersion = 1

// EncodeRooms returns the row of a block, or nil if there is nothing left of any node.
func EncodeRooms(b *RoomBlock) []byte {
	e := encoder{}
	e.byte(roomVersion)
	for i, room := range b {
		if room == nil {
			continue
		}
		e.byte(byte(i))
		e.uint(uint64(len(room)))
		for _, a := range room {
			e.uint(uint64(a.Res))
			e.int(a.Value.Num)
		}
	}
	if len(e.b) == 1 {
		return nil
	}
	return e.b
}

// DecodeRooms decodes what EncodeRooms returns.
func DecodeRooms(key, payload []byte) (b RoomBlock, err error) {
	err = EachRoom(key, payload, nil, func(at int, room []index.Amount) { b[at] = slices.Clip(slices.Clone(room)) })
	return b, err
}

// EachRoom calls fn for the nodes of a block that have something left. A room is valid until
// fn returns, because it is read into scratch, which may be nil.
func EachRoom(key, payload []byte, scratch []index.Amount, fn func(at int, room []index.Amount)) error {
	if scratch == nil {
		scratch = make([]index.Amount, 0, 8) // an empty room must not be nil
	}
	d := Reader{B: payload}
	d.Byte()
	for len(d.B) > 0 {
		at := int(d.Byte()) % timeline.BlockNodes
		scratch = scratch[:0]
		for range d.Count() {
			scratch = append(scratch, index.Amount{Res: index.ResID(d.Uint()), Value: index.Value{Num: d.Int()}})
		}
		fn(at, scratch)
	}
	return d.done(Rooms, key)
}

// KeyFreed is the key of the table Invalidations.
var KeyFreed = []byte{1}

// Freed is where room was made since a cycle last examined all plans: on nodes, or anywhere.
type Freed struct {
	Anywhere bool
	Nodes    []uint32 // ascending
}

// The row begins with its version, which tells which of the two applies.
const (
	freedNodes    = 1
	freedAnywhere = 2
)

func freedFields(f *Fields, x *Freed) {
	version := byte(freedNodes)
	if x.Anywhere {
		version = freedAnywhere
	}
	switch version = f.Version(version); f.dir {
	case writing:
		if !x.Anywhere {
			content, err := roaring.BitmapOf(x.Nodes...).MarshalBinary()
			if err != nil {
				panic(err) // it writes to memory
			}
			f.b = append(f.b, content...)
		}
	case reading:
		nodes := roaring.New()
		x.Anywhere = version == freedAnywhere
		f.Must(version == freedNodes || x.Anywhere && len(f.b) == 0)
		f.Must(x.Anywhere || nodes.UnmarshalBinary(f.b) == nil)
		if !f.bad && !x.Anywhere {
			x.Nodes = nodes.ToArray()
		}
	default:
		f.fact("anywhere", &x.Anywhere)
		Uints(f, "nodes", &x.Nodes)
	}
}

// FreedRow is the row of what was freed.
var FreedRow = Kind[Freed]{Invalidations, freedFields}
