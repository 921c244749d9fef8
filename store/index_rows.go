package store

import (
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/timeline"
)

const (
	bucketVersion = 1
	blockVersion  = 2
	reachVersion  = 1
	roomVersion   = 1
)

// reachBlocks is how many calendar blocks share a row of reaches. On disk; must
// not change.
const reachBlocks = 64

// reachRow is the reaches of a group of blocks.
type reachRow [reachBlocks]int64

// encodeReaches writes a row of reaches, nil when all are 0.
func encodeReaches(r reachRow) []byte {
	if r == (reachRow{}) {
		return nil
	}
	e := encoder{}
	e.byte(reachVersion)
	for _, t := range r {
		e.int(t)
	}
	return e.b
}

func decodeReaches(key, row []byte) (reachRow, error) {
	d := decoder{b: row}
	d.byte()
	var r reachRow
	for i := range r {
		r[i] = d.int()
	}
	return r, d.done(tableReaches, key)
}

func encodeBucket(b *index.Bucket) []byte {
	e := encoder{}
	e.byte(bucketVersion)
	e.string(string(b.Signature))
	e.string(b.Queue)
	e.int(int64(b.Priority))
	e.uint(uint64(b.Total))
	for _, n := range b.Count {
		e.uint(uint64(n))
	}
	e.fixed32(b.First)
	return e.b
}

func decodeBucket(id uint32, key, row []byte) (*index.Bucket, error) {
	d := decoder{b: row}
	d.byte()
	b := &index.Bucket{ID: id}
	b.Signature = index.Signature(d.string())
	b.Queue = d.string()
	b.Priority = int32(d.int())
	b.Total = uint32(d.uint())
	for i := range b.Count {
		b.Count[i] = uint32(d.uint())
	}
	b.First = d.fixed32()
	return b, d.done(tableBuckets, key)
}

// encodeBlock writes a calendar block: for each node that has any, its place in
// the block, how many stretches, and those. It is nil for an empty block.
func encodeBlock(block *timeline.Block) []byte {
	e := encoder{}
	e.byte(blockVersion)
	for i, list := range block {
		if len(list) == 0 {
			continue
		}
		e.byte(byte(i))
		e.uint(uint64(len(list)))
		last := int64(0)
		for _, b := range list {
			head := b.Owner << 3
			for bit, set := range [...]bool{b.Held, b.Claim, b.Use != nil} {
				if set {
					head |= 1 << bit
				}
			}
			e.uint(head)
			e.int(b.Start - last)
			e.uint(uint64(b.End - b.Start))
			last = b.Start
			if b.Use != nil {
				encodeUse(&e, b.Use)
			}
		}
	}
	if len(e.b) == 1 {
		return nil
	}
	return e.b
}

// encodeUse writes what a stretch takes of a shared node.
func encodeUse(e *encoder, u *timeline.Use) {
	within := u.Within << 1
	if u.Alone {
		within |= 1
	}
	e.uint(within)
	e.uint(uint64(len(u.Amounts)))
	for _, a := range u.Amounts {
		e.uint(uint64(a.Quantity))
		e.int(a.N)
	}
}

func decodeUse(d *decoder) *timeline.Use { return new(arena).use(d) }

// arena hands out the parts of decoded stretches from few pieces of memory: a block
// of shared nodes has hundreds.
type arena struct {
	stretches []timeline.Busy
	uses      []timeline.Use
	amounts   []timeline.Amount
}

// list is n stretches.
func (a *arena) list(n int) []timeline.Busy { return cut(&a.stretches, n, 64) }

// use reads what a stretch takes.
func (a *arena) use(d *decoder) *timeline.Use {
	u := &cut(&a.uses, 1, 32)[0]
	within := d.uint()
	u.Within, u.Alone = within>>1, within&1 == 1
	u.Amounts = cut(&a.amounts, d.count(), 64)
	for i := range u.Amounts {
		u.Amounts[i] = timeline.Amount{Quantity: uint16(d.uint()), N: d.int()}
	}
	return u
}

// cut takes n from what is left of a piece, or of a new one.
func cut[T any](left *[]T, n, piece int) []T {
	if n > len(*left) {
		*left = make([]T, max(n, piece))
	}
	out := (*left)[:n:n]
	*left = (*left)[n:]
	return out
}

// decodeBlock reads a calendar block. Version 1 knew whole nodes only, and every
// reservation was a claim.
func decodeBlock(key, row []byte) (*timeline.Block, error) {
	d := decoder{b: row}
	version := d.byte()
	block, room := new(timeline.Block), new(arena)
	for len(d.b) > 0 {
		at := int(d.byte()) % timeline.BlockNodes
		list := room.list(d.count())
		last := int64(0)
		for i := range list {
			b := &list[i]
			head := d.uint()
			shared := false
			if version < 2 {
				b.Owner, b.Held = head>>1, head&1 == 1
				b.Claim = isReservation(b.Owner)
			} else {
				b.Owner, b.Held, b.Claim, shared = head>>3, head&1 != 0, head&2 != 0, head&4 != 0
			}
			b.Start = last + d.int()
			b.End = b.Start + int64(d.uint())
			last = b.Start
			if shared {
				b.Use = room.use(&d)
			}
		}
		block[at] = list
	}
	return block, d.done(tableCalendar, key)
}
