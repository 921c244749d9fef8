package replica

import (
	"bufio"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
)

// A snapshot has every row of every table, except rows that belong to one file only. For each
// table it has the name and the number of rows, then keys and rows as stored. All of it is
// deflated. On disk; must not change.
const snapshotVersion = 1

// TakeSnapshot makes a snapshot of what a transaction sees. It fails if a row is damaged or
// missing, because others make their replicas from it.
func TakeSnapshot(r *file.Recorder, at Position) (*Snapshot, error) {
	return takeSnapshot(r, at, r.EachStored)
}

func takeSnapshot(r *file.Recorder, at Position, each func(t row.Table, fn func(key, value []byte) error) error) (
	*Snapshot, error) {
	var body bytes.Buffer
	z, err := flate.NewWriter(&body, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	w := bufio.NewWriterSize(z, 64<<10) // its first error is kept for later
	w.WriteByte(snapshotVersion)
	var head []byte
	for t := range row.TableCount {
		if r.Lacks(t) { // versions that know only this format must be able to read it
			continue
		}
		rows := uint64(0)
		if err := each(t, func(_, _ []byte) error { rows++; return nil }); err != nil { // each verifies them, too
			return nil, err
		}
		head = binary.AppendUvarint(appendBytes(head[:0], []byte(t.String())), rows)
		w.Write(head)
		err := each(t, func(key, value []byte) error {
			head = binary.AppendUvarint(appendBytes(head[:0], key), uint64(len(value)))
			w.Write(head)
			_, err := w.Write(value)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if err := errors.Join(w.Flush(), z.Close()); err != nil {
		return nil, err
	}
	return &Snapshot{At: at, Format: r.Format(), Body: body.Bytes()}, nil
}

// ErrSnapshot means that a snapshot is damaged.
var ErrSnapshot = fmt.Errorf("%w: the snapshot in the log is not what was written", row.ErrDamaged)

// verify refuses a snapshot that this version cannot read.
func (s *Snapshot) verify() error {
	if s.Format > row.Format {
		return fmt.Errorf("%w: the snapshot in the log has format %d; this one knows up to %d", file.ErrNewer, s.Format,
			row.Format)
	}
	return nil
}

// rows calls fn for the rows of a snapshot, table by table, in the order of their keys. A row
// is valid until the next one.
func (s *Snapshot) rows(fn func(t row.Table, key, value []byte) error) error {
	in := &stream{r: bufio.NewReaderSize(flate.NewReader(bytes.NewReader(s.Body)), 64<<10)}
	if v := in.byte(); v != snapshotVersion && in.err == nil {
		return fmt.Errorf("%w: the snapshot in the log has version %d", file.ErrNewer, v)
	}
	for !in.end() {
		name := string(in.bytes(&in.key))
		t, known := row.TableNamed(name)
		rows := in.uint()
		if in.err == nil && !known {
			return fmt.Errorf("%w: the snapshot in the log has a table %q", file.ErrNewer, name)
		}
		for ; rows > 0 && in.err == nil; rows-- {
			key := in.bytes(&in.key)
			value := in.bytes(&in.value)
			if in.err != nil {
				break
			}
			if row.Local(t, key) {
				return ErrSnapshot
			}
			if err := fn(t, key, value); err != nil {
				return err
			}
		}
	}
	if in.err != nil {
		return fmt.Errorf("%w: %w", ErrSnapshot, in.err)
	}
	return nil
}

// stream reads fields from a reader, and keeps the first error.
type stream struct {
	r          *bufio.Reader
	err        error
	key, value []byte
}

// end reports whether everything was read.
func (s *stream) end() bool {
	if s.err == nil {
		if _, err := s.r.Peek(1); err == nil {
			return false
		} else if err != io.EOF {
			s.err = err
		}
	}
	return true
}

func (s *stream) byte() byte {
	if s.err != nil {
		return 0
	}
	b, err := s.r.ReadByte()
	s.err = err
	return b
}

func (s *stream) uint() uint64 {
	if s.err != nil {
		return 0
	}
	n, err := binary.ReadUvarint(s.r)
	s.err = err
	return n
}

// bytes reads bytes into a buffer, as many as there are.
func (s *stream) bytes(into *[]byte) []byte {
	n := s.uint()
	if n > rowMost {
		s.err = ErrSnapshot
	}
	if s.err != nil {
		return nil
	}
	b := (*into)[:0]
	for len(b) < int(n) { // a wrong length costs no more memory than the bytes that exist
		from, more := len(b), min(int(n)-len(b), 1<<20)
		b = append(b, make([]byte, more)...)
		if _, s.err = io.ReadFull(s.r, b[from:]); s.err != nil {
			return nil
		}
	}
	*into = b
	return b
}
