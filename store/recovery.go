package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/placectl/placectl/store/internal/access"
	"github.com/placectl/placectl/store/internal/check"
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/jobs"
	"github.com/placectl/placectl/store/internal/kernel"
	"github.com/placectl/placectl/store/internal/recovery"
	"github.com/placectl/placectl/store/internal/row"
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

// Restored reports what Restore did.
type Restored struct {
	Content
	Held []uint64 // the jobs that Restore held
	Kept string   // the new path of the replaced database; "" if there was none
	// Running are the jobs of the replaced database that run and are not in the backup. Their keepers or launchers
	// go on with them, and their ends are not recorded.
	Running []uint64

	was replaced
}

// ReasonRestored is the reason of jobs that Restore holds.
const ReasonRestored = "restored"

// RestoreOptions configure Restore. The zero value works.
type RestoreOptions struct {
	Options      // how the restored database is opened
	NoHold  bool // do not hold jobs that may have run since the backup
	Force   bool // restore even if jobs run that are not in the backup
	DryRun  bool // do everything but the last step
	Watch   Watch
	// Last, if not nil, is called in the restored database before it takes its place, for
	// example to store something in it. It may be called again. If it fails, nothing changes.
	Last func(*Tx, *Restored) error
}

// Restore replaces a database with a backup, in one step. Jobs that waited when the backup was
// made, or whose start was not announced, may have run since. Restore holds them with
// ReasonRestored unless the options say otherwise. The file gets a new epoch. Restore keeps the old
// database under another name, even if it is damaged. If the database is kept in a log, the backup
// becomes one entry of it, and nothing is kept.
//
// It fails with ErrDamaged if the backup is damaged, ErrNotOurs if either file is not a database,
// and ErrConflict if they are the same file. Then it changes nothing.
func Restore(path, backup string, opt *RestoreOptions) (*Restored, error) {
	if opt == nil {
		opt = new(RestoreOptions)
	}
	if IsLog(path) {
		return restoreLog(path, backup, opt)
	}
	out := new(Restored)
	err := Permit(path, &opt.Options, Owners, "restore")
	if err != nil {
		return nil, err
	}
	out.was = wasAt(path, opt.Options)
	out.Kept, err = file.Supplant(path, backup, file.SupplantOptions{LockTimeout: opt.LockWait(), DryRun: opt.DryRun, Watch: opt.Watch}, func(tmp string, c file.Content, kept string) error {
		out.Content, out.Kept = newContent(c), kept
		return out.revive(tmp, path, opt)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// revive turns a copy of a backup into the new database, which is about to get a name.
func (out *Restored) revive(tmp, name string, opt *RestoreOptions) error {
	return last(tmp, opt.Options, func(tx *Tx) error {
		out.Held = nil
		if err := errors.Join(tx.k.File.DrawEpoch(), tx.k.File.PutOwner(&out.was.owner), tx.k.File.Settle(name), out.goOn(tx, opt.Force)); err != nil {
			return err
		}
		if !opt.NoHold {
			var err error
			if out.Held, err = holdUncertain(tx); err != nil {
				return err
			}
		}
		if opt.Last == nil {
			return nil
		}
		return opt.Last(tx, out)
	})
}

// Adopt makes the file of the database the database itself, as Restore makes a backup one, in
// place: it gets a new epoch, and jobs that may have run elsewhere are held unless noHold is set.
// It returns them. Adopt fails with ErrInvalid for a database in a log.
func (tx *Tx) Adopt(noHold bool) (held []uint64, err error) {
	switch {
	case tx.k.Logged:
		return nil, fmt.Errorf("%w: a database in a log has no file to adopt: the log says which database it is", ErrInvalid)
	case !tx.Writable():
		return nil, file.ErrReadOnly
	}
	if err := access.RolesOf(tx.k).Permit(Owners, "adopt"); err != nil {
		return nil, err
	}
	if err := tx.k.Adopt(); err != nil || noHold {
		return nil, tx.k.Spoil(err)
	}
	held, err = holdUncertain(tx)
	return held, tx.k.Spoil(err)
}

// holdUncertain holds the jobs that may have run without the database knowing.
func holdUncertain(tx *Tx) (held []uint64, err error) {
	err = tx.k.EachJob(func(j *row.Job) error {
		if !j.Queued || j.State == JobRunning && !j.ToLaunch() {
			return nil
		}
		held = append(held, j.ID)
		return jobs.MachineOf(tx.k).Do(j, jobs.Step{To: JobHeld, Reason: row.Because(row.CauseRestored, ReasonRestored), Leaving: jobs.NeverTold})
	}, JobQueued, JobReserved, JobRunning)
	if err != nil {
		return nil, fmt.Errorf("holding what may have run since: %w", err)
	}
	return held, nil
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
		return Compacted{}, fmt.Errorf("%w: a database in a log has no file to compact; placectl log trim shortens the log", ErrInvalid)
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
// version and any later one. A database of an older format is dumped as its migration would make
// it, and does not change.
func (db *DB) Dump(w io.Writer, watch Watch) (Content, error) {
	now, done, err := db.seen()
	defer done()
	if err != nil {
		return Content{}, err
	}
	content, err := recovery.Dump(now, scratchOf(db.opt), w, watch)
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
// contradict each other, ErrNewer if a newer version wrote it, and ErrExists if there is a
// file of that name.
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
	content, err := recovery.Load(path, dump, recovery.LoadOptions{Open: scratchOf(opt.Options), DryRun: opt.DryRun, Watch: opt.Watch, Moved: int64(opt.Moved / time.Second),
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
type SalvagedTable struct {
	Name    string
	Rows    int64    // rows in the new database
	Missing int64    // rows that should be there, too; -1 if unknown
	Notes   []string // unreadable rows, and what was left out or changed because of them
}

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
	got, err := recovery.Salvage(damaged, to, recovery.SalvageOptions{Open: scratchOf(opt.Options), LockTimeout: opt.LockWait(), DryRun: opt.DryRun, Watch: opt.Watch,
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
	return &Salvaged{newContent(got.Content), kernel.Converted(got.Tables, func(t recovery.SalvagedTable) SalvagedTable { return SalvagedTable(t) }), got.Missing, got.Notes}
}
