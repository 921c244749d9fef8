package store

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store/internal/drivers"
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/replica"
)

// Options are how a database is opened. The zero value works.
type Options struct {
	// LockTimeout is how long View and Update wait for the file; 30 s when 0.
	LockTimeout time.Duration
	// Now is the clock; time.Now when nil. Unless the database was made with AnyTime,
	// Update fails with ErrAnyTime if it is more than 60 s ahead of time.Now: all
	// others would be locked out until then.
	Now func() time.Time
	// Chosen says that Now returns a chosen time, not a clock's. Update then fails with ErrAnyTime
	// unless the database was made with AnyTime.
	Chosen bool
	// AnyTime makes a database to which any clock may write, for tests and simulations.
	// It is for Create alone.
	AnyTime bool
	// Behind lets Update succeed although Now is before the file's time. The transaction is at the
	// file's time then; use it for Tx.ResetClock.
	Behind bool
	// Private keeps the file open and locked from the first transaction to
	// Close: for a process that has the database to itself. Its readers share it, its writers
	// do not.
	Private bool
	// Beside lets readers go on while Update runs its function: they wait only while its changes
	// are written, and see the old state until then. Other writers wait as ever. Use it for long
	// transactions. It costs a second opening of the file. A database in a log always works like
	// this.
	Beside bool
	// Warn is called once for a problem that does not stop work: the newest transaction may be
	// missing, or the file lies on a file system whose locks may not exclude other machines. It may
	// be nil.
	Warn func(string)
	// Detail is called with details that help when debugging. It may be nil.
	Detail func(string)
	// Local implements the policy local. It returns the names of the candidates in the order in
	// which to take them; those it omits come last, as declared. It is called within a transaction
	// and must not begin another. If it is nil, nodes are taken as declared, unless the request has
	// a Ranking.
	Local func([]Candidate) []string
	// Actor makes transactions, and may do no more than its role allows. Nil: everything is
	// permitted.
	Actor *Actor
	// UIDOf finds the uid of a user other than the actor: jobs and roles of users are known by
	// it. Nil: they are known by name.
	UIDOf func(user string) (uid uint32, ok bool)
	// Present reports whether a process on this host, whose name is Host, executes a user's jobs
	// of a database: where start is auto, jobs of others wait. Nil: every user is present.
	Present func(database Identity, uid uint32) bool
	Host    string
	// Replica is about databases that are kept in a log.
	Replica ReplicaOptions

	plays bool // a queue is played forward: jobs end well at their walltime
}

// DB is a handle on a database: a file, or the replica of a log. Its methods may be called from several
// goroutines.
type DB struct {
	file    *file.File       // nil if there is a log
	log     *replica.Replica // nil if there is none
	opt     Options
	running running
	changed atomic.Bool
	behind  sync.Once // the warning about a clock that is behind was given
}

// Open makes a handle on an existing database and checks that it is one. One whose name
// is a URL is kept in a log, see IsLog. It
// fails with ErrNotFound, ErrNotOurs, ErrUnsafe, ErrNewer, ErrDamaged or ErrLocked.
func Open(path string, opt *Options) (*DB, error) {
	if opt == nil {
		opt = new(Options)
	}
	return open(path, *opt, false)
}

// openScratch opens a file under construction that no other process uses. Its commits are not
// durable: the caller syncs the finished file.
func openScratch(path string, opt Options) (*DB, error) {
	opt.Private = true
	return open(path, opt, true)
}

func open(path string, opt Options, scratch bool) (*DB, error) {
	db := &DB{opt: opt}
	db.opt.LockTimeout = opt.lockTimeout()
	if db.opt.Now == nil {
		db.opt.Now = time.Now
	}
	err := opt.Actor.mayOpen(path)
	if err != nil {
		return nil, err
	}
	if IsLog(path) {
		if db.log, err = drivers.Open(path, replicaOptions(&db.opt)); err != nil {
			return nil, err
		}
		return db, nil
	}
	db.file, err = file.Open(path, file.Options{LockTimeout: db.opt.LockTimeout, Private: opt.Private, Scratch: scratch, Warn: opt.Warn, Detail: opt.Detail})
	if err != nil {
		return nil, err
	}
	return db, nil
}

func (opt *Options) lockTimeout() time.Duration {
	if opt.LockTimeout == 0 {
		return 30 * time.Second
	}
	return opt.LockTimeout
}

// Create makes a new, empty database: written beside the name, synced, then
// renamed, so that a file of that name is whole or not there. It fails with
// ErrExists when there is one, and never replaces it. A name that is a URL is that of a
// log, see IsLog.
func Create(path string, opt *Options, setup func(*Tx) error) error {
	if IsLog(path) {
		return createLog(path, opt, func(path string, opt *Options) error { return Create(path, opt, setup) })
	}
	return file.Create(path, func(path string) error {
		if setup == nil && (opt == nil || !opt.AnyTime) {
			return nil
		}
		db, err := Open(path, opt)
		if err != nil {
			return err
		}
		if db.opt.AnyTime {
			err = db.file.Update(allowAnyTime)
		}
		if err == nil && setup != nil {
			err = db.Update(setup)
		}
		return errors.Join(err, db.Close())
	})
}

// Copy makes a handle on a private copy of the database as it is now, for reading. However long you
// read, writers do not wait. Update fails with ErrReadOnly. Close deletes the copy. A long View
// releases the file to writers by itself; use a copy for several Views that must see the same
// state.
func (db *DB) Copy() (*DB, error) {
	now, err := db.current()
	if err != nil {
		return nil, err
	}
	copied, err := now.Copy()
	if err != nil {
		return nil, err
	}
	opt := db.opt
	opt.Private = false
	return &DB{file: copied, opt: opt}, nil
}

// Others says why a user other than the caller or root may have written the file or put it there;
// it returns "" if none can have. Programs that such a file names come from that user.
//
// A user who may write to a log can make it run anything, as with a file. The log controls who may
// write to it.
func (db *DB) Others() string { return Others(db.Path()) }

// Others is DB.Others of the database of a name.
func Others(path string) string {
	if IsLog(path) {
		return ""
	}
	return file.Others(path)
}

// Path is the database's name as given.
func (db *DB) Path() string {
	if db.log != nil {
		return db.log.Name
	}
	return db.file.Path()
}

// View runs fn on a snapshot of the database. What fn changes is refused with
// ErrReadOnly. Inside an Update on the same handle it fails with ErrNested. Where the
// database is kept in a log fn may be run again, as by Update.
func (db *DB) View(fn func(*Tx) error) error {
	leave, err := db.running.enter(false, db.opt.Private)
	if err != nil {
		return err
	}
	defer leave()
	view := db.rows().View
	if db.log != nil {
		view = db.log.View
	}
	return ofStore(view(func(r *file.Recorder) error {
		tx, err := db.begin(r)
		if err != nil {
			return err
		}
		return fn(tx)
	}))
}

// ofStore is an error of a transaction under the name that callers know it by: the index
// reads what rows hold, and knows nothing of files.
func ofStore(err error) error {
	if errors.Is(err, index.ErrSignature) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// Update runs fn and commits all of its changes, or none if fn fails. It returns nil once the
// change is durable. ErrUnknown means that the commit failed on its way to disk: the change may or
// may not be there. Any other error means that nothing has changed. Inside another View or Update
// on the same handle it fails with ErrNested. Update may run fn again if another writer was faster,
// so fn must not change anything outside the transaction, except by setting it as a whole.
//
// With a Once, one at most, it runs fn only if that key has not been used before.
func (db *DB) Update(fn func(*Tx) error, once ...*Once) error {
	if len(once) == 0 {
		return db.write(fn, true)
	}
	return db.write(func(tx *Tx) error { return tx.Once(once[0], func() error { return fn(tx) }) }, true)
}

// DryRun runs fn as Update does and then discards its changes.
func (db *DB) DryRun(fn func(*Tx) error) error { return db.write(fn, false) }

func (db *DB) write(fn func(*Tx) error, keep bool) error { return db.writeBy(fn, keep, db.change) }

// writeBy is write through a function that changes the file or the log.
func (db *DB) writeBy(fn func(*Tx) error, keep bool, by func(func(*file.Recorder) (bool, error)) error) error {
	leave, err := db.running.enter(true, db.opt.Private)
	if err != nil {
		return err
	}
	defer leave()
	kept := false
	err = by(func(r *file.Recorder) (bool, error) {
		kept = false
		if keep {
			if err := db.mayWriteNow(r); err != nil {
				return false, err
			}
		}
		tx, err := db.begin(r)
		if err != nil {
			return false, err
		}
		if err := fn(tx); err != nil {
			return false, err
		}
		err = tx.flush()
		kept = keep && tx.changed()
		return kept, err
	})
	if err == nil && kept {
		db.changed.Store(true)
	}
	return ofStore(err)
}

// Changed reports whether an Update through this handle has changed the file. A successful Update
// may have had nothing to change.
func (db *DB) Changed() bool { return db.changed.Load() }

// Close gives a private handle's file back, a copy up, and the connection to a log.
func (db *DB) Close() error {
	if db.log != nil {
		return db.log.Close()
	}
	return db.file.Close()
}

// Identity tells a database from others. A copy of its file has the same; one that was
// made from a dump, or restored from a backup, has another epoch at least.
type Identity struct {
	ID    string // hexadecimal
	Epoch uint32
	// AnyTime says that the database is for tests: any instant may write it.
	AnyTime bool
}

// Identity is what tells the database from others. Files of older formats have none until
// they are first written to.
func (tx *Tx) Identity() (Identity, error) {
	id, err := tx.file.Identity()
	if err != nil || id.Epoch == 0 {
		return Identity{}, err
	}
	return Identity{hex.EncodeToString(id.ID[:]), id.Epoch, id.AnyTime}, nil
}

// URLScheme begins the name of a database that is reached by running the verb where it lies.
const URLScheme = "ssh://"

// SplitURL splits ssh://[USER@]HOST/PATH into the host to connect to, with its user, and the path
// there. It fails with ErrInvalid for anything else.
func SplitURL(url string) (host, path string, err error) {
	rest, is := strings.CutPrefix(url, URLScheme)
	at := strings.IndexByte(rest, '/')
	if !is || at < 1 || at == len(rest)-1 {
		return "", "", fmt.Errorf("%w: %q is not ssh://[USER@]HOST/PATH", ErrInvalid, url)
	}
	host, path = rest[:at], rest[at:]
	user, name, both := strings.Cut(host, "@")
	if strings.ContainsAny(host, " \t\r\n:'\"\\$`;&|<>()*?!~#") || host[0] == '-' || both && (user == "" || name == "" || name[0] == '-') {
		return "", "", fmt.Errorf("%w: %q names no host: it is ssh://[USER@]HOST/PATH, and what else ssh is to know of HOST stands in ~/.ssh/config", ErrInvalid, url)
	}
	return host, path, nil
}

// NetworkFileSystem names the file system of a directory when several machines share it, such
// as NFS; else it is "". Locks may not exclude the other machines there.
func NetworkFileSystem(dir string) string { return file.NetworkFileSystem(dir) }
