package nodes

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/timeline"
)

// A node that is shared now is in its bucket's busy nodes, and may yet take more. What is left
// of it is kept in a row, by blocks of 64 nodes like the calendar. That lets the index learn
// by how much it changes.

// roomBlock is a block as the transaction sees it.
type roomBlock struct {
	row.RoomBlock
	changed bool
}

// Rooms holds the blocks that the transaction has read, by number.
type Rooms struct {
	Base
	blocks map[uint32]*roomBlock
}

// NewRooms returns an empty set of blocks.
func NewRooms(b Base) *Rooms { return &Rooms{b, make(map[uint32]*roomBlock)} }

// Forget forgets what was read and changed.
func (r *Rooms) Forget() { clear(r.blocks) }

// block returns the block of a node.
func (r *Rooms) block(node uint32) (*roomBlock, error) {
	number := node / timeline.BlockNodes
	if b := r.blocks[number]; b != nil {
		return b, nil
	}
	key := row.Key32(number)
	b := new(roomBlock)
	payload, err := r.Rows.Get(row.Rooms, key)
	if err == nil && payload != nil {
		b.RoomBlock, err = row.DecodeRooms(key, payload)
	}
	if err != nil {
		return nil, err
	}
	r.blocks[number] = b
	return b, nil
}

// Flush writes back the blocks that were changed.
func (r *Rooms) Flush() error {
	for number, b := range r.blocks {
		if !b.changed {
			continue
		}
		b.changed = false
		if err := r.Rows.PutOrRemove(row.Rooms, row.Key32(number), row.EncodeRooms(&b.RoomBlock)); err != nil {
			return err
		}
	}
	return nil
}

// Each calls fn for the nodes that are shared now, with what is left of each; room is valid
// until fn returns.
func (r *Rooms) Each(fn func(node uint32, room []index.Amount)) error {
	var scratch [8]index.Amount
	err := r.Rows.Each(row.Rooms, nil, func(key, payload []byte) (bool, error) {
		if len(key) != 4 {
			return false, fmt.Errorf("%w: table %s has %x", row.ErrDamaged, row.Rooms, key)
		}
		number := binary.BigEndian.Uint32(key)
		if r.blocks[number] != nil { // it was read, and maybe changed
			return true, nil
		}
		return true, row.EachRoom(key, payload, scratch[:0], func(at int, room []index.Amount) {
			fn(number*timeline.BlockNodes+uint32(at), room)
		})
	})
	if err != nil {
		return err
	}
	for number, b := range r.blocks {
		for i, room := range b.RoomBlock {
			if room != nil {
				fn(number*timeline.BlockNodes+uint32(i), room)
			}
		}
	}
	return nil
}

// Measure notes what is left of a node now, for searches. Nodes that are not busy, and were
// not shared before, have nothing to note.
func (r *Rooms) Measure(ix *index.Index, node uint32, busy bool) error {
	if !busy && !ix.IsOpen(node) {
		return nil
	}
	block, err := r.block(node)
	if err != nil {
		return err
	}
	var now []index.Amount
	if busy && placer.SharedBy(r.Calendar(), node, r.Calendar().Now()) {
		n, err := r.Nodes.Node(node)
		if err != nil {
			return err
		}
		now = placer.RoomNow(r.Calendar(), ix.Defs(), n)
	}
	place := &block.RoomBlock[node%timeline.BlockNodes]
	if (*place == nil) != (now == nil) || !slices.Equal(*place, now) {
		ix.SetRoom(node, *place, now)
		*place, block.changed = now, true
	}
	return nil
}
