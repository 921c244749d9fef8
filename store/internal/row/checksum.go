package row

import (
	"hash/crc32"
	"sync"
)

// castagnoli is made with the first row that is read: version and help read none.
var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

// Checksum returns the CRC-32C of bytes.
func Checksum(b []byte) uint32 { return checksum(nil, b) }

// checksum returns the CRC-32C of a key and the payload behind it. It takes a short key byte by byte: a
// second call of the library for so little takes longer.
func checksum(key, payload []byte) uint32 {
	table, sum := castagnoli(), ^uint32(0)
	for _, b := range key {
		sum = table[byte(sum)^b] ^ sum>>8
	}
	return crc32.Update(^sum, table, payload)
}
