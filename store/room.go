package store

import (
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/timeline"
)

// A node that is shared now is in its bucket's busy nodes, and may take more all
// the same. What is left of it is kept in a row, by blocks of 64 nodes like the
// calendar, so that the index can be told by how much it changes.

// roomBlock is what is left of the nodes of a block: nil for those that are not
// shared now, or take nobody else.
type roomBlock struct {
	rooms   [timeline.BlockNodes][]index.Amount
	changed bool
}

func encodeRooms(b *roomBlock) []byte {
	e := encoder{}
	e.byte(roomVersion)
	for i, room := range b.rooms {
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

func decodeRooms(key, row []byte) (*roomBlock, error) {
	d := decoder{b: row}
	d.byte()
	b := new(roomBlock)
	for len(d.b) > 0 {
		at := int(d.byte()) % timeline.BlockNodes
		room := make([]index.Amount, d.count())
		for i := range room {
			room[i] = index.Amount{Res: index.ResID(d.uint()), Value: index.Value{Num: d.int()}}
		}
		b.rooms[at] = room
	}
	return b, d.done(tableRooms, key)
}

// roomBlock finds the block of a node.
func (tx *Tx) roomBlock(node uint32) (*roomBlock, error) {
	number := node / timeline.BlockNodes
	if b := tx.loaded.rooms[number]; b != nil {
		return b, nil
	}
	key := key32(number)
	b := new(roomBlock)
	if tx.file.table(tableRooms) != nil { // a file of format 1 has none
		row, err := tx.get(tableRooms, key)
		if err == nil && row != nil {
			b, err = decodeRooms(key, row)
		}
		if err != nil {
			return nil, err
		}
	}
	if tx.loaded.rooms == nil {
		tx.loaded.rooms = make(map[uint32]*roomBlock)
	}
	tx.loaded.rooms[number] = b
	return b, nil
}

// flushRooms writes back the blocks that were changed.
func (tx *Tx) flushRooms() error {
	for number, b := range tx.loaded.rooms {
		if !b.changed {
			continue
		}
		b.changed = false
		if err := tx.putOrRemove(tableRooms, key32(number), encodeRooms(b)); err != nil {
			return err
		}
	}
	return nil
}

// measure notes what is left of a node now, for whoever looks for room. Nodes that
// are not busy, and were not shared before, have nothing to note.
func (tx *Tx) measure(ix *index.Index, node uint32, busy bool) error {
	if !busy && !ix.IsOpen(node) {
		return nil
	}
	block, err := tx.roomBlock(node)
	if err != nil {
		return err
	}
	var now []index.Amount
	if busy && placer.SharedEver(tx.Calendar(), node) {
		n, err := tx.NodeByNumber(node)
		if err != nil {
			return err
		}
		now = placer.RoomNow(tx.Calendar(), ix.Defs(), n)
	}
	place := &block.rooms[node%timeline.BlockNodes]
	if (*place == nil) != (now == nil) || !slices.Equal(*place, now) {
		ix.SetRoom(node, *place, now)
		*place, block.changed = now, true
	}
	return nil
}
