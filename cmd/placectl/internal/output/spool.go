package output

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// Spool holds back what is not to be written yet: up to a mebibyte in memory, beyond
// that in a temporary file that has no name, so that nothing of it stays behind. The
// zero value is empty and ready. Whoever has used one closes it.
type Spool struct {
	tail []byte   // what comes behind that in the file
	file *os.File // nil as long as all is in memory
	size int64    // of what is in the file
}

// spoolAt is how much of a spool is held in memory.
const spoolAt = 1 << 20

// Write adds to the spool.
func (s *Spool) Write(b []byte) (int, error) {
	s.tail = append(s.tail, b...)
	if len(s.tail) < spoolAt {
		return len(b), nil
	}
	if err := s.spill(); err != nil {
		return 0, fmt.Errorf("the answer could not be held back in %s: %w", os.TempDir(), err)
	}
	return len(b), nil
}

// spill moves what is in memory to the file.
func (s *Spool) spill() error {
	if s.file == nil {
		f, err := os.CreateTemp("", "placectl-answer-*")
		if err != nil {
			return err
		}
		s.file = f
		if err := os.Remove(f.Name()); err != nil {
			return err
		}
	}
	n, err := s.file.WriteAt(s.tail, s.size)
	s.size += int64(n)
	s.tail = s.tail[:copy(s.tail, s.tail[n:])]
	return err
}

// Len is how many bytes the spool holds.
func (s *Spool) Len() int64 { return s.size + int64(len(s.tail)) }

// Reader reads what the spool holds, from its beginning. Nothing is added meanwhile.
func (s *Spool) Reader() io.Reader {
	if s.file == nil {
		return bytes.NewReader(s.tail)
	}
	return io.MultiReader(io.NewSectionReader(s.file, 0, s.size), bytes.NewReader(s.tail))
}

// WriteTo writes what the spool holds.
func (s *Spool) WriteTo(w io.Writer) (int64, error) { return io.Copy(w, s.Reader()) }

// Reset forgets what the spool holds.
func (s *Spool) Reset() { s.tail, s.size = s.tail[:0], 0 }

// Close forgets what the spool holds and gives the file back.
func (s *Spool) Close() error {
	s.Reset()
	if s.file == nil {
		return nil
	}
	f := s.file
	s.file = nil
	return f.Close()
}
