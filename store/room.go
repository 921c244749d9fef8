package store

import (
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/timeline"
)

// A node that is shared now is in its bucket's busy nodes, and may take more all
// the same. What is left of it is kept in a row, by blocks of 64 nodes like the
// calendar, so that the index can be told by how much it changes.

// roomBlock is a block as the transaction has it.
type roomBlock struct {
	row.RoomBlock
	changed bool
}

// rooms are the blocks that the transaction has read, by number.
type rooms struct {
	tx     *Tx
	blocks map[uint32]*roomBlock
}

// block finds the block of a node.
func (r *rooms) block(node uint32) (*roomBlock, error) {
	number := node / timeline.BlockNodes
	if b := r.blocks[number]; b != nil {
		return b, nil
	}
	key := row.Key32(number)
	b := new(roomBlock)
	payload, err := r.tx.file.Get(row.Rooms, key)
	if err == nil && payload != nil {
		b.RoomBlock, err = row.DecodeRooms(key, payload)
	}
	if err != nil {
		return nil, err
	}
	r.blocks[number] = b
	return b, nil
}

// flush writes back the blocks that were changed.
func (r *rooms) flush() error {
	for number, b := range r.blocks {
		if !b.changed {
			continue
		}
		b.changed = false
		if err := r.tx.file.PutOrRemove(row.Rooms, row.Key32(number), row.EncodeRooms(&b.RoomBlock)); err != nil {
			return err
		}
	}
	return nil
}

// measure notes what is left of a node now, for whoever looks for room. Nodes that
// are not busy, and were not shared before, have nothing to note.
func (r *rooms) measure(ix *index.Index, node uint32, busy bool) error {
	if !busy && !ix.IsOpen(node) {
		return nil
	}
	block, err := r.block(node)
	if err != nil {
		return err
	}
	var now []index.Amount
	if busy && placer.SharedBy(r.tx.calendar(), node, r.tx.calendar().Now()) {
		n, err := r.tx.kept(node)
		if err != nil {
			return err
		}
		now = placer.RoomNow(r.tx.calendar(), ix.Defs(), n.Node)
	}
	place := &block.RoomBlock[node%timeline.BlockNodes]
	if (*place == nil) != (now == nil) || !slices.Equal(*place, now) {
		ix.SetRoom(node, *place, now)
		*place, block.changed = now, true
	}
	return nil
}
