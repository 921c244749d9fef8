package store

import (
	"encoding/binary"
	"math"

	"github.com/placectl/placectl/locality"
)

const batchRangeVersion = 1

func encodeRange(c *locality.Cursor) []byte {
	e := encoder{}
	e.byte(batchRangeVersion)
	for _, n := range rangeSlots(c) {
		e.int(int64(*n))
	}
	e.int(c.Open)
	for _, end := range c.Ends {
		e.uint(uint64(end.Hosts))
		e.int(end.Rate)
		e.int(end.Hand)
		e.int(end.Back)
	}
	e.uint(uint64(len(c.Gone)))
	for _, slot := range c.Gone {
		e.uint(uint64(slot))
	}
	return e.b
}

func rangeSlots(c *locality.Cursor) []*int {
	return []*int{&c.Last, &c.Unfinished, &c.Top, &c.Low, &c.High, &c.Generated}
}

func decodeRange(key, row []byte) (*locality.Cursor, error) {
	d := decoder{b: row}
	d.byte()
	c := &locality.Cursor{}
	for _, n := range rangeSlots(c) {
		*n = int(d.int())
	}
	c.Open = d.int()
	for i := range c.Ends {
		c.Ends[i] = locality.End{Hosts: int(d.uint()), Rate: d.int(), Hand: d.int(), Back: d.int()}
	}
	for range d.count() {
		c.Gone = append(c.Gone, int(d.uint()))
	}
	if len(key) == 12 {
		c.First = int(binary.BigEndian.Uint64(key[4:]))
	} else {
		d.bad = true
	}
	return c, d.done(tableBatchRanges, key)
}

// rangeKey, and the keys that follow, begin with the number of the batch.
func rangeKey(batch uint32, first int) []byte {
	return binary.BigEndian.AppendUint64(key32(batch), uint64(first))
}

// longestKey orders the ranges of a batch by time left, the longest first.
func longestKey(batch uint32, c *locality.Cursor) []byte {
	left := ^math.Float64bits(c.TimeLeft()) // of numbers that are not negative, the bits are in their order
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(key32(batch), left), uint64(c.First))
}

func dueKey(batch uint32, d locality.Due) []byte {
	key := binary.BigEndian.AppendUint64(key32(batch), uint64(d.At))
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(key, d.Host), uint64(d.Slot+1))
}

func splitDueKey(key []byte) locality.Due {
	if len(key) != 24 {
		return locality.Due{}
	}
	return locality.Due{At: int64(binary.BigEndian.Uint64(key[4:])), Host: binary.BigEndian.Uint32(key[12:]),
		Slot: int(binary.BigEndian.Uint64(key[16:])) - 1}
}

func batchBlockKey(batch uint32, block int) []byte {
	return binary.BigEndian.AppendUint32(key32(batch), uint32(block))
}
