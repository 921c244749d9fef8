package row

import "bytes"

// Scans of an index read the keys with a common prefix. So the rows of an index are also
// summed by the first part of their keys, and a scan compares what it has read. Otherwise a
// damaged page could hide rows without any wrong checksum. The sums are derived from the rows
// of one file.

// indexParts holds the indexes that are scanned by prefix, and functions for the length of the
// first part of a key, negative for a key that the table cannot have.
var indexParts = [TableCount]func(key []byte) int{
	Bitmaps:      partOf(5),
	JobStates:    partOf(1),
	Access:       partBefore(8),
	BatchLongest: partOf(4),
	BatchBacks:   partOf(4),
	BatchDues:    partOf(4),
	Claimed:      partThrough(0),
	Holdings:     partBefore(8),
	JobKinds:     partBefore(8),
	LimitSums:    partThrough(1),
}

func partOf(n int) func(key []byte) int {
	return func(key []byte) int {
		if len(key) < n {
			return -1
		}
		return n
	}
}

func partBefore(n int) func(key []byte) int { return func(key []byte) int { return len(key) - n } }

func partThrough(end byte) func(key []byte) int {
	return func(key []byte) int {
		if at := bytes.IndexByte(key, end); at >= 0 {
			return at + 1
		}
		return -1
	}
}

// Parted reports whether IndexSums has sums of the table.
func (t Table) Parted() bool { return indexParts[t] != nil }

// Part returns the length of the first part of a key, or -1 if IndexSums does not count it.
func (t Table) Part(key []byte) int {
	if indexParts[t] == nil {
		return -1
	}
	return max(-1, indexParts[t](key))
}

// IndexSumKey returns the key in IndexSums of the rows of a table whose keys begin with part.
func IndexSumKey(b []byte, t Table, part []byte) []byte { return append(append(b, byte(t)), part...) }

func indexSumFields(f *Fields, s *Sum) {
	f.Version(1)
	sumFields(f, s)
}

// Encode returns the row of a sum in IndexSums, or nil if the sum has no rows.
func (s *Sum) Encode() []byte {
	if *s == (Sum{}) {
		return nil
	}
	return IndexSumRow.Encode(s)
}

// IndexSumRow is a row of IndexSums.
var IndexSumRow = Kind[Sum]{IndexSums, indexSumFields}
