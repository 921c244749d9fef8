package row

import (
	"github.com/placectl/placectl/timeline"
)

const (
	blockVersion = 2
	reachVersion = 1
)

// ReachBlocks is the number of calendar blocks in a row of reaches. On disk; must not change.
const ReachBlocks = 64

// ReachBlock holds the reaches of a group of blocks.
type ReachBlock [ReachBlocks]int64

func reachFields(f *Fields, r *ReachBlock) {
	f.Version(reachVersion)
	for i := range r {
		f.At("", &r[i], Made)
	}
}

// EncodeReaches returns a row of reaches, or nil if all are 0.
func EncodeReaches(r ReachBlock) []byte {
	if r == (ReachBlock{}) {
		return nil
	}
	return ReachRow.Encode(&r)
}

// ReachRow is a row of reaches.
var ReachRow = Kind[ReachBlock]{Reaches, reachFields}

// EncodeBlock returns the row of a calendar block: for each node with stretches, its place in
// the block, the number of stretches, and these. It returns nil for an empty block.
func EncodeBlock(block *timeline.Block) []byte {
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
				f := Fields{b: e.b}
				useFields(&f, b.Use)
				e.b = f.b
			}
		}
	}
	if len(e.b) == 1 {
		return nil
	}
	return e.b
}

// arena allocates the parts of decoded stretches in a few pieces, because a block of shared
// nodes has hundreds.
type arena struct {
	stretches []timeline.Busy
	uses      []timeline.Use
	amounts   []timeline.Amount
}

// list allocates n stretches.
func (a *arena) list(n int) []timeline.Busy { return cut(&a.stretches, n, 64) }

// use reads the part that a stretch takes.
func (a *arena) use(d *Reader) *timeline.Use {
	u := &cut(&a.uses, 1, 32)[0]
	within := d.Uint()
	u.Within, u.Alone = within>>1, within&1 == 1
	u.Amounts = cut(&a.amounts, d.Count(), 64)
	for i := range u.Amounts {
		u.Amounts[i] = timeline.Amount{Quantity: uint16(d.Uint()), N: d.Int()}
	}
	return u
}

// cut takes n elements from the rest of a piece, or from a new piece.
func cut[T any](left *[]T, n, piece int) []T {
	if n > len(*left) {
		*left = make([]T, max(n, piece))
	}
	out := (*left)[:n:n]
	*left = (*left)[n:]
	return out
}

// DecodeBlock reads a calendar block. Version 1 had only whole nodes, and every reservation
// was a claim.
func DecodeBlock(key, payload []byte) (*timeline.Block, error) {
	d := Reader{B: payload}
	version := d.Byte()
	block, room := new(timeline.Block), new(arena)
	for len(d.B) > 0 {
		at := int(d.Byte()) % timeline.BlockNodes
		list := room.list(d.Count())
		last := int64(0)
		for i := range list {
			b := &list[i]
			head := d.Uint()
			shared := false
			if version < 2 {
				b.Owner, b.Held = head>>1, head&1 == 1
				b.Claim = IsReservation(b.Owner)
			} else {
				b.Owner, b.Held, b.Claim, shared = head>>3, head&1 != 0, head&2 != 0, head&4 != 0
			}
			b.Start = last + d.Int()
			b.End = b.Start + int64(d.Uint())
			last = b.Start
			if shared {
				b.Use = room.use(&d)
			}
		}
		block[at] = list
	}
	return block, d.done(Calendar, key)
}
