package main

import (
	"bytes"
	"time"

	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// open makes a handle on the database that --db names.
func (r *runner) open() (*store.DB, error) {
	if r.tx != nil {
		return nil, usagef("tx", "this cannot be part of a transaction: it takes several")
	}
	return store.Open(r.DB, r.storeOptions())
}

func (r *runner) storeOptions() *store.Options {
	return &store.Options{LockTimeout: r.LockTimeout, Now: func() time.Time { return r.now() }, Warn: func(s string) { r.notef("%s", s) }}
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
	return r.holdBack(func() error { return db.View(fn) })
}

// holdBack runs fn and then prints what it printed, nothing if it failed.
func (r *runner) holdBack(fn func() error) error {
	out := r.stdout
	var held bytes.Buffer
	r.stdout = &held
	err := fn()
	r.stdout = out
	if err != nil {
		return err
	}
	_, err = out.Write(held.Bytes())
	return err
}

// update runs fn and commits what it changed; with --dry-run it forgets it.
func (r *runner) update(c *cli.Context, fn func(*store.Tx) error) error {
	if r.tx != nil && c.Bool(dryRun) {
		return usagef("tx", "--dry-run is for all of the transaction: put it behind placectl tx")
	}
	if r.tx != nil {
		return fn(r.tx)
	}
	db, err := r.open()
	if err != nil {
		return err
	}
	if c.Bool(dryRun) {
		return db.DryRun(fn)
	}
	return db.Update(fn)
}

const dryRun = "dry-run"

// dryRunFlag is a flag of every verb that writes.
func dryRunFlag() cli.Flag {
	return &cli.BoolFlag{Name: dryRun, Usage: "answer as usual, change nothing"}
}

// updateAndPrint is update for verbs whose answer is printed from the
// transaction: it is held back until the commit, because an answer means that
// the change is durable.
func (r *runner) updateAndPrint(c *cli.Context, fn func(*store.Tx) error) error {
	return r.holdBack(func() error { return r.update(c, fn) })
}
