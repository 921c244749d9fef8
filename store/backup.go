package store

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
)

// Content is what a file holds: its size, and how many rows each of its tables has.
type Content struct {
	Bytes  int64
	Nodes  int64
	Jobs   int64
	Events int64
	Rows   int64 // of all tables
}

func newContent(c file.Content) Content {
	out := Content{Bytes: c.Bytes, Nodes: c.Rows[row.Nodes], Jobs: c.Rows[row.Jobs], Events: c.Rows[row.Events]}
	for _, n := range c.Rows {
		out.Rows += n
	}
	return out
}

// Watch is told how far a long work has come, by so many bytes or rows more: n may be 0.
// Its error ends the work, which then has changed nothing. Nil: nobody is told.
type Watch = file.Watch

// Backup makes a file with all that is in the database at one instant, while others go on
// using it. The copy is verified, synced, and has its name then: ErrExists when there is
// a file of that name, ErrDamaged when the database is not sound.
func (db *DB) Backup(path string, watch Watch) (Content, error) {
	content, err := db.file.Backup(path, watch)
	return newContent(content), err
}

// BackupTo writes such a copy to w, nothing before it has been made whole in a folder for
// temporary files and verified. Nobody waits for w.
func (db *DB) BackupTo(w io.Writer, watch Watch) (Content, error) {
	content, err := db.file.BackupTo(w, os.TempDir(), watch)
	return newContent(content), err
}

// Restored is what Restore did.
type Restored struct {
	Content
	Held []uint64 // the jobs that are held now
	Kept string   // the database that was there, under the name that it has now; "" for none
}

// ReasonRestored is why a job is held that Restore has held.
const ReasonRestored = "restored"

// RestoreOptions are how a database is restored. The zero value works.
type RestoreOptions struct {
	Options      // how the restored database is opened
	NoHold  bool // jobs that may have run since the backup are not held
	DryRun  bool // everything is done but for the last step
	Watch   Watch
	// Last is called in the restored database before it takes its place, to keep something
	// in it; nil: nothing. It may be called again, and its error leaves all as it was.
	Last func(*Tx, *Restored) error
}

// Restore puts a backup in the place of a database, in one step. What waited when the
// backup was made, or had been started and nobody been told to launch it, may have run
// since: such jobs are held, with ReasonRestored, unless that is not wanted. The file gets
// another epoch. A database
// that is there is kept under another name, also where it is damaged. It fails with
// ErrDamaged when the backup is not sound, ErrNotOurs when one of the two files is no
// database, ErrConflict when they are the same, and changes nothing then.
func Restore(path, backup string, opt *RestoreOptions) (*Restored, error) {
	if opt == nil {
		opt = new(RestoreOptions)
	}
	out := new(Restored)
	var err error
	out.Kept, err = file.Supplant(path, backup, file.SupplantOptions{LockTimeout: opt.lockTimeout(), DryRun: opt.DryRun, Watch: opt.Watch}, func(tmp string, c file.Content, kept string) error {
		out.Content, out.Kept = newContent(c), kept
		return out.revive(tmp, opt)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// revive makes a copy of a backup what the database is to be.
func (out *Restored) revive(path string, opt *RestoreOptions) error {
	db, err := openScratch(path, opt.Options)
	if err != nil {
		return err
	}
	err = db.Update(func(tx *Tx) error {
		out.Held = nil
		if err := tx.file.DrawEpoch(); err != nil {
			return err
		}
		if !opt.NoHold {
			var err error
			if out.Held, err = tx.holdUncertain(); err != nil {
				return err
			}
		}
		if opt.Last == nil {
			return nil
		}
		return opt.Last(tx, out)
	})
	return errors.Join(err, db.Close())
}

// holdUncertain holds the jobs that may have run without the database knowing.
func (tx *Tx) holdUncertain() (held []uint64, err error) {
	err = tx.eachJob(func(j *row.Job) error {
		if !j.Queued || j.State == JobRunning && !j.ToLaunch() {
			return nil
		}
		held = append(held, j.ID)
		return tx.unplan(j, JobHeld, ReasonRestored)
	}, JobQueued, JobReserved, JobRunning)
	if err != nil {
		return nil, fmt.Errorf("holding what may have run since: %w", err)
	}
	return held, nil
}

// Compacted is the size of a file before Compact and afterwards, in bytes.
type Compacted = file.Compacted

// Compact writes the database anew without the pages that are free, verified and in one
// step: killed at any point, the file is the old one or the new one. It has the database
// to itself meanwhile. It fails with ErrDamaged, and changes nothing, when the file is not
// sound.
func (db *DB) Compact(watch Watch) (Compacted, error) { return db.file.Compact(false, watch) }

// CompactTrial does what Compact does, and changes nothing.
func (db *DB) CompactTrial(watch Watch) (Compacted, error) { return db.file.Compact(true, watch) }
