package row

import (
	"bytes"
	"encoding/binary"
)

// Siblings recognises rows of jobs of an array that ask for the same as one of them: they differ
// in the index, the line, and the signature alone. It compares bytes, so that a cycle over
// thousands of waiting jobs decodes a few.
type Siblings struct {
	before []byte // what comes before the index
	after  []byte // and behind it, up to the signature of a job that has a line
	signed bool   // such a job has a signature
	lined  bool
}

// SiblingsOf recognises the siblings of a job, which is in an array, by its payload.
func SiblingsOf(payload []byte, j *Job) (s Siblings, ok bool) {
	f := Fields{dir: reading, borrow: true, b: payload, key: Key64(j.ID)}
	var head Job
	version := jobHead(&f, &head)
	if f.bad || version < jobVersion {
		return s, false
	}
	s.before = payload[:len(payload)-len(f.b)]
	after, ok := skipNumber(f.b)
	if !ok {
		return s, false
	}
	if s.after = after; j.Line == "" {
		return s, true
	}
	if j.RetryOf != 0 {
		return s, false
	}
	s.lined, s.signed = true, len(j.Signature) > 0
	own := uvarLen(len(j.Line)) + len(j.Line)
	if s.signed {
		own += uvarLen(len(j.Signature)) + len(j.Signature)
	}
	if own > len(after) {
		return s, false
	}
	s.after = after[:len(after)-own]
	return s, true
}

// Has reports whether a payload is that of a sibling.
func (s *Siblings) Has(payload []byte) bool {
	rest, ok := bytes.CutPrefix(payload, s.before)
	if !ok {
		return false
	}
	if rest, ok = skipNumber(rest); !ok {
		return false
	}
	if !s.lined {
		return bytes.Equal(rest, s.after)
	}
	if rest, ok = bytes.CutPrefix(rest, s.after); ok && s.signed {
		rest, ok = skipBytes(rest)
	}
	if ok {
		rest, ok = skipBytes(rest)
	}
	return ok && len(rest) == 0
}

func skipNumber(b []byte) (rest []byte, ok bool) {
	_, n := binary.Varint(b)
	if n <= 0 {
		return nil, false
	}
	return b[n:], true
}

func skipBytes(b []byte) (rest []byte, ok bool) {
	size, n := binary.Uvarint(b)
	if n <= 0 || size > uint64(len(b)-n) {
		return nil, false
	}
	return b[n+int(size):], true
}

func uvarLen(n int) int { return len(binary.AppendUvarint(nil, uint64(n))) }
