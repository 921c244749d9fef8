package row

import (
	"encoding/binary"
	"hash/crc32"
	"sync"
	"sync/atomic"
)

// Rows carry CRC-32C. The standard library computes it with instructions of the
// processor, but takes 0.2 ms to prepare for that, a tenth of what a whole process
// spends on a small verb. So a process begins with tables that are made in 5 us, eight
// bytes at a time (slicing-by-8: Kounavis and Berry, 2005), and changes over when it has
// hashed as much as pays for the preparation.
const changeOver = 128 << 10

var (
	hashed atomic.Int64                // bytes so far, up to changeOver
	whole  atomic.Pointer[crc32.Table] // the library's, from then on
	sliced = sync.OnceValue(makeSliced)
)

// Checksum is the CRC-32C of bytes.
func Checksum(b []byte) uint32 { return checksum(nil, b) }

// checksum is the CRC-32C of a key and the payload behind it.
func checksum(key, payload []byte) uint32 {
	if castagnoli := whole.Load(); castagnoli != nil {
		return wholeChecksum(castagnoli, key, payload)
	}
	if hashed.Add(int64(len(key)+len(payload))) >= changeOver {
		whole.Store(crc32.MakeTable(crc32.Castagnoli))
	}
	t := sliced()
	return ^t.update(t.update(^uint32(0), key), payload)
}

// wholeChecksum takes a short key byte by byte: a second call of the library for so
// little takes longer.
func wholeChecksum(castagnoli *crc32.Table, key, payload []byte) uint32 {
	sum := ^uint32(0)
	for _, b := range key {
		sum = castagnoli[byte(sum)^b] ^ sum>>8
	}
	return crc32.Update(^sum, castagnoli, payload)
}

// slicedTables holds at [k][b] what a byte b contributes that k bytes follow.
type slicedTables [8][256]uint32

func makeSliced() *slicedTables {
	t := new(slicedTables)
	for b := range t[0] {
		sum := uint32(b)
		for range 8 {
			sum = sum>>1 ^ crc32.Castagnoli&-(sum&1)
		}
		t[0][b] = sum
	}
	for k := 1; k < len(t); k++ {
		for b := range t[k] {
			t[k][b] = t[k-1][b]>>8 ^ t[0][byte(t[k-1][b])]
		}
	}
	return t
}

func (t *slicedTables) update(sum uint32, b []byte) uint32 {
	for ; len(b) >= 8; b = b[8:] {
		v := binary.LittleEndian.Uint64(b) ^ uint64(sum)
		sum = t[7][byte(v)] ^ t[6][byte(v>>8)] ^ t[5][byte(v>>16)] ^ t[4][byte(v>>24)] ^
			t[3][byte(v>>32)] ^ t[2][byte(v>>40)] ^ t[1][byte(v>>48)] ^ t[0][v>>56]
	}
	for _, c := range b {
		sum = t[0][byte(sum)^c] ^ sum>>8
	}
	return sum
}
