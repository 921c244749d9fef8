package row

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
)

// Siblings recognises rows of jobs of an array that ask for the same as one of them: they
// differ only in the index, the command, the line and the signature. It compares bytes, so
// that a cycle over thousands of waiting jobs decodes only a few.
type Siblings struct {
	before  []byte // the key's bytes before the index
	middle  []byte // between the index and the command
	after   []byte // after the command, up to the signature of a job that has a line
	execute bool   // there is a command
	signed  bool   // a job with a line has a signature
	lined   bool
}

// SiblingsOf recognises the siblings of a job, which is in an array, by its payload.
func SiblingsOf(payload []byte, j *Job) (s Siblings, ok bool) {
	f := Fields{dir: reading, borrow: true, b: payload, key: Key64(j.ID)}
	var is Job
	if version := jobHead(&f, &is); f.bad || version < jobVersion {
		return s, false
	}
	s.before = payload[:len(payload)-len(f.b)]
	Int(&f, "index", &is.Index)
	rest := f.b
	jobMiddle(&f, &is)
	s.middle = rest[:len(rest)-len(f.b)]
	if s.execute, s.after, ok = skipTexts(f.b); !ok || f.bad {
		return s, false
	}
	if j.Line == "" {
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
	if own > len(s.after) {
		return s, false
	}
	s.after = s.after[:len(s.after)-own]
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
	if rest, ok = bytes.CutPrefix(rest, s.middle); !ok {
		return false
	}
	execute, rest, ok := skipTexts(rest)
	if !ok || execute != s.execute {
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

// AppendLot appends the key in Lots of a waiting job of an array, or nothing for other jobs.
func AppendLot(b []byte, j *Job, payload []byte) []byte {
	if j.Array == 0 || !j.Waits(j.State) {
		return b
	}
	b = append64(append(b, WaitingKey(j)[:8]...), j.Array)
	if j.HasSiblings() {
		if s, ok := SiblingsOf(payload, j); ok {
			return append(b, s.hash()...)
		}
	}
	return append64(b, 0)
}

// HasSiblings reports whether other jobs may wait for the same as a waiting job, and for
// nothing else.
func (j *Job) HasSiblings() bool {
	return j.Array != 0 && j.State == JobQueued && len(j.After) == 0 && j.Attendant == nil && !j.Never
}

// hash returns a hash of what siblings share. On disk; must not change.
func (s *Siblings) hash() []byte {
	sum := sha256.New()
	kind := byte(0)
	for i, is := range []bool{s.execute, s.lined, s.signed} {
		if is {
			kind |= 1 << i
		}
	}
	for _, part := range [][]byte{{kind}, s.before, s.middle, s.after} {
		sum.Write(append64(nil, uint64(len(part)))) //nolint:errcheck // it never fails
		sum.Write(part)                             //nolint:errcheck // it never fails
	}
	return sum.Sum(nil)[:8]
}

// skipTexts skips a list of texts, and reports whether there are any.
func skipTexts(b []byte) (some bool, rest []byte, ok bool) {
	count, n := binary.Uvarint(b)
	if n <= 0 {
		return false, nil, false
	}
	rest = b[n:]
	for range count {
		if rest, ok = skipBytes(rest); !ok {
			return false, nil, false
		}
	}
	return count > 0, rest, true
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
