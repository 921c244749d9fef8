package row

import (
	"encoding/binary"
	"hash/crc32"
	"sync"
	"sync/atomic"
)

// Sum identifies the rows of a table: their number, and the sum of their checksums, modulo
// 2^64. A change needs only the old and the new row.
type Sum struct{ Count, Sum uint64 }

// Add counts a row as it is stored.
func (s *Sum) Add(value []byte) {
	s.Count++
	s.Sum += storedChecksum(value)
}

// Remove counts a row that is removed.
func (s *Sum) Remove(value []byte) {
	s.Count--
	s.Sum -= storedChecksum(value)
}

// Change counts a row that replaces another. Either may be nil.
func (s *Sum) Change(old, value []byte) {
	if old != nil {
		s.Remove(old)
	}
	if value != nil {
		s.Add(value)
	}
}

// Join adds another sum.
func (s *Sum) Join(other Sum) {
	s.Count += other.Count
	s.Sum += other.Sum
}

// storedChecksum returns the checksum in a row, or 0 if the row is too short.
func storedChecksum(value []byte) uint64 {
	if len(value) < 4 {
		return 0
	}
	return uint64(binary.LittleEndian.Uint32(value[len(value)-4:]))
}

// Sums holds the sums of all tables after a transaction. It is one row, which each commit
// writes. If a page is lost, or is that of an earlier transaction, the rows do not match it.
type Sums struct {
	Transaction uint64 // the transaction that wrote the row, by bbolt's number
	Tables      [TableCount]Sum
}

const sumsVersion = 1

// Counted reports whether a row counts in the sum of its table. The format row has no
// checksum, and the sums cannot include their own row.
func Counted(t Table, key []byte) bool {
	return t != Meta || string(key) != string(KeyFormat) && string(key) != string(KeySums)
}

func sumsHead(f *Fields, s *Sums) {
	f.Version(sumsVersion)
	Uint(f, "transaction", &s.Transaction)
}

// sumsFields identifies tables by their place in the registry, which does not change. Tables
// that the row does not have yet are empty.
func sumsFields(f *Fields, s *Sums) {
	sumsHead(f, s)
	for t := range s.Tables {
		if f.More(true) {
			sumFields(f, &s.Tables[t])
		}
	}
}

func sumFields(f *Fields, s *Sum) {
	Uint(f, "count", &s.Count)
	Uint(f, "sum", &s.Sum)
}

// SumsRow is the row of the sums.
var SumsRow = Kind[Sums]{Meta, sumsFields}

// SumsTransaction returns the transaction that wrote the row, without decoding the rest.
func SumsTransaction(payload []byte) (uint64, error) {
	f, s := Fields{dir: reading, b: payload, key: KeySums}, Sums{}
	sumsHead(&f, &s)
	return s.Transaction, f.done(Meta)
}

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
