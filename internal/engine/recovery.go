package engine

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/placectl/placectl/internal/check"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/queue"
	"github.com/placectl/placectl/internal/recovery"
	"github.com/placectl/placectl/internal/row"
)

// Content is the size of a file and the number of rows of each table.
type Content struct {
	Bytes  int64
	Nodes  int64
	Jobs   int64
	Events int64
	Rows   int64 // in all tables
}

func newContent(c file.Content) Content {
	out := Content{Bytes: c.Bytes, Nodes: c.Rows[row.Nodes], Jobs: c.Rows[row.Jobs], Events: c.Rows[row.Events]}
	for _, n := range c.Rows {
		out.Rows += n
	}
	return out
}

// Watch is called with the progress of a long operation: n more bytes or rows, which may be 0. If
// it returns an error, the operation stops and changes nothing. It may be nil.
type Watch = file.Watch

// Backup makes a file with everything in the database at one instant, while others use it. The
// copy is verified and synced before it gets its name. It fails with ErrExists if there is a
// file of that name, and ErrDamaged if the database is damaged. For actors other than the
// owner it leaves out the scripts, environments and signatures of others' jobs, as a dump
// does.
func (db *DB) Backup(path string, watch Watch) (Content, error) {
	now, done, err := db.seen()
	defer done()
	if err != nil {
		return Content{}, err
	}
	content, err := now.Backup(path, watch)
	return newContent(content), err
}

// BackupTo writes such a copy to w. It first makes the copy in a folder for temporary files and
// verifies it. A slow w blocks no other process.
func (db *DB) BackupTo(w io.Writer, watch Watch) (Content, error) {
	now, done, err := db.seen()
	defer done()
	if err != nil {
		return Content{}, err
	}
	content, err := now.BackupTo(w, os.TempDir(), watch)
	return newContent(content), err
}

// Compacted is the size of a file before Compact and afterwards, in bytes.
type Compacted = file.Compacted

// Compact rewrites the database without its free pages, and verifies the result. It replaces
// the file in one step: if killed, it leaves the old file or the new one. Other processes wait
// meanwhile. It fails with ErrDamaged, and changes nothing, if the file is damaged.
func (db *DB) Compact(watch Watch) (Compacted, error) { return db.compact(false, watch) }

// CompactTrial does what Compact does, and changes nothing.
func (db *DB) CompactTrial(watch Watch) (Compacted, error) { return db.compact(true, watch) }

func (db *DB) compact(dryRun bool, watch Watch) (Compacted, error) {
	if err := db.permit(Owners, "compact"); err != nil {
		return Compacted{}, err
	}
	if db.log != nil {
		return Compacted{},
			fmt.Errorf("%w: a database in a log has no file to compact; placectl log trim shortens the log", ErrInvalid)
	}
	copied := ""
	err := db.View(func(tx *Tx) (err error) {
		copied, err = tx.Copy()
		return err
	})
	if err != nil {
		return Compacted{}, err
	}
	return db.file.Compact(dryRun, copied == "", watch)
}

// Dump writes every row that is not derived as a line of JSON, at one instant, for Load of this
// version and any later one.
func (db *DB) Dump(w io.Writer, watch Watch) (Content, error) {
	now, done, err := db.seen()
	defer done()
	if err != nil {
		return Content{}, err
	}
	content, err := recovery.Dump(now, w, watch)
	return newContent(content), err
}

// LineError is an ErrInvalid in a line of input.
type LineError struct {
	Line int // counted from 1
	Why  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Why) }

// Unwrap makes errors.Is match ErrInvalid and the cause.
func (e *LineError) Unwrap() []error { return []error{ErrInvalid, e.Why} }

// As finds the type of package store.
func (e *LineError) As(target any) bool { return row.As(e, target) }

// LoadOptions configure Load. The zero value works.
type LoadOptions struct {
	Options      // how the new database is opened
	DryRun  bool // do everything but the last step
	Watch   Watch
	Moved   time.Duration // added to all instants of the dump, in whole seconds
	// Last, if not nil, is called in the new database before it takes its place, for example
	// to store something in it. It may be called again. If it fails, nothing changes.
	Last func(*Tx, Content) error
}

// Load makes a database from a dump, which may be compressed by gzip. It loads all of it or
// nothing. It fails with a LineError if the dump is malformed, ErrDamaged if its rows
// contradict each other, ErrNewer if a newer version wrote it, ErrNotOurs if its
// format is from before the first release, and ErrExists if there is a file of that name.
func Load(path string, dump io.Reader, opt *LoadOptions) (Content, error) {
	if opt == nil {
		opt = new(LoadOptions)
	}
	if IsLog(path) && !opt.DryRun {
		var content Content
		return content, createLog(path, &opt.Options, func(path string, _ *Options) (err error) {
			content, err = Load(path, dump, opt)
			return err
		})
	}
	if IsLog(path) {
		dir, err := os.MkdirTemp("", "placectl-*")
		if err != nil {
			return Content{}, err
		}
		defer os.RemoveAll(dir)
		path = filepath.Join(dir, "dry-run.db")
	}
	content, err := recovery.Load(path, dump, recovery.LoadOptions{Open: scratchOf(opt.Options), DryRun: opt.DryRun,
		Watch: opt.Watch, Moved: int64(opt.Moved / time.Second),
		Wrong: func(line int, why error) error { return &LineError{line, why} },
		Last: func(tmp string, content file.Content) error {
			if opt.Last == nil {
				return nil
			}
			return last(tmp, opt.Options, func(tx *Tx) error { return opt.Last(tx, newContent(content)) })
		}})
	return newContent(content), err
}

// last runs a transaction in a file that is about to take its place.
func last(tmp string, opt Options, fn func(*Tx) error) error {
	db, err := openScratch(tmp, opt)
	if err != nil {
		return err
	}
	return errors.Join(db.Update(fn), db.Close())
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
	return check.Of(tx.k), nil
}

// Salvaged reports what Salvage recovered from a damaged database.
type Salvaged struct {
	Content                 // of the new database
	Tables  []SalvagedTable // tables with rows missing or changed
	Missing int64           // rows that are known to be missing
	Notes   []string        // findings about the file as a whole
}

// SalvagedTable reports what Salvage recovered of a table.
type SalvagedTable = recovery.SalvagedTable

// SalvageOptions configure Salvage. The zero value works.
type SalvageOptions struct {
	Options      // how the new database is opened
	DryRun  bool // do everything but the last step
	Watch   Watch
	// Last, if not nil, is called in the new database before it takes its place, for example
	// to store something in it. It may be called again. If it fails, nothing changes.
	Last func(*Tx, *Salvaged) error
}

// Salvage makes a new database from all rows of a damaged one that can be read and verified.
// It recomputes derived rows. If rows contradict each other because some are missing, it
// leaves them out, or changes them so that nothing runs that must not. For example, it holds a
// job whose node is lost. It reports all of that. It fails with ErrNotOurs if nothing in the
// file leads to its rows, and ErrExists if there is a file of the new name.
func Salvage(damaged, to string, opt *SalvageOptions) (*Salvaged, error) {
	if opt == nil {
		opt = new(SalvageOptions)
	}
	if err := Permit(damaged, &opt.Options, Owners, "salvage"); err != nil {
		return nil, err
	}
	got, err := recovery.Salvage(damaged, to, recovery.SalvageOptions{Open: scratchOf(opt.Options),
		LockTimeout: opt.LockWait(), DryRun: opt.DryRun, Watch: opt.Watch,
		Last: func(tmp string, got *recovery.Salvaged) error {
			if opt.Last == nil {
				return nil
			}
			return last(tmp, opt.Options, func(tx *Tx) error { return opt.Last(tx, newSalvaged(got)) })
		}})
	if err != nil {
		return nil, err
	}
	return newSalvaged(got), nil
}

func newSalvaged(got *recovery.Salvaged) *Salvaged {
	return &Salvaged{newContent(got.Content), got.Tables, got.Missing, got.Notes}
}

// Archived reports what Archive moved out of a database.
type Archived struct {
	Jobs    int64
	Events  int64
	Batches int64
	Stay    int64 // ended jobs that are old enough but stay: others depend on them, or on one of their array
}

// ArchiveOptions configure Archive. The zero value works.
type ArchiveOptions struct {
	DryRun bool // write nothing and delete nothing
	Watch  Watch

	rows int // rows per commit; 0 is archiveRows
}

// Archive moves into a file the jobs and batches that ended before an instant, with the events
// of jobs, nodes and reservations. The file, named *.jsonl or *.jsonl.gz, has lines as Dump
// writes them. An existing file must be an archive of this database, and is extended.
//
// Jobs stay if others that have not ended depend on them. An array stays while one of its jobs
// does. Archive syncs the file before it deletes the first row, and deletes ten thousand rows
// a commit. If the process is killed, each job is in one of the two, or in both, and the same
// call continues. The past of nodes and sums of usage stay in the database and are not in the
// file.
func (db *DB) Archive(to string, before time.Time, opt *ArchiveOptions) (*Archived, error) {
	if opt == nil {
		opt = new(ArchiveOptions)
	}
	if err := db.permit(Owners, "archive"); err != nil {
		return nil, err
	}
	if err := recovery.ArchiveNamed(to); err != nil {
		return nil, err
	}
	if !opt.DryRun && !IsLog(db.Path()) { // two at once would write the same jobs into both their files
		release, err := file.Archiving(db.Path(), db.opt.LockTimeout)
		if err != nil {
			return nil, err
		}
		defer release()
	}
	from, err := db.Copy()
	if err != nil {
		from = db // no room for a copy: read the database itself, so writers wait
	} else {
		defer from.Close()
	}
	var old *recovery.Expired
	err = from.view(func(tx *Tx) (err error) {
		if old, err = recovery.Expire(tx.k.File, before.Unix()); err != nil || opt.DryRun || old.Empty() {
			return err
		}
		return recovery.WriteArchive(check.Of(tx.k), to, old, opt.Watch)
	})
	if err != nil {
		return nil, err
	}
	out := &Archived{Jobs: int64(old.Jobs.GetCardinality()), Events: int64(old.Events.GetCardinality()),
		Batches: int64(len(old.Batches)), Stay: old.Stay}
	if opt.DryRun {
		return out, nil
	}
	if err := db.removeExpired(old, cmp.Or(opt.rows, archiveRows), opt.Watch); err != nil {
		return nil, err
	}
	return out, nil
}

// view is View at the file's own current time.
func (db *DB) view(fn func(*Tx) error) error {
	now, err := db.current()
	if err != nil {
		return err
	}
	return now.View(func(r *file.Recorder) error {
		tx, err := db.beginAsOf(r)
		if err != nil {
			return err
		}
		return tx.k.Ended(fn(tx))
	})
}

// archiveRows is the number of rows deleted in a commit.
const archiveRows = 10_000

// removeExpired deletes archived rows from the database.
func (db *DB) removeExpired(old *recovery.Expired, rows int, watch Watch) error {
	for _, name := range old.Batches {
		err := db.Update(func(tx *Tx) error {
			b, err := tx.Batches().Get(name)
			if errors.Is(err, ErrNotFound) || err == nil && b.Ended == 0 {
				return nil // the row was deleted meanwhile, or the job runs again
			}
			if err != nil {
				return err
			}
			_, err = tx.Batches().Remove(name)
			return err
		})
		if err != nil {
			return err
		}
	}
	remove := func(ids *roaring64.Bitmap, fn func(tx *Tx, ids []uint64) error) error {
		some := make([]uint64, rows)
		for it := ids.ManyIterator(); ; {
			n := it.NextMany(some)
			if n == 0 {
				return nil
			}
			if err := db.Update(func(tx *Tx) error { return fn(tx, some[:n]) }); err != nil {
				return err
			}
			if watch != nil {
				if err := watch(int64(n)); err != nil {
					return err
				}
			}
		}
	}
	ended := func(tx *Tx, ids []uint64) error { return queue.RemoveEnded(tx.k, ids) }
	events := func(tx *Tx, ids []uint64) error { return queue.RemoveEvents(tx.k, ids) }
	if err := remove(old.Jobs, ended); err != nil {
		return err
	}
	return remove(old.Events, events)
}
