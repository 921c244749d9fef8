package store

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/placectl/placectl/store/internal/check"
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
)

// LineError is an ErrInvalid in a line of what is read.
type LineError struct {
	Line int // from 1
	Why  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Why) }

// Unwrap makes errors.Is see ErrInvalid, and what is wrong.
func (e *LineError) Unwrap() []error { return []error{ErrInvalid, e.Why} }

// LoadOptions are how a dump is loaded. The zero value works.
type LoadOptions struct {
	Options      // how the new database is opened
	DryRun  bool // everything is done but for the last step
	Watch   Watch
}

// maxLine is the longest line of a dump that is read, in bytes: a batch has rows of some
// hundred thousand.
const maxLine = 64 << 20

// Load makes a database of a dump, which may be compressed by gzip: as a whole, or not at
// all. It fails with a LineError where the dump is not what it should be, ErrDamaged when
// its rows contradict each other, ErrNewer when a newer version wrote it, and ErrExists
// when there is a file of that name.
func Load(path string, dump io.Reader, opt *LoadOptions) (content Content, err error) {
	if opt == nil {
		opt = new(LoadOptions)
	}
	text, err := plain(dump)
	if err != nil {
		return content, err
	}
	create := file.Create
	if opt.DryRun {
		create = file.CreateTrial
	}
	err = create(path, func(tmp string) error {
		db, err := openScratch(tmp, opt.Options)
		if err != nil {
			return err
		}
		l := &loader{lines: bufio.NewReaderSize(text, 1<<16), watch: opt.Watch, meta: make(map[string]bool)}
		if err := errors.Join(l.load(db), db.Close()); err != nil {
			return err
		}
		c, err := file.Verify(tmp, opt.Watch)
		content = newContent(c)
		return err
	})
	return content, err
}

// plain reads what may be compressed.
func plain(r io.Reader) (io.Reader, error) {
	b := bufio.NewReader(r)
	if head, err := b.Peek(2); err != nil || !bytes.Equal(head, []byte{0x1f, 0x8b}) {
		return b, nil
	}
	return gzip.NewReader(b)
}

// loader reads a dump.
type loader struct {
	lines *bufio.Reader
	watch Watch
	line  int
	rows  int64
	long  []byte
	meta  map[string]bool // the keys of that table: an empty file has some
}

func (l *loader) load(db *DB) error {
	if err := db.file.Bulk(l.all); err != nil {
		return err
	}
	return db.complete("the dump")
}

// all reads the dump from its head to its end.
func (l *loader) all(b *file.Bulk) error {
	if err := l.head(b); err != nil {
		return err
	}
	for {
		line, err := l.next()
		if errors.Is(err, io.EOF) {
			return l.wrong(fmt.Errorf("the dump is cut off: a line {\"rows\":%d} would end it", l.rows))
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
		if l.watch != nil {
			if err := l.watch(int64(len(line)) + 1); err != nil {
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

// wrong is an error in the line at hand.
func (l *loader) wrong(why error) error { return &LineError{l.line, why} }

// head reads the first line: what this is, and the format of the rows.
func (l *loader) head(b *file.Bulk) error {
	line, err := l.next()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	var head dumpHead
	if json.Unmarshal(line, &head) != nil || head.Placectl != dumpKind || head.Format == 0 {
		return l.wrong(errors.New("this is no dump: placectl dump writes one"))
	}
	if head.Format > Format {
		return fmt.Errorf("%w: the dump has format %d, this one knows up to %d", ErrNewer, head.Format, Format)
	}
	return b.SetFormat(head.Format)
}

// put takes a row over.
func (l *loader) put(b *file.Bulk, line []byte) error {
	t, key, payload, err := row.ReadDocument(line)
	if err != nil {
		return l.wrong(err)
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
		return l.wrong(fmt.Errorf("the dump is to have %d rows, and has %d", *end.Rows, l.rows))
	}
	if _, err := l.next(); !errors.Is(err, io.EOF) {
		return l.wrong(errors.New("there is something behind the end of the dump"))
	}
	return nil
}

// complete makes a scratch file that has all rows which are not derived a database: it
// derives the others, draws an epoch, and verifies everything. from is where the rows come from.
func (db *DB) complete(from string) error {
	if err := db.derive(from); err != nil {
		return err
	}
	if err := db.file.Update(func(r *file.Recorder) (bool, error) { return true, r.DrawEpoch() }); err != nil {
		return err
	}
	list, more := []string(nil), 0
	err := db.Check(func(finding string) {
		if len(list) == maxReasons {
			more++
			return
		}
		list = append(list, finding)
	})
	if err != nil {
		return err
	}
	return contradicts(from, list, more)
}

// maxReasons is how many findings an error tells.
const maxReasons = 5

// contradicts is an error that says why rows make no database, nil for no reason.
func contradicts(from string, reasons []string, more int) error {
	if len(reasons) == 0 {
		return nil
	}
	if more > 0 {
		reasons = append(reasons, fmt.Sprintf("and %d more", more))
	}
	return fmt.Errorf("%w: the rows of %s contradict each other: %s", ErrDamaged, from, strings.Join(reasons, "; "))
}

// derive fills the derived tables of a scratch file, which are empty. A file of an older
// format is migrated, and they are filled by that.
func (db *DB) derive(from string) error {
	var made *check.Derived
	var state row.State
	err := db.file.Update(func(r *file.Recorder) (bool, error) {
		tx, err := db.beginAsOf(r)
		if err != nil || r.Migrated() {
			return true, err
		}
		var list []string
		made, err = check.Derive(tx.checked(), func(finding string) { list = append(list, finding) })
		state = tx.state
		if err == nil && len(made.Blamed) > 0 {
			err = contradicts(from, list[:min(len(list), maxReasons)], max(0, len(list)-maxReasons))
		}
		return false, err
	})
	if err != nil || made == nil {
		return err
	}
	return db.file.Bulk(func(b *file.Bulk) error {
		if err := made.Each(b.Put); err != nil {
			return err
		}
		state.NextBucket = max(state.NextBucket, made.Buckets())
		return b.Put(row.Meta, row.KeyState, state.Encode())
	})
}
