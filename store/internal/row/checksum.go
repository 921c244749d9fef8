package row

import (
	"hash/crc32"
	"sync"
	"sync/atomic"
)

// Rows carry CRC-32C. The library computes it with instructions of the processor, and takes 0.2 ms
// to prepare for them: a twentieth of a small verb, which reads a few kilobytes. So a process begins
// with a table that takes 3 us to make and is a tenth as fast, and changes over when it has read
// enough to pay for the other.
const changeOver = 64 << 10

var (
	summed  atomic.Int64                // bytes so far, until changeOver
	library atomic.Pointer[crc32.Table] // nil until then
	byBytes = sync.OnceValue(makeTable)
)

// Checksum returns the CRC-32C of bytes.
func Checksum(b []byte) uint32 { return checksum(nil, b) }

// checksum returns the CRC-32C of a key and the payload behind it. It takes a short key byte by byte: a
// second call of the library for so little takes longer.
func checksum(key, payload []byte) uint32 {
	table, sum := castagnoli(len(payload)), ^uint32(0)
	for _, b := range key {
		sum = table[byte(sum)^b] ^ sum>>8
	}
	return crc32.Update(^sum, table, payload)
}

// castagnoli returns the table for a payload of so many bytes.
func castagnoli(size int) *crc32.Table {
	if t := library.Load(); t != nil {
		return t
	}
	if summed.Add(int64(size)) < changeOver {
		return byBytes()
	}
	t := crc32.MakeTable(crc32.Castagnoli)
	library.Store(t)
	return t
}

// makeTable makes the table that the library does not know, and therefore uses as it is.
func makeTable() *crc32.Table {
	t := new(crc32.Table)
	for b := range t {
		sum := uint32(b)
		for range 8 {
			sum = sum>>1 ^ crc32.Castagnoli&-(sum&1)
		}
		t[b] = sum
	}
	return t
}
