package session

import (
	"bytes"
	"os"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/process"
	"github.com/placectl/placectl/cmd/placectl/internal/spool"
	"github.com/placectl/placectl/cmd/placectl/internal/told"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/attend"
	"github.com/placectl/placectl/internal/dispatch"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/keeper"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// OpenLog opens the log that --db names.
func (r *Run) OpenLog() (*engine.Log, error) {
	if !engine.IsLog(r.DB) {
		return nil, usage.Errorf("%s is a file: only a database in etcd has a log, --db etcd://HOST:PORT,.../PREFIX",
			r.DB)
	}
	db, err := r.Open()
	if err != nil {
		return nil, err
	}
	return db.Log(), nil
}

// LogSize returns how much the log of the database holds. It warns if the log is full or more
// than half full.
func (r *Run) LogSize() (engine.LogSize, error) {
	log, err := r.OpenLog()
	if err != nil || r.Stale < 0 {
		return engine.LogSize{}, err
	}
	size, err := log.Size()
	const what = "defragment it, let it forget its history (--auto-compaction-retention=1h), or raise " +
		"--quota-backend-bytes"
	switch {
	case err != nil:
	case size.Full:
		r.Notef("etcd is full (NOSPACE): %s; then etcdctl alarm disarm", what)
	case size.Quota > 0 && size.Stored > size.Quota/2:
		r.Notef("etcd uses %s, more than half of its quota of %s: %s", text.FormatSize(size.Stored),
			text.FormatSize(size.Quota), what)
	}
	return size, err
}

// Open opens the database that --db names.
func (r *Run) Open() (*engine.DB, error) {
	if r.Tx != nil {
		return nil, usage.Of("tx", "this cannot be part of a transaction: it takes several")
	}
	return r.OpenNamed(r.DB)
}

// OpenNamed opens a database. All callers share one handle on it, which CloseAll closes.
func (r *Run) OpenNamed(name string) (*engine.DB, error) {
	return r.handles.open(name, r.waits(), func() (*engine.DB, error) { return engine.Open(name, r.StoreOptions()) })
}

// CloseAll closes what was opened. A cycle takes a snapshot of a log when one is due, other verbs only when it is long
// overdue.
func (r *Run) CloseAll() {
	times := 2.0
	if r.Verb != nil && r.Verb.Name == "cycle" {
		times = 1
	}
	r.handles.close(times, func(name string, err error) { r.Debugf("%s: %v", name, err) })
}

// logStamp returns a number that changes with the log, as FileStamp does with the file.
func (r *Run) logStamp() int64 {
	db, err := r.OpenNamed(r.DB)
	if err != nil {
		return 0
	}
	return r.handles.stamp(r.Ctx, db, r.LockTimeout)
}

// StoreOptions returns the options with which this run opens databases.
func (r *Run) StoreOptions() *engine.Options {
	said := *r // a copy of now: r's notes may be held back when a warning comes
	opt := &engine.Options{LockTimeout: r.LockTimeout, Now: func() time.Time { return r.Instant() },
		Chosen: !r.Now.IsZero(), Behind: r.Behind, Warn: said.warnOnce, Detail: func(s string) { said.Debugf("%s", s) }}
	opt.LocksFail = func(s string) { // changes get lost: -q does not silence it
		loud := said
		loud.Quiet = false
		loud.warnOnce(s)
	}
	if r.Verb == nil || r.Verb.Access != verbs.Makes { // its answer is about the file that it makes
		opt.Copied = func(why error) { said.warnOnce(why.Error()) }
	}
	opt.Beside = r.Verb != nil && r.Verb.Thinks
	opt.Actor, opt.UIDOf = r.actor(), r.uidOf
	if r.Now.IsZero() {
		opt.Host, _ = os.Hostname() // without a name, word from other hosts counts as word from this one
		opt.Present = func(is engine.Identity, uid uint32) bool {
			return attend.Present(is.ID, dispatch.EpochOf(is), uid, keeper.Look)
		}
	}
	if engine.IsLog(r.DB) {
		version, _ := BuildVersion()
		opt.Replica = engine.ReplicaOptions{Stale: r.Stale, Folder: r.Getenv("PLACECTL_REPLICAS"), Version: version,
			Verb: r.Inv.Verb()}
	}
	return opt
}

// warnOnce prints a warning of the store, which each handle gives, once a run.
func (r *Run) warnOnce(s string) {
	if _, said := r.warned.LoadOrStore(s, true); !said {
		r.Notef("%s", s)
	}
}

// hasWarned reports whether a warning has told what an error says.
func (r *Run) hasWarned(err error) bool {
	_, said := r.warned.Load(err.Error())
	return said && !r.Quiet
}

// View runs fn on a snapshot of the database. What fn prints is held back until the file is
// closed, so that a slow reader blocks no other process.
func (r *Run) View(fn func(*engine.Tx) error) error {
	if r.Tx != nil {
		return fn(r.Tx)
	}
	db, err := r.Open()
	if err != nil {
		return err
	}
	return r.Read(db, fn)
}

// Read runs fn on a snapshot of a database and then prints what fn wrote, or nothing if it failed.
func (r *Run) Read(db *engine.DB, fn func(*engine.Tx) error) error {
	out := r.Stdout
	var held spool.Spool
	defer held.Reset()
	r.Stdout = &held
	err := db.View(func(tx *engine.Tx) error {
		held.Reset()
		if err := fn(tx); err != nil || r.Verb == nil || !r.Verb.Revives {
			return err
		}
		return r.NoteLeaving(tx, false)
	})
	r.Stdout = out
	if err != nil {
		return r.dropped(db, err)
	}
	_, err = held.WriteTo(out)
	if r.Verb != nil && r.Verb.Revives {
		r.Leave()
	}
	return err
}

// Update runs fn and commits its changes, or discards them with --dry-run. fn may run more than
// once, as in Write.
func (r *Run) Update(c *cli.Context, fn func(*engine.Tx) error) error {
	if r.Verb.Access != verbs.Writes {
		panic("placectl: " + r.Verb.Name + " writes, and does not declare it")
	}
	if r.Tx != nil && c.Bool(verbs.DryRun) {
		return usage.Of("tx", "--dry-run is for all of the transaction: put it behind placectl tx")
	}
	if c.IsSet(verbs.Key) {
		fn = r.Once(c, fn)
	}
	if r.Tx != nil {
		return fn(r.Tx)
	}
	db, err := r.Open()
	if err != nil {
		return err
	}
	return r.Write(db, !c.Bool(verbs.DryRun), fn)
}

// Write runs fn and commits its changes, or discards them unless keep is set. fn may run more
// than once, and only its last run counts. Outside the transaction it may change only what each
// run sets anew as a whole. What it prints is held back until the commit, because an answer means
// that the change is durable. Without a commit only its notes are printed.
func (r *Run) Write(db *engine.DB, keep bool, fn func(*engine.Tx) error) error {
	stdout, stderr := r.Stdout, r.notes
	var answer spool.Spool
	var notes bytes.Buffer
	defer answer.Reset()
	var cover *process.Shield
	var made told.Numbers
	r.Stdout, r.notes = &answer, &notes
	err := r.Commit(db, keep, func(tx *engine.Tx) error {
		answer.Reset()
		notes.Reset()
		r.committed, r.repeated = nil, told.Numbers{}
		next := tx.Jobs().Next()
		if err := fn(tx); err != nil || !keep {
			return err
		}
		made = r.Made(tx, next)
		if err := r.NoteLeaving(tx, true); err != nil {
			return err
		}
		if cover == nil {
			cover = process.Raise(r.Stop)
		}
		if r.Verb.Alone { // such a verb handles an interrupt itself
			return nil
		}
		return r.Ctx.Err()
	})
	if cover != nil {
		cover.Committed()
		defer cover.Drop()
	}
	r.Changed = r.Changed || err == nil && (db.Changed() || r.Repeated)
	r.Stdout, r.notes = stdout, stderr
	notes.WriteTo(stderr) //nolint:errcheck // as notef
	if err != nil {
		return r.dropped(db, err)
	}
	if r.committed != nil && keep {
		r.committed()
	}
	r.Submitted = made
	if err := r.keepMade(made); err != nil {
		r.Notef("wait without a job will not know of this one: %v", err)
	}
	if _, err = answer.WriteTo(stdout); err != nil && r.Changed {
		err = lostAnswer(err)
	}
	if r.Verb.Alone { // it goes on, and may wait for the attendant
		r.Leave()
	}
	return err
}

// Commit runs fn on a database once, and keeps its changes if keep is set.
func Commit(db *engine.DB, keep bool, fn func(*engine.Tx) error) error {
	if keep {
		return db.Update(fn)
	}
	return db.DryRun(fn)
}

// dropped is the error of a transaction. After one, its handle is not used again.
func (r *Run) dropped(db *engine.DB, err error) error {
	if err != nil && !r.waits() {
		r.handles.drop(db)
	}
	return err
}

// waits reports whether the verb waits for jobs. It is about one database from its first transaction to its last,
// whatever has the name meanwhile.
func (r *Run) waits() bool { return r.Verb != nil && r.Verb.Waits }

// Distrusts says why programs named in a database are not run, "" if they may be. Anyone who can
// write a database file could make its readers run anything.
func (r *Run) Distrusts(db *engine.DB) string {
	if r.Getenv("PLACECTL_TRUST") == "1" {
		return ""
	}
	return db.Others()
}

// DistrustsOpened is Distrusts for a database that is not open yet.
func (r *Run) DistrustsOpened() string {
	db, err := r.Open()
	if err != nil {
		return err.Error()
	}
	return r.Distrusts(db)
}
