package recovery

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
)

// LoadOptions configure the loading of a dump.
type LoadOptions struct {
	Open   Open
	Wrong  func(line int, why error) error              // makes an error about a line, counted from 1
	Moved  int64                                        // added to the instants of the dump, in seconds
	DryRun bool                                         // do everything but the last step
	Watch  file.Watch                                   // called for bytes of the dump
	Last   func(tmp string, content file.Content) error // called with the verified file before it takes its place
}

// maxLine is the longest accepted line of a dump, in bytes. Rows of batches have some hundred
// thousand.
const maxLine = 64 << 20

// Load makes a database from a dump, which may be compressed by gzip. It loads all of it or
// nothing. It fails with the error of Wrong if the dump is malformed, ErrDamaged if its rows
// contradict each other, ErrNewer if a newer version wrote it, and ErrExists if there is a
// file of that name.
func Load(path string, dump io.Reader, opt LoadOptions) (content file.Content, err error) {
	text, err := plain(dump)
	if err != nil {
		return content, err
	}
	create := file.Create
	if opt.DryRun {
		create = file.CreateTrial
	}
	err = create(path, func(tmp string) error {
		db, err := opt.Open(tmp)
		if err != nil {
			return err
		}
		l := &loader{LoadOptions: opt, lines: bufio.NewReaderSize(text, 1<<16), meta: make(map[string]bool)}
		if err := errors.Join(l.load(db), db.Close()); err != nil {
			return err
		}
		if content, err = file.Verify(tmp, opt.Watch); err != nil {
			return err
		}
		return opt.Last(tmp, content)
	})
	return content, err
}

// plain returns a reader of the plain text of a dump that may be compressed.
func plain(r io.Reader) (io.Reader, error) {
	b := bufio.NewReader(r)
	if head, err := b.Peek(2); err != nil || !bytes.Equal(head, []byte{0x1f, 0x8b}) {
		return b, nil
	}
	return gzip.NewReader(b)
}

// loader reads a dump.
type loader struct {
	LoadOptions
	lines *bufio.Reader
	line  int
	rows  int64
	long  []byte
	meta  map[string]bool // the Meta keys that the dump has had so far: an empty file already has some of them
}

func (l *loader) load(db Scratch) error {
	if err := db.File().Bulk(l.all); err != nil {
		return err
	}
	return complete(db, "the dump")
}

// all reads the dump from its head to its end.
func (l *loader) all(b *file.Bulk) error {
	if err := l.head(b); err != nil {
		return err
	}
	for {
		line, err := l.next()
		if errors.Is(err, io.EOF) {
			return l.wrong(fmt.Errorf("the dump is cut off: the last line would be {\"rows\":%d}", l.rows))
		}
		if err != nil {
			return err
		}
		if bytes.HasPrefix(line, []byte(`{"rows":`)) {
			return l.end(line)
		}
		if err := l.put(b, line); err != nil {
			return err
		}
		if l.Watch != nil {
			if err := l.Watch(int64(len(line)) + 1); err != nil {
				return err
			}
		}
	}
}

// next reads a line.
func (l *loader) next() ([]byte, error) {
	l.line++
	line, err := l.lines.ReadSlice('\n')
	for l.long = l.long[:0]; errors.Is(err, bufio.ErrBufferFull); line, err = l.lines.ReadSlice('\n') {
		if l.long = append(l.long, line...); len(l.long) > maxLine {
			return nil, l.wrong(fmt.Errorf("it has more than %d bytes", maxLine))
		}
	}
	if len(l.long) > 0 {
		l.long = append(l.long, line...)
		line = l.long
	}
	switch {
	case err == nil:
		return line[:len(line)-1], nil
	case errors.Is(err, io.EOF) && len(line) > 0:
		return nil, l.wrong(errors.New("the dump is cut off in this line"))
	}
	return nil, err
}

// wrong returns an error about the current line.
func (l *loader) wrong(why error) error { return l.Wrong(l.line, why) }

// head reads the first line, with the kind of the file and the format of the rows.
func (l *loader) head(b *file.Bulk) error {
	line, err := l.next()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	var head dumpHead
	if json.Unmarshal(line, &head) != nil || head.Placectl != dumpKind || head.Format == 0 {
		return l.wrong(errors.New("this is not a dump: placectl dump writes one"))
	}
	return b.SetFormat(head.Format)
}

// put stores a row.
func (l *loader) put(b *file.Bulk, line []byte) error {
	t, key, payload, err := row.ReadDocument(line)
	if err == nil && l.Moved != 0 {
		key, payload, err = row.Move(t, key, payload, l.Moved)
	}
	if err != nil {
		return l.wrong(err)
	}
	if row.IsItself(t, key) {
		return l.wrong(fmt.Errorf("the row %q belongs to one file, and a dump has none", key))
	}
	there := l.meta[string(key)]
	if t == row.Meta {
		l.meta[string(key)] = true
	} else if there, err = b.Has(t, key); err != nil {
		return err
	}
	if there {
		return l.wrong(errors.New("a line before has the same table and key"))
	}
	l.rows++
	return b.Put(t, key, payload)
}

// end reads the last line.
func (l *loader) end(line []byte) error {
	var end dumpEnd
	switch err := json.Unmarshal(line, &end); {
	case err != nil || end.Rows == nil:
		return l.wrong(errors.New("the number of rows is missing"))
	case *end.Rows != l.rows:
		return l.wrong(fmt.Errorf("the dump should have %d rows, but has %d", *end.Rows, l.rows))
	}
	if _, err := l.next(); !errors.Is(err, io.EOF) {
		return l.wrong(errors.New("text follows the end of the dump"))
	}
	return nil
}
