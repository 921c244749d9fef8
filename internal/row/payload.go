package row

import (
	"encoding/binary"
	"fmt"
)

// Seal makes a row from a payload whose first byte is its version. It appends the checksum
// over key and payload.
func Seal(key, payload []byte) []byte {
	return binary.LittleEndian.AppendUint32(payload, checksum(key, payload))
}

// Unseal verifies a row and returns its payload.
func Unseal(t Table, key, row []byte) ([]byte, error) {
	if len(row) < 5 {
		return nil, fmt.Errorf("%w: the row %s of table %s has %d bytes", ErrDamaged, Shown(key), t, len(row))
	}
	payload, sum := row[:len(row)-4], binary.LittleEndian.Uint32(row[len(row)-4:])
	if checksum(key, payload) != sum {
		return nil, fmt.Errorf("%w: the row %s of table %s does not match its checksum", ErrDamaged, Shown(key), t)
	}
	return payload, nil
}

// Shown formats a key for a message. A damaged file may have a key of many megabytes.
func Shown(key []byte) string {
	if most := 64; len(key) > most {
		return fmt.Sprintf("%x... (%d bytes)", key[:most], len(key))
	}
	return fmt.Sprintf("%x", key)
}

// encoder appends fields to a payload.
type encoder struct{ b []byte }

func (e *encoder) byte(v byte)   { e.b = append(e.b, v) }
func (e *encoder) uint(v uint64) { e.b = binary.AppendUvarint(e.b, v) }
func (e *encoder) int(v int64)   { e.b = binary.AppendVarint(e.b, v) }

func (e *encoder) string(s string) {
	e.uint(uint64(len(s)))
	e.b = append(e.b, s...)
}

// done returns the error for an invalid payload. Bytes left over are not an error: a newer
// version of the row may append fields.
func (r *Reader) done(t Table, key []byte) error {
	if r.Bad {
		return fmt.Errorf("%w: the row %s of table %s cannot be decoded", ErrDamaged, Shown(key), t)
	}
	return nil
}

// payloadKeyField is the key of a job's payload, after its length, which is 0 for none.
func payloadKeyField(f *Fields, k *PayloadKey, carries bool) {
	n := 0
	switch {
	case !f.bytes():
		f.Digits("payload", k[:])
		return
	case carries:
		n = len(k)
	}
	switch n = f.count(n); n {
	case len(k):
		f.fixedBytes(k[:])
	default:
		f.Must(n == 0)
	}
}

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
