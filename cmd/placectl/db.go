package main

import (
	"bytes"
	"github.com/placectl/placectl/cmd/placectl/internal/asked"
	"github.com/placectl/placectl/cmd/placectl/internal/attend"
	"github.com/placectl/placectl/cmd/placectl/internal/dispatch"
	"os"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/process"
	attempts "github.com/placectl/placectl/cmd/placectl/internal/runner"
	"github.com/placectl/placectl/cmd/placectl/internal/spool"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// open makes a handle on the database that --db names.
func (r *runner) open() (*store.DB, error) {
	if r.asker != nil { // what it has to look up besides, the process that asks looks up
		r.asker.alone = true
		return nil, asked.ErrAlone
	}
	if r.tx != nil {
		return nil, usage.Of("tx", "this cannot be part of a transaction: it takes several")
	}
	return r.openNamed(r.DB)
}

// openNamed makes a handle on a database. There is one of each that is kept in a log.
func (r *runner) openNamed(name string) (*store.DB, error) {
	connect := func() (*store.DB, error) { return store.Open(name, r.storeOptions()) }
	if !store.IsLog(name) {
		return connect()
	}
	return r.inLogs.Open(name, connect)
}

// done gives a handle back that is of no more use.
func (r *runner) done(db *store.DB) {
	if db.Log() == nil {
		_ = db.Close()
	}
}

// leaveLogs gives the connections to logs up. A cycle keeps a snapshot when it is time for
// one, others when it is high time.
func (r *runner) leaveLogs() {
	times := 2.0
	if r.verb != nil && r.verb.Name == "cycle" {
		times = 1
	}
	r.inLogs.Leave(times, func(name string, err error) { r.debugf("%s: %v", name, err) })
}

// logStamp tells states of a log apart, as fileStamp does of a file.
func (r *runner) logStamp() int64 {
	db, err := r.openNamed(r.DB)
	if err != nil {
		return 0
	}
	return r.inLogs.Stamp(r.ctx, db, r.LockTimeout)
}

func (r *runner) storeOptions() *store.Options {
	said := *r // of now: what is noted may be held back by the time there is a warning
	opt := &store.Options{LockTimeout: r.LockTimeout, Now: func() time.Time { return r.now() }, Chosen: !r.Now.IsZero(), Behind: r.behind, Warn: func(s string) { said.notef("%s", s) }, Detail: func(s string) { said.debugf("%s", s) }}
	opt.Beside = r.verb != nil && r.verb.Thinks
	opt.Actor, opt.UIDOf = r.actor(), r.uidOf
	if r.Now.IsZero() {
		opt.Host, _ = os.Hostname() // with no name, word of other hosts is word of this one
		opt.Present = func(is store.Identity, uid uint32) bool {
			return attend.Present(is.ID, dispatch.EpochOf(is), uid, attempts.Look)
		}
	}
	if store.IsLog(r.DB) {
		version, _ := buildVersion()
		opt.Replica = store.ReplicaOptions{Stale: r.Stale, Folder: r.getenv("PLACECTL_REPLICAS"), Version: version, Verb: r.inv.Verb()}
	}
	return opt
}

// view runs fn on a snapshot of the database. What fn prints is held back until
// the file is closed: whoever reads the answer slowly keeps nobody waiting.
func (r *runner) view(fn func(*store.Tx) error) error {
	if r.tx != nil {
		return fn(r.tx)
	}
	db, err := r.open()
	if err != nil {
		return err
	}
	return r.read(db, fn)
}

// read runs fn on a snapshot of a database, and prints then what it printed, nothing
// if it failed.
func (r *runner) read(db *store.DB, fn func(*store.Tx) error) error {
	out := r.stdout
	var held spool.Spool
	defer held.Reset()
	r.stdout = &held
	err := db.View(func(tx *store.Tx) error {
		held.Reset()
		if err := fn(tx); err != nil || r.verb == nil || !r.verb.Revives {
			return err
		}
		return r.noteLeaving(tx, false)
	})
	r.stdout = out
	if err != nil {
		return err
	}
	_, err = held.WriteTo(out)
	if r.verb != nil && r.verb.Revives {
		r.leave()
	}
	return err
}

// update runs fn and commits what it changed; with --dry-run it forgets it. fn may
// run more than once, as in write.
func (r *runner) update(c *cli.Context, fn func(*store.Tx) error) error {
	if r.verb.Access != verbs.Writes {
		panic("placectl: " + r.verb.Name + " writes, and does not declare it")
	}
	if r.tx != nil && c.Bool(verbs.DryRun) {
		return usage.Of("tx", "--dry-run is for all of the transaction: put it behind placectl tx")
	}
	if r.asker != nil {
		return r.asker.within(r, c, fn)
	}
	if c.IsSet(verbs.Key) {
		fn = r.once(c, fn)
	}
	if r.tx != nil {
		return fn(r.tx)
	}
	db, err := r.open()
	if err != nil {
		return err
	}
	return r.writeInWords(db, !c.Bool(verbs.DryRun), r.words(c), fn)
}

// write runs fn and commits what it changed, or forgets it unless it is to keep it.
// fn may run more than once, and only its last run counts: outside the transaction it
// may change nothing but what each run sets anew as a whole. What it prints is held
// back until the commit, because an answer means that the change is durable; without a
// commit its notes are printed, and nothing else.
func (r *runner) write(db *store.DB, keep bool, fn func(*store.Tx) error) error {
	return r.writeInWords(db, keep, nil, fn)
}

// writeInWords is write of what another process may do, too, if it is said in words.
func (r *runner) writeInWords(db *store.DB, keep bool, words *store.Words, fn func(*store.Tx) error) error {
	stdout, stderr := r.stdout, r.notes
	var answer spool.Spool
	var notes bytes.Buffer
	defer answer.Reset()
	var cover *process.Shield
	r.stdout, r.notes = &answer, &notes
	said, err := r.commitInWords(db, keep, words, func(tx *store.Tx) error {
		answer.Reset()
		notes.Reset()
		r.committed = nil
		if err := fn(tx); err != nil || !keep {
			return err
		}
		if err := r.noteLeaving(tx, true); err != nil {
			return err
		}
		if cover == nil {
			cover = process.Raise(r.stop)
		}
		if r.verb.Alone { // it knows itself what it still has to do when it is interrupted
			return nil
		}
		return r.ctx.Err()
	})
	if cover != nil {
		cover.Committed()
		defer cover.Drop()
	}
	if said != nil {
		answer.Reset()
		notes.Reset()
		r.committed, r.leaving = nil, nil
		err = r.hear(said)
	} else {
		r.changed = r.changed || err == nil && (db.Changed() || r.repeated)
	}
	r.stdout, r.notes = stdout, stderr
	notes.WriteTo(stderr) //nolint:errcheck // as notef
	if err != nil {
		return err
	}
	if r.committed != nil && keep {
		r.committed()
	}
	if _, err = answer.WriteTo(stdout); err != nil && r.changed {
		err = lostAnswer(err)
	}
	if r.verb.Alone { // it goes on, and may wait for what the attendant does
		r.leave()
	}
	return err
}

// commitInWords commits what another process may do, too, if words say it; its answer is returned
// then.
func (r *runner) commitInWords(db *store.DB, keep bool, words *store.Words, fn func(*store.Tx) error) ([]byte, error) {
	if words != nil {
		return r.inWords(db, words, fn)
	}
	return nil, r.commit(db, keep, fn)
}

// commit runs a function on a database once, and keeps what it changed, or not.
func commit(db *store.DB, keep bool, fn func(*store.Tx) error) error {
	if keep {
		return db.Update(fn)
	}
	return db.DryRun(fn)
}

// distrusts says why programs that a database names are not run; "" where they may be: a
// file is no program, and who can write it could run what he likes as whoever asks it.
func (r *runner) distrusts(db *store.DB) string {
	if r.getenv("PLACECTL_TRUST") == "1" {
		return ""
	}
	return db.Others()
}

// distrustsOpened is the same of a database that is not open.
func (r *runner) distrustsOpened() string {
	db, err := r.open()
	if err != nil {
		return err.Error()
	}
	defer r.done(db)
	return r.distrusts(db)
}
