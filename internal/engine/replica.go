package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/replica"
	"github.com/placectl/placectl/internal/row"
)

// replicaOptions converts options to those of a log's replica.
func replicaOptions(opt *Options) replica.Options {
	return replica.Options{Folder: opt.Replica.Folder, LockTimeout: opt.LockWait(), Stale: opt.Replica.Stale,
		Version: opt.Replica.Version, Verb: opt.Replica.Verb,
		Now: opt.Now, Warn: opt.Warn, Detail: opt.Detail}
}

// rows returns the file that the handle reads, as it is.
func (db *DB) rows() *file.File {
	if db.log != nil {
		return db.log.File()
	}
	return db.file
}

// current returns that file, brought up to date.
func (db *DB) current() (*file.File, error) {
	if db.log == nil {
		return db.file, nil
	}
	err := db.log.View(func(*file.Recorder) error { return nil })
	return db.log.File(), err
}

// change runs a writer's transaction.
func (db *DB) change(ctx context.Context, fn func(*file.Recorder) (keep bool, err error)) error {
	if db.log == nil {
		return db.file.UpdateContext(ctx, db.opt.Beside, fn)
	}
	return db.log.Update(fn)
}

// logAhead is how many seconds a machine's clock may be ahead of the log's.
const logAhead = 5

// notAhead refuses a writer on a machine whose clock is ahead: for all others, the database would
// be at an instant in the future.
func (db *DB) notAhead(r *file.Recorder) error {
	id, err := r.Identity()
	if err != nil || id.AnyTime {
		return err
	}
	ahead, err := db.log.Ahead(logAhead * time.Second)
	if err != nil || ahead <= logAhead*time.Second {
		return err
	}
	now := db.opt.Now()
	return fmt.Errorf("this machine's clock says %s, but at the database it is %s: correct the clock, because others "+
		"could not write until then%w",
		kernel.Stamp(now.Unix()), kernel.Stamp(now.Add(-ahead).Unix()), file.Wordless(ErrClock))
}

// Upgrade migrates a database of an older format. A file migrates when it is first written to. A
// log does not, because machines with an older version could no longer read it: until Upgrade it
// keeps its format, and stores nothing that later formats add. It returns the former format.
func (db *DB) Upgrade() (was uint32, err error) { return db.upgrade(true) }

// DryUpgrade returns the same as Upgrade. It changes nothing.
func (db *DB) DryUpgrade() (was uint32, err error) { return db.upgrade(false) }

func (db *DB) upgrade(keep bool) (was uint32, err error) {
	if err := db.permit(Owners, "upgrade"); err != nil {
		return 0, err
	}
	if db.log == nil {
		found := func(tx *Tx) error { was = tx.k.File.FoundFormat(); return nil }
		return was, db.write(context.Background(), found, keep)
	}
	return was, db.log.UpdateAlone(func(r *file.Recorder) (bool, error) {
		if was = r.Format(); was == Format {
			return false, nil
		}
		if err := db.mayWriteNow(r); err != nil {
			return false, err
		}
		if err := r.Upgrade(); err != nil {
			return false, err
		}
		tx, err := db.begin(r)
		if err != nil {
			return false, err
		}
		return keep, tx.flush()
	})
}

// createLog makes a log with the rows that fill puts into a file.
func createLog(name string, opt *Options, fill func(path string, opt *Options) error) error {
	if opt == nil {
		opt = new(Options)
	}
	d, _, err := replica.Connect(name, "", opt.Detail)
	if err != nil {
		return err
	}
	defer d.Close()
	dir, err := os.MkdirTemp("", "placectl-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	first := filepath.Join(dir, "first.db")
	plain := *opt
	if err := fill(first, &plain); err != nil {
		return err
	}
	f, err := file.Open(first, file.Options{LockTimeout: opt.LockWait(), Warn: opt.Warn})
	if err != nil {
		return err
	}
	err = replica.Create(d, opt.LockWait(), f)
	switch {
	case errors.Is(err, replica.ErrLog):
		err = fmt.Errorf("%s: %w", name, ErrExists)
	case errors.Is(err, replica.ErrNested):
		err = fmt.Errorf("%s: %w%w", name, err, file.Wordless(ErrConflict))
	}
	return err
}

// FromOptions configure CreateFrom. The zero value works.
type FromOptions struct {
	Options                 // of the new database
	Force   bool            // even if attempts in the other have not ended
	Setup   func(*Tx) error // prepares the new database before it is used; may be nil
}

// CreateFrom makes a database from another, as Restore makes one from a backup. It gets
// another epoch. Jobs that waited are held, because they may run in the other database;
// CreateFrom returns them. Either may be a file or be kept in a log. It fails with ErrExists
// if a database has that name. Unless forced, it fails with ErrConflict if claimed attempts in
// the other have not ended.
func CreateFrom(name string, from *DB, opt *FromOptions) (held []uint64, err error) {
	if opt == nil {
		opt = new(FromOptions)
	}
	if !opt.Force {
		if err := from.View(noneUnderWay); err != nil {
			return nil, err
		}
	}
	fill := func(path string, plain *Options) error {
		dir, err := os.MkdirTemp("", "placectl-*")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		backup := filepath.Join(dir, "from.db")
		if _, err := from.Backup(backup, nil); err != nil {
			return err
		}
		done, err := Restore(path, backup, &RestoreOptions{Options: *plain, Last: func(tx *Tx, _ *Restored) error {
			if opt.Setup == nil {
				return nil
			}
			return opt.Setup(tx)
		}})
		if err == nil {
			held = done.Held
		}
		return err
	}
	if IsLog(name) {
		return held, createLog(name, &opt.Options, fill)
	}
	if _, err := os.Lstat(name); err == nil {
		return nil, fmt.Errorf("%s: %w", name, ErrExists)
	}
	return held, fill(name, &opt.Options)
}

// noneUnderWay fails with ErrConflict if an attempt was claimed and has not ended.
func noneUnderWay(tx *Tx) error {
	return tx.k.File.Each(row.Claimed, nil, func(key, _ []byte) (bool, error) {
		host, job, attempt, err := row.SplitClaimedKey(key)
		if err != nil || attempt == 0 {
			return true, err
		}
		return false, row.Clash(fmt.Sprintf("attempt %d of job %d on %s", attempt, job, host),
			"it was claimed and has not ended, and how it ends would be told to one of the two databases: wait for "+
				"it, or --force")
	})
}

// restoreLog turns a backup into one log entry, which clears and fills every table.
func restoreLog(name, backup string, opt *RestoreOptions) (*Restored, error) {
	dir, err := os.MkdirTemp("", "placectl-*")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "restored.db")
	plain := *opt
	plain.DryRun = false
	out, err := Restore(path, backup, &plain)
	if err != nil {
		return nil, err
	}
	db, err := Open(name, &opt.Options)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	from, err := file.Open(path, file.Options{LockTimeout: opt.LockWait()})
	if err != nil {
		return nil, err
	}
	return out, db.change(context.Background(), func(r *file.Recorder) (bool, error) {
		if !opt.DryRun {
			if err := db.mayWriteNow(r); err != nil {
				return false, err
			}
		}
		for t := range row.TableCount {
			if err := r.Clear(t); err != nil {
				return false, err
			}
		}
		err := from.View(func(in *file.Recorder) error {
			for t := range row.TableCount {
				err := in.EachStored(t, func(key, value []byte) error {
					if t == row.Meta && string(key) == string(row.KeyFormat) { // the log keeps its own format
						value = row.EncodeFormat(r.Format())
					}
					return r.PutStored(t, key, slices.Clone(value))
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		return !opt.DryRun, err
	})
}

// Log is the log that a database is kept in.
type Log struct{ log *replica.Replica }

// Log returns the log that the database is kept in, or nil if it is a file.
func (db *DB) Log() *Log {
	if db.log == nil {
		return nil
	}
	return &Log{db.log}
}

// LogEntry is the changes of one transaction.
type LogEntry struct {
	Position      uint64 // counted from 1
	Now           time.Time
	Host, User    string
	Version, Verb string // the program's version, and what it did
	Format        uint32
	Rows, Bytes   int
	Tables        []string
}

// Each calls fn for the entries after a position that are still in the log, the oldest first.
func (l *Log) Each(since uint64, fn func(*LogEntry) error) error {
	return l.log.Each(since, func(c *replica.Change) error {
		return fn(&LogEntry{Position: c.Position, Now: kernel.Instant(c.Now), Host: c.Host, User: c.User,
			Version: c.Version, Verb: c.Verb, Format: c.Format, Rows: c.Rows, Bytes: c.Bytes, Tables: c.Tables})
	})
}

// Check looks for faults in the log: unreadable or missing entries, and a new replica that differs
// from this machine's.
func (l *Log) Check(report func(finding string)) error { return l.log.Audit(report) }

// Trim writes a snapshot at the end of the log, and deletes entries before the previous
// snapshot. Replicas that have not reached that snapshot start again.
func (l *Log) Trim() error { return l.log.Trim() }

// DryTrim returns what Trim would do: the position of the snapshot that it would write, 0 if the
// newest one is at the log's end, and how many entries it would delete.
func (l *Log) DryTrim() (snapshot, entries uint64, err error) { return l.log.DryTrim() }

// Keep trims the log if that is due: if the entries after the newest snapshot are more than
// times*2,000, or larger than times*2 snapshots.
func (l *Log) Keep(times float64) error { return l.log.Keep(times) }

// LogSize is the size of a log in bytes; unknown sizes are 0.
type LogSize struct {
	Prefix int64 // of this log
	Stored int64 // everything stored by the log's server
	Quota  int64 // the most that the server may store
	Full   bool  // the server accepts no more
}

// Size tells how much the log holds.
func (l *Log) Size() (LogSize, error) {
	s, err := l.log.Size()
	return LogSize{Prefix: s.Prefix, Stored: s.Stored, Quota: s.Quota, Full: s.NoSpace}, err
}

// Format returns the format that the log is written in, as far as this machine knows. It is
// older than the constant Format until the log is upgraded.
func (l *Log) Format() (format uint32, err error) {
	err = l.log.File().View(func(r *file.Recorder) error { format = r.Format(); return nil })
	return format, err
}

// Watch waits until the log's end differs from a position, and returns the new one. With "" it
// returns at once. It fails when the context ends.
func (l *Log) Watch(ctx context.Context, since string) (string, error) {
	return l.log.Watch(ctx, since)
}
