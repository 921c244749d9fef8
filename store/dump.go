package store

import (
	"fmt"
	"io"

	"github.com/placectl/placectl/store/internal/check"
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/recovery"
)

// Dump writes every row that is not derived as a line of JSON, of one instant, for Load
// of this version and any later one. A database of an older format is dumped as what
// its migration makes of it, and stays as it is.
func (db *DB) Dump(w io.Writer, watch Watch) (Content, error) {
	content, err := recovery.Dump(db.file, scratchOf(db.opt), w, watch)
	return newContent(content), err
}

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

// Load makes a database of a dump, which may be compressed by gzip: as a whole, or not at
// all. It fails with a LineError where the dump is not what it should be, ErrDamaged when
// its rows contradict each other, ErrNewer when a newer version wrote it, and ErrExists
// when there is a file of that name.
func Load(path string, dump io.Reader, opt *LoadOptions) (Content, error) {
	if opt == nil {
		opt = new(LoadOptions)
	}
	content, err := recovery.Load(path, dump, recovery.LoadOptions{Open: scratchOf(opt.Options), DryRun: opt.DryRun, Watch: opt.Watch,
		Wrong: func(line int, why error) error { return &LineError{line, why} }})
	return newContent(content), err
}

// scratch is a database that recovery makes.
type scratch struct{ *DB }

// scratchOf opens scratch files.
func scratchOf(opt Options) recovery.Open {
	return func(path string) (recovery.Scratch, error) {
		db, err := openScratch(path, opt)
		return scratch{db}, err
	}
}

func (s scratch) File() *file.File { return s.file }

func (s scratch) AsOf(r *file.Recorder) (*check.Store, error) {
	tx, err := s.beginAsOf(r)
	if err != nil {
		return nil, err
	}
	return tx.checked(), nil
}
