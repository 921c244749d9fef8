package row

import (
	"hash/crc32"
	"testing"

	"pgregory.net/rapid"
)

// TestChecksum: a checksum covers key and payload together.
func TestChecksum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "key")
		payload := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "payload")
		want := crc32.Checksum(append(key[:len(key):len(key)], payload...), crc32.MakeTable(crc32.Castagnoli))
		for range 2 { // with the table of a process that begins, and with the library's
			if got := checksum(key, payload); got != want {
				t.Errorf("checksum(%x, %x) = %x, want %x", key, payload, got, want)
			}
			summed.Store(changeOver)
		}
		library.Store(nil)
		summed.Store(0)
	})
}
