package row

import "encoding/binary"

// Reader takes fields from bytes. After a short or invalid field it reads zeros, and is Bad.
type Reader struct {
	B   []byte // the rest
	Bad bool
}

// Fail makes the reader bad.
func (r *Reader) Fail() { r.B, r.Bad = nil, true }

// Take takes n bytes, or returns nil if there are fewer.
func (r *Reader) Take(n int) []byte {
	if n < 0 || n > len(r.B) {
		r.Fail()
		return nil
	}
	out := r.B[:n:n]
	r.B = r.B[n:]
	return out
}

// Byte takes a byte.
func (r *Reader) Byte() byte {
	if b := r.Take(1); b != nil {
		return b[0]
	}
	return 0
}

// Uint takes a varint.
func (r *Reader) Uint() uint64 {
	if len(r.B) > 0 && r.B[0] < 0x80 { // most varints are that short
		v := uint64(r.B[0])
		r.B = r.B[1:]
		return v
	}
	v, n := binary.Uvarint(r.B)
	if n <= 0 {
		r.Fail()
		return 0
	}
	r.B = r.B[n:]
	return v
}

// Int takes a varint that may be negative.
func (r *Reader) Int() int64 {
	v := r.Uint()
	return int64(v>>1) ^ -int64(v&1)
}

// Count takes the number of items that follow, each of at least one byte.
func (r *Reader) Count() int {
	n := r.Uint()
	if n > uint64(len(r.B)) {
		r.Fail()
		return 0
	}
	return int(n)
}

// Bytes takes a number and that many bytes.
func (r *Reader) Bytes() []byte { return r.Take(r.Count()) }
