package row

import (
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/timeline"
)

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

// DecodeRooms reads it.
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
