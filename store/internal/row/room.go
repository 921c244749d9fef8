package row

import (
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/timeline"
)

// RoomBlock is what is left of each node of a block: nil for those that are not shared
// now, or take nobody else.
type RoomBlock [timeline.BlockNodes][]index.Amount

const roomVersion = 1

// EncodeRooms is the row of a block, nil where there is nothing left of any node.
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
func DecodeRooms(key, payload []byte) (RoomBlock, error) {
	d := decoder{b: payload}
	d.byte()
	var b RoomBlock
	for len(d.b) > 0 {
		at := int(d.byte()) % timeline.BlockNodes
		room := make([]index.Amount, d.count())
		for i := range room {
			room[i] = index.Amount{Res: index.ResID(d.uint()), Value: index.Value{Num: d.int()}}
		}
		b[at] = room
	}
	return b, d.done(Rooms, key)
}
