package row

import (
	"encoding/binary"

	"github.com/placectl/placectl/locality"
)

const batchRangeVersion = 1

// EncodeRange is the row of a range of a batch.
func EncodeRange(c *locality.Cursor) []byte {
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

// DecodeRange reads it.
func DecodeRange(key, payload []byte) (*locality.Cursor, error) {
	d := decoder{b: payload}
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
	return c, d.done(BatchRanges, key)
}
