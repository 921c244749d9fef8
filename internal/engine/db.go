package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/queue"
	"github.com/placectl/placectl/internal/replica"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer/forecast"
)

// DB is a handle on a database: a file, or the replica of a log. Its methods may be called from
// several goroutines. Do not begin a transaction inside another one, except inside a View: the inner one waits
// for the outer one, and fails with ErrLocked and ErrNested after LockTimeout.
type DB struct {
	file    *file.File       // nil if there is a log
	log     *replica.Replica // nil if there is none
	opt     Options
	running atomic.Int32 // transactions under way
	changed atomic.Bool
	parts   parts
	copied  sync.Once // warns once that nothing is executed from a copy
	behind  sync.Once // warns once about a clock that is behind
}

// Open returns a handle on an existing database and checks that it is one. A database whose name is
// a URL is kept in a log: see IsLog. While another database has the name, the handle's transactions fail with
// ErrNoDatabase. Open fails with ErrNotFound, ErrNotOurs, ErrUnsafe, ErrNewer,
// ErrDamaged or ErrLocked.
func Open(path string, opt *Options) (*DB, error) {
	if opt == nil {
		opt = new(Options)
	}
	return open(path, *opt, false)
}

// openScratch opens a file under construction that no other process uses. Its commits are not
// durable: the caller syncs the finished file.
func openScratch(path string, opt Options) (*DB, error) {
	return open(path, opt, true)
}

func open(path string, opt Options, scratch bool) (*DB, error) {
	db := &DB{opt: opt}
	db.opt.LockTimeout = opt.LockWait()
	if db.opt.Now == nil {
		db.opt.Now = time.Now
	}
	err := opt.Actor.MayOpen(path)
	if err != nil {
		return nil, err
	}
	if IsLog(path) {
		if db.log, err = replica.Open(path, replicaOptions(&db.opt)); err != nil {
			return nil, err
		}
		return db, nil
	}
	db.file, err = file.Open(path, file.Options{LockTimeout: db.opt.LockTimeout, Scratch: scratch,
		Warn: opt.Warn, LocksFail: opt.LocksFail, Detail: opt.Detail})
	if err != nil {
		return nil, err
	}
	return db, nil
}

// Create makes a new, empty database. It is written beside the name, synced, then renamed, so
// a file with that name is complete or does not exist. It never replaces a database: if one
// exists, it fails with ErrExists. If the name is a URL, the database is kept in a log: see
// IsLog.
func Create(path string, opt *Options, setup func(*Tx) error) error {
	if IsLog(path) {
		return createLog(path, opt, func(path string, opt *Options) error { return Create(path, opt, setup) })
	}
	return file.Create(path, func(tmp string) error {
		if err := prepare(tmp, opt, setup); err != nil {
			return err
		}
		return file.Settle(tmp, path)
	})
}

// prepare sets up a new database before it gets its name.
func prepare(path string, opt *Options, setup func(*Tx) error) error {
	if setup == nil && (opt == nil || !opt.AnyTime) {
		return nil
	}
	if err := file.Settle(path, ""); err != nil { // for its own transactions, it is no copy
		return err
	}
	db, err := Open(path, opt)
	if err != nil {
		return err
	}
	if db.opt.AnyTime {
		err = db.file.Update(kernel.AllowAnyTime)
	}
	if err == nil && setup != nil {
		err = db.Update(setup)
	}
	if err == nil && db.opt.AnyTime && !db.opt.Chosen {
		err = db.file.Update(kernel.Timeless)
	}
	return errors.Join(err, db.Close())
}

// Copy makes a handle on a private copy of the database as it is now, for reading. Writers do
// not wait, however long you read. Update fails with ErrReadOnly. Close deletes the copy. A
// long View releases the file to writers by itself; use a copy for several Views that must see
// the same state.
func (db *DB) Copy() (*DB, error) {
	now, err := db.current()
	if err != nil {
		return nil, err
	}
	copied, err := now.Copy()
	if err != nil {
		return nil, err
	}
	return &DB{file: copied, opt: db.opt}, nil
}

// Others says why a user other than the caller or root may have written the file or put it
// there, or returns "" if none could. Programs that such a file names come from that user.
//
// A user who may write to a log can make it run anything, as with a file. The log controls who may
// write to it.
func (db *DB) Others() string { return Others(db.Path()) }

// Others is DB.Others for a database by its name.
func Others(path string) string {
	if IsLog(path) {
		return ""
	}
	return file.Others(path)
}

// Path returns the database's name as given, or absolute if the working directory has changed since Open.
func (db *DB) Path() string {
	if db.log != nil {
		return db.log.Name
	}
	return db.file.Path()
}

// View runs fn on a snapshot of the database. Changes in fn fail with ErrReadOnly. If the
// database is kept in a log, fn may run again, as in Update.
func (db *DB) View(fn func(*Tx) error) error { return db.ViewContext(context.Background(), fn) }

// ViewContext is View. It fails with the context's error if that ends while it waits for the file; what fn
// does then is up to fn. If the database is kept in a log, the context has no effect.
func (db *DB) ViewContext(ctx context.Context, fn func(*Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	others, begun := db.running.Add(1) > 1, false
	defer db.running.Add(-1)
	view := func(fn func(*file.Recorder) error) error { return db.file.ViewContext(ctx, fn) }
	if db.log != nil {
		view = db.log.View
	}
	err := view(func(r *file.Recorder) error {
		begun = true
		tx, err := db.begin(r)
		if err != nil {
			return err
		}
		return tx.k.Ended(fn(tx))
	})
	return kernel.OfStore(waited(err, others && !begun))
}

// waited adds ErrNested to the error of a transaction that did not get its turn in time while others of the same
// handle were under way: it may be inside one of them.
func waited(err error, others bool) error {
	if others && errors.Is(err, ErrLocked) {
		return fmt.Errorf("%w; another transaction of this handle was under way, perhaps around this one%w", err,
			file.Wordless(ErrNested))
	}
	return err
}

// Update runs fn and commits all of its changes, or none if fn fails. It returns nil once the
// change is durable. ErrUnknown means that the commit failed on its way to disk: the change may or
// may not be there. Any other error means that nothing has changed. Update may run fn again if another
// writer was faster, so fn must not change anything outside the transaction, except by setting it as a
// whole.
//
// once takes at most one Once: then Update runs fn only if that key has not been used before.
func (db *DB) Update(fn func(*Tx) error, once ...*Once) error {
	if len(once) == 0 || once[0] == nil {
		return db.write(context.Background(), fn, true)
	}
	return db.Update(func(tx *Tx) error { return tx.Once(once[0], func() error { return fn(tx) }) })
}

// UpdateContext is Update. It fails with the context's error if that ends while it waits for the file. If the
// database is kept in a log, the context has no effect.
func (db *DB) UpdateContext(ctx context.Context, fn func(*Tx) error) error {
	return db.write(ctx, fn, true)
}

// DryRun runs fn as Update does and then discards its changes.
func (db *DB) DryRun(fn func(*Tx) error) error { return db.write(context.Background(), fn, false) }

func (db *DB) write(ctx context.Context, fn func(*Tx) error, keep bool) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	others, begun, kept := db.running.Add(1) > 1, false, false
	defer db.running.Add(-1)
	var last *Tx
	err := db.change(ctx, func(r *file.Recorder) (bool, error) {
		begun, kept = true, false
		if keep {
			if err := db.mayWriteNow(r); err != nil {
				return false, err
			}
		}
		tx, err := db.begin(r)
		if err != nil {
			return false, err
		}
		if err := tx.k.Ended(fn(tx)); err != nil {
			return false, err
		}
		err = tx.flush()
		if kept = keep && tx.k.Changed(); kept && err == nil {
			err = tx.k.Parted()
		}
		last = tx
		return kept, err
	})
	if err == nil && kept {
		db.changed.Store(true)
		if db.file != nil {
			last.k.Committed(db.file.Last())
		}
	}
	return kernel.OfStore(waited(err, others && !begun))
}

// Changed reports whether an Update through this handle has changed the file. A successful Update
// may have had nothing to change.
func (db *DB) Changed() bool { return db.changed.Load() }

// Close closes the file, deletes a copy, and closes the connection to a log.
func (db *DB) Close() error {
	if db.log != nil {
		return db.log.Close()
	}
	return db.file.Close()
}

// DefaultState returns the directory of what is executed for a user, if the setting state_dir is
// empty.
func DefaultState(uid int) string { return kernel.DefaultState(uid) }

// Locks is what was found out about the locks of a database file.
type Locks = file.Locks

// TryLocks tries whether a lock of a database file that one process holds is refused to another.
func TryLocks(path string) Locks { return file.TryLocks(path) }

// LocksOf is TryLocks for a warning: it trusts the locks of known local file systems, and of logs.
func LocksOf(path string) Locks {
	if IsLog(path) {
		return Locks{}
	}
	return file.LocksOf(path)
}

// Notifies reports whether the kernel tells of each change of the files in a directory: not of those
// by other machines, or by another way.
func Notifies(dir string) bool { return file.Notifies(dir) }

// NetworkFileSystem returns the name of a directory's file system, such as NFS, if several machines
// share it; else "". Locks may not exclude the other machines there.
func NetworkFileSystem(dir string) string { return file.NetworkFileSystem(dir) }

// mayWriteNow refuses a writer whose time the file does not accept.
func (db *DB) mayWriteNow(r *file.Recorder) error {
	if db.log != nil && !db.opt.Chosen {
		if err := db.notAhead(r); err != nil {
			return err
		}
	}
	now, clock := db.opt.Now(), time.Now()
	far := now.Unix() > clock.Unix()+kernel.Ahead
	if !far && !db.opt.Chosen {
		return nil
	}
	id, err := r.Identity()
	switch {
	case err != nil || id.AnyTime:
		return err
	case db.opt.Chosen:
		return fmt.Errorf("--now %s: a verb that writes cannot choose its time, because the file would stand at it; "+
			"%w. --dry-run is allowed", kernel.Stamp(now.Unix()), ErrAnyTime)
	}
	return fmt.Errorf("the clock says %s, %d s ahead of this machine's; %w", kernel.Stamp(now.Unix()),
		now.Unix()-clock.Unix(), ErrAnyTime)
}

// FileState identifies a state of a database file. If two are equal, nothing was committed between
// them.
type FileState = file.State

// StateOfFile reads the state of the database file at a path, without a lock.
func StateOfFile(path string) (FileState, error) { return file.StateOf(path) }

// BeatsWithin is how many heartbeats a host sends within the setting lost_after.
const BeatsWithin = kernel.BeatsWithin

// RecordEnough is the number of recorded starts from which forecasts follow the record.
const RecordEnough = forecast.Enough

// ForecastSpec says when DB.Forecast plays.
type ForecastSpec struct {
	// Rarely skips the play within 30 s of the last one, or within 20 times its duration. It
	// also skips it while so few jobs wait that readers play themselves. Few plays even then,
	// because only kept forecasts get into the record.
	Rarely, Few bool
	Done        func() bool // tells, between instants, whether to stop the play; nil never stops it
}

// Forecast plays the queue and keeps the expected starts for all readers. Call it from the
// process that runs the queue, when it is idle: it plays beside readers and writers, and
// writes one row. It does nothing if the forecast is up to date. If the database is kept in a
// log, the row belongs to this machine and is in no entry.
func (db *DB) Forecast(spec ForecastSpec) error {
	var fs *Forecasts
	err := db.View(func(tx *Tx) error {
		fs = nil
		kept, err := queue.KeptForecasts(tx.k)
		if err != nil {
			return err
		}
		if kept != nil && (!queue.OutOfDate(tx.k, kept) || spec.Rarely && tx.Now().Sub(kept.AsOf) < max(queue.PlayEvery,
			queue.PlayPatience*kept.Took)) {
			return nil
		}
		few, err := queue.FewWait(tx.k)
		if err == nil && (!few || !spec.Rarely || spec.Few) {
			fs, err = queue.PlayForecasts(tx.k, kept, spec.Done)
		}
		return err
	})
	if err != nil || fs == nil {
		return err
	}
	payload := row.ForecastsRow.Encode(fs.Value)
	if db.log != nil {
		return db.log.PutLocal(row.Meta, row.KeyForecasts, payload)
	}
	return db.Update(func(tx *Tx) error {
		return tx.k.StartsNone(func() error { return tx.k.File.Put(row.Meta, row.KeyForecasts, payload) })
	})
}

// Executes tells the handle that this process executes jobs on a host: what Options.Host, Present and Sign would have
// said. Call it before other goroutines use the handle.
func (db *DB) Executes(host string, present func(Identity, uint32) bool, sign Signer) {
	db.opt.Host, db.opt.Present, db.opt.Sign = host, present, sign
}
