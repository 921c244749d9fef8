// Package spool holds an answer back, first in memory and then in a nameless file, so that an answer of
// any size needs little memory.
package spool

import (
	"fmt"
	"io"
	"os"
)

// Held is the greatest number of bytes that a spool holds in memory if there is room for a file.
const Held = 1 << 20

// Spool holds bytes back in the order in which they were written. The zero value is empty. Its file goes
// with the process, or with Reset.
//
// If no file can be made, or it is full, the rest stays in memory: an answer must not be lost for lack of
// disk space.
type Spool struct {
	held []byte   // the last piece written
	file *os.File // earlier pieces, nil for none
	ends []int64  // of each piece in the file
	full bool     // no more goes into the file
}

// Write adds bytes. The bytes of one call stay together. It never fails.
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
		s.full = true // an incomplete piece in the file does not count
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

// filed returns the number of bytes in the file.
func (s *Spool) filed() int64 {
	if len(s.ends) == 0 {
		return 0
	}
	return s.ends[len(s.ends)-1]
}

// Each calls fn for each piece held until fn fails. A piece is valid until fn returns. The spool keeps
// its content.
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

// WriteTo writes everything held.
func (s *Spool) WriteTo(w io.Writer) (n int64, err error) {
	err = s.Each(func(piece []byte) error {
		m, err := w.Write(piece)
		n += int64(m)
		return err
	})
	return n, err
}

// Reset empties the spool and closes its file.
func (s *Spool) Reset() {
	if s.file != nil {
		s.file.Close() //nolint:errcheck // it is no longer needed
	}
	*s = Spool{held: s.held[:0]}
}
