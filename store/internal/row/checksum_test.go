package row

import (
	"hash/crc32"
	"testing"

	"pgregory.net/rapid"
)

// Both ways of computing it give the checksum of key and payload in one.
func TestChecksum(t *testing.T) {
	tables := makeSliced()
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "key")
		payload := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "payload")
		want := crc32.Checksum(append(key[:len(key):len(key)], payload...), crc32.MakeTable(crc32.Castagnoli))
		if got := wholeChecksum(crc32.MakeTable(crc32.Castagnoli), key, payload); got != want {
			t.Errorf("%x, want %x", got, want)
		}
		if got := ^tables.update(tables.update(^uint32(0), key), payload); got != want {
			t.Errorf("sliced: %x, want %x", got, want)
		}
		if got := checksum(key, payload); got != want {
			t.Errorf("checksum: %x, want %x", got, want)
		}
	})
}
