package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/users"
)

// Operator is the role of users who may change what all users share.
const Operator = users.Operator

// Permit fails with ErrNotPermitted if the actor of opt lacks a right to the database at a
// path. If the file is damaged, the owner on disk counts as its owner; a file that is missing
// permits everything.
func Permit(path string, opt *Options, right Right, what string) error {
	if opt == nil || opt.Actor == nil || right == Anybody || IsLog(path) {
		return nil
	}
	a := opt.Actor
	shared, uid, err := kernel.OnDisk(path)
	if errors.Is(err, fs.ErrNotExist) || a.UID == 0 && !a.Namespaced || err == nil && !shared && uid == a.UID {
		return nil
	}
	db, err := Open(path, opt)
	if err != nil {
		return permittedOnDisk(path, a, what, err)
	}
	return errors.Join(db.permit(right, what), db.Close())
}

// permit is Permit for an open database.
func (db *DB) permit(right Right, what string) error {
	a := db.opt.Actor
	if a == nil || db.log != nil {
		return nil
	}
	err := db.View(func(tx *Tx) error { return users.RolesOf(tx.k).Permit(right, what) })
	if err == nil || errors.Is(err, ErrNotPermitted) {
		return err
	}
	return permittedOnDisk(db.Path(), a, what, err)
}

// permittedOnDisk decides by the owner on disk of a database that cannot be read.
func permittedOnDisk(path string, a *Actor, what string, why error) error {
	if errors.Is(why, ErrNotPermitted) || errors.Is(why, ErrLocked) {
		return why
	}
	if _, uid, err := kernel.OnDisk(path); err == nil && (a.UID == 0 || a.UID == uid) {
		return nil
	}
	return fmt.Errorf("%w: %s: only the owner of the database may do that, which cannot be read: %w", ErrNotPermitted,
		what, why)
}

// A job's script, environment and signature may hold secrets. Only its submitter, its user and
// the owner of the database see them. Others get backups and dumps without them.

// seen returns the part of the database that the actor may see: the file itself, or a copy without
// what other users' jobs carry. done deletes the copy.
func (db *DB) seen() (f *file.File, done func(), err error) {
	done = func() {}
	if f, err = db.current(); err != nil {
		return nil, done, err
	}
	err = db.permit(Owners, "what jobs of others carry")
	if !errors.Is(err, ErrNotPermitted) {
		return f, done, err
	}
	dir, err := os.MkdirTemp("", "placectl-*")
	if err != nil {
		return nil, done, err
	}
	done = func() { os.RemoveAll(dir) } //nolint:errcheck // it is a folder for temporary files
	path := filepath.Join(dir, "copy.db")
	if _, err = f.Backup(path, nil); err == nil {
		err = db.redact(path)
	}
	if err == nil {
		f, err = file.Open(path, file.Options{LockTimeout: db.opt.LockTimeout})
	}
	if err == nil {
		_, err = f.Compact(false, false, nil) // free pages still hold what was removed
	}
	return f, done, err
}

// redact removes from a private copy what jobs of users other than the actor carry.
func (db *DB) redact(path string) error {
	copied, err := openScratch(path, db.opt)
	if err != nil {
		return err
	}
	return errors.Join(copied.file.Update(func(r *file.Recorder) (bool, error) {
		tx, err := copied.beginAsOf(r)
		if err == nil {
			err = jobs.Redact(tx.k, *db.opt.Actor)
		}
		if err == nil {
			err = tx.flush()
		}
		return true, err
	}), copied.Close())
}
