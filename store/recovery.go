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

// Salvaged is what Salvage got out of a damaged database.
type Salvaged struct {
	Content                 // of the new one
	Tables  []SalvagedTable // those of which rows are missing, or were changed
	Missing int64           // rows that are known to be missing
	Notes   []string        // what was found out of the file as a whole
}

// SalvagedTable is what became of a table.
type SalvagedTable struct {
	Name    string
	Rows    int64    // that are in the new database
	Missing int64    // that should be there, too; -1 where nobody knows
	Notes   []string // what could not be read, and what was left out or changed because of it
}

// SalvageOptions are how a database is salvaged. The zero value works.
type SalvageOptions struct {
	Options      // how the new database is opened
	DryRun  bool // everything is done but for the last step
	Watch   Watch
}

// Salvage makes a new database of all rows of a damaged one that can be read and
// verified. What is derived is made anew. Rows that contradict the others now that some
// are missing are left out, or changed so that nothing runs that may not: a job that was
// on a node which is lost is held, for example. All of that is said. It fails with
// ErrNotOurs where nothing in the file leads to its rows, and ErrExists when there is a
// file of the new name.
func Salvage(damaged, to string, opt *SalvageOptions) (*Salvaged, error) {
	if opt == nil {
		opt = new(SalvageOptions)
	}
	got, err := recovery.Salvage(damaged, to, recovery.SalvageOptions{Open: scratchOf(opt.Options), LockTimeout: opt.lockTimeout(), DryRun: opt.DryRun, Watch: opt.Watch})
	if err != nil {
		return nil, err
	}
	return &Salvaged{newContent(got.Content), converted(got.Tables, func(t recovery.SalvagedTable) SalvagedTable { return SalvagedTable(t) }), got.Missing, got.Notes}, nil
}
