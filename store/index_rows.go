package store

import (
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/timeline"
)

const (
	bucketVersion = 1
	blockVersion  = 1
	reachVersion  = 1
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
			owner := b.Owner << 1
			if b.Held {
				owner |= 1
			}
			e.uint(owner)
			e.int(b.Start - last)
			e.uint(uint64(b.End - b.Start))
			last = b.Start
		}
	}
	if len(e.b) == 1 {
		return nil
	}
	return e.b
}

func decodeBlock(key, row []byte) (*timeline.Block, error) {
	d := decoder{b: row}
	d.byte()
	block := new(timeline.Block)
	for len(d.b) > 0 {
		at := int(d.byte()) % timeline.BlockNodes
		list := make([]timeline.Busy, d.count())
		last := int64(0)
		for i := range list {
			owner := d.uint()
			list[i].Owner, list[i].Held = owner>>1, owner&1 == 1
			list[i].Start = last + d.int()
			list[i].End = list[i].Start + int64(d.uint())
			last = list[i].Start
		}
		block[at] = list
	}
	return block, d.done(tableCalendar, key)
}
