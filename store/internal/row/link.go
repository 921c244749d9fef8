package row

import (
	"encoding/binary"
	"fmt"
)

// Many rows hold one thing after the version byte: a mark that the key exists, the number that
// a name leads to, or a text.
const linkVersion = 1

// markSize is the size of a mark in the file: its version and a checksum.
const markSize = 1 + 4

// EncodeMark returns the row of a table whose keys say everything.
func EncodeMark() []byte { return append(make([]byte, 0, markSize), linkVersion) }

// EncodeText returns a row that holds a text.
func EncodeText(s string) []byte { return append([]byte{linkVersion}, s...) }

// DecodeText decodes what EncodeText returns.
func DecodeText(payload []byte) string { return string(payload[1:]) }

// EncodeNumber32 returns the row of a name that leads to a node or host.
func EncodeNumber32(n uint32) []byte { return append([]byte{linkVersion}, Key32(n)...) }

// DecodeNumber32 decodes what EncodeNumber32 returns.
func DecodeNumber32(t Table, key, payload []byte) (uint32, error) {
	if len(payload) != 5 {
		return 0, fmt.Errorf("%w: %q of table %s leads nowhere", ErrDamaged, key, t)
	}
	return binary.BigEndian.Uint32(payload[1:]), nil
}
