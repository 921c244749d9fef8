package row

import "encoding/binary"

// Sum tells the rows of a table from others: how many there are, and the sum of their
// checksums, modulo 2^64. It follows from the row that goes and the one that comes.
type Sum struct{ Count, Sum uint64 }

// Add counts a row as it is stored.
func (s *Sum) Add(value []byte) {
	s.Count++
	s.Sum += storedChecksum(value)
}

// Remove counts one that goes.
func (s *Sum) Remove(value []byte) {
	s.Count--
	s.Sum -= storedChecksum(value)
}

// Change counts a row that comes in the place of another; either may be nil.
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

// storedChecksum returns the one that a row carries, or 0 if it is too short for any.
func storedChecksum(value []byte) uint64 {
	if len(value) < 4 {
		return 0
	}
	return uint64(binary.LittleEndian.Uint32(value[len(value)-4:]))
}

// Sums are those of all tables as a transaction left them. One row, which each commit
// writes: a page that was lost, or is one of an earlier transaction, has other rows
// than the row says.
type Sums struct {
	Transaction uint64 // the transaction that wrote the row, by bbolt's count
	Tables      [TableCount]Sum
}

const sumsVersion = 1

// Counted reports whether a row counts in the sum of its table. The format has no
// checksum, and the sums cannot have their own in them.
func Counted(t Table, key []byte) bool {
	return t != Meta || string(key) != string(KeyFormat) && string(key) != string(KeySums)
}

func sumsHead(f *Fields, s *Sums) {
	f.Version(sumsVersion)
	Uint(f, "transaction", &s.Transaction)
}

// sumsFields know tables by their place in the registry, where they stay. Tables that the
// row does not know yet are empty.
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

// Encode returns the row.
func (s *Sums) Encode() []byte { return encode(sumsFields, s) }

// Decode reads it.
func (s *Sums) Decode(payload []byte) error {
	f := Fields{dir: reading, b: payload, key: KeySums}
	*s = Sums{}
	sumsFields(&f, s)
	return f.done(Meta)
}

// SumsTransaction returns the transaction that wrote the row, without the rest of it.
func SumsTransaction(payload []byte) (uint64, error) {
	f, s := Fields{dir: reading, b: payload, key: KeySums}, Sums{}
	sumsHead(&f, &s)
	return s.Transaction, f.done(Meta)
}
