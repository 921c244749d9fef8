package row

import (
	"hash/crc32"
	"testing"

	"pgregory.net/rapid"
)

// TestChecksum: a checksum is that of key and payload in one.
func TestChecksum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "key")
		payload := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "payload")
		want := crc32.Checksum(append(key[:len(key):len(key)], payload...), crc32.MakeTable(crc32.Castagnoli))
		if got := checksum(key, payload); got != want {
			t.Errorf("%x, want %x", got, want)
		}
	})
}
