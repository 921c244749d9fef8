// Package spool holds an answer back: in memory at first, and what is more than that in a
// file without a name, so that an answer of any size takes little memory.
package spool

import (
	"fmt"
	"io"
	"os"
)

// Held is how many bytes a spool has in memory, at most, if there is room for a file.
const Held = 1 << 20

// Spool holds bytes back, in the order in which they were written. The zero value is
// empty. Its file goes with the process, or with Reset.
//
// Where no file can be made, or it is full, what follows stays in memory: an answer is
// not lost because there is no room beside it.
type Spool struct {
	held []byte   // the last piece written
	file *os.File // earlier pieces, nil for none
	ends []int64  // of each piece in the file
	full bool     // nothing more goes into the file
}

// Write adds bytes; those of one call come back in one piece. It never fails.
func (s *Spool) Write(b []byte) (int, error) {
	if n := len(s.held) + len(b); n > cap(s.held) && n > Held/8 {
		s.held = append(make([]byte, 0, max(n, Held+Held/8)), s.held...)
	}
	s.held = append(s.held, b...)
	if len(s.held) >= Held && !s.full {
		s.spill()
	}
	return len(b), nil
}

// spill moves what is in memory into the file.
func (s *Spool) spill() {
	if s.file == nil {
		s.file = nameless()
	}
	if s.file == nil {
		s.full = true
		return
	}
	if _, err := s.file.WriteAt(s.held, s.filed()); err != nil {
		s.full = true // a piece that was written in part does not count
		return
	}
	s.ends = append(s.ends, s.filed()+int64(len(s.held)))
	s.held = s.held[:0]
}

// nameless makes a file without a name, or returns nil if that is impossible.
func nameless() *os.File {
	f, err := os.CreateTemp("", ".placectl-*")
	if err != nil {
		return nil
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil
	}
	return f
}

// filed is how many bytes are in the file.
func (s *Spool) filed() int64 {
	if len(s.ends) == 0 {
		return 0
	}
	return s.ends[len(s.ends)-1]
}

// Each hands out all that is held back, piece after piece, until fn fails. A piece is good
// until fn returns. The spool keeps what it has.
func (s *Spool) Each(fn func(piece []byte) error) error {
	var piece []byte
	at := int64(0)
	for _, end := range s.ends {
		if n := int(end - at); cap(piece) < n {
			piece = make([]byte, n)
		}
		piece = piece[:end-at]
		if _, err := s.file.ReadAt(piece, at); err != nil {
			return fmt.Errorf("the rest of the answer cannot be read: %w", err)
		}
		if err := fn(piece); err != nil {
			return err
		}
		at = end
	}
	return fn(s.held)
}

// WriteTo writes all that is held back.
func (s *Spool) WriteTo(w io.Writer) (n int64, err error) {
	err = s.Each(func(piece []byte) error {
		m, err := w.Write(piece)
		n += int64(m)
		return err
	})
	return n, err
}

// Reset empties the spool and gives its file up.
func (s *Spool) Reset() {
	if s.file != nil {
		s.file.Close() //nolint:errcheck // it is not needed any more
	}
	*s = Spool{held: s.held[:0]}
}
