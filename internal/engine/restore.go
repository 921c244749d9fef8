package engine

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/users"
)

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
	out.Kept, err = file.Supplant(path, backup, file.SupplantOptions{LockTimeout: opt.LockWait(), DryRun: opt.DryRun,
		Watch: opt.Watch}, func(tmp string, c file.Content, kept string) error {
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
		if err := tx.k.File.DrawEpoch(); err != nil {
			return err
		}
		if err := tx.k.File.PutOwner(&out.was.owner); err != nil {
			return err
		}
		if err := tx.k.File.Settle(name); err != nil {
			return err
		}
		if err := out.goOn(tx, opt.Force); err != nil {
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
		return nil, fmt.Errorf("%w: a database in a log has no file to adopt: the log says which database it is",
			ErrInvalid)
	case !tx.Writable():
		return nil, file.ErrReadOnly
	}
	if err := users.RolesOf(tx.k).Permit(Owners, "adopt"); err != nil {
		return nil, err
	}
	if err := tx.k.Adopt(); err != nil || noHold {
		return nil, tx.k.Spoil(err)
	}
	held, err = holdUncertain(tx)
	return held, tx.k.Spoil(err)
}

// holdUncertain holds the jobs that may have run without the database knowing. One that is being executed goes on; with
// its reason it is held if its attempt turns out to be lost.
func holdUncertain(tx *Tx) (held []uint64, err error) {
	err = tx.k.EachJob(func(j *row.Job) error {
		s := jobs.Step{To: JobHeld, Reason: row.Because(row.CauseRestored, ReasonRestored), Leaving: jobs.NeverTold}
		switch {
		case !j.Queued:
			return nil
		case j.State == JobRunning && !j.ToLaunch():
			s.To = JobRunning
		default:
			held = append(held, j.ID)
		}
		return jobs.MachineOf(tx.k).Do(j, s)
	}, JobQueued, JobReserved, JobRunning)
	if err != nil {
		return nil, fmt.Errorf("holding what may have run since: %w", err)
	}
	return held, nil
}

// replaced is what Restore needs to know of the database that it replaces.
type replaced struct {
	owner   uint32   // else the restoring user
	running []uint64 // jobs
	begun   []time.Time
	next    uint64 // the number of its next job
}

// wasAt reads the database at a path. If it cannot be read, the owner on disk is its owner; if there is none, it is
// this process's user.
func wasAt(path string, opt Options) (was replaced) {
	_, owner, err := kernel.OnDisk(path)
	if err != nil {
		return replaced{owner: uint32(os.Getuid())}
	}
	was.owner = owner
	if db, err := Open(path, &opt); err == nil {
		defer db.Close()
		_ = db.View(func(tx *Tx) error { // what cannot be read stays unknown
			if uid, known, err := users.RolesOf(tx.k).Owner(); err == nil && known {
				was.owner = uid
			}
			was.next = tx.k.State.NextJob
			return tx.k.EachJob(func(j *row.Job) error {
				if j.HasCommand() {
					was.running, was.begun = append(was.running, j.ID), append(was.begun, kernel.Instant(j.Submit))
				}
				return nil
			}, JobRunning)
		})
	}
	return was
}

// goOn finds the jobs that run and are not in the restored database, and has its numbers go on behind those of the
// replaced one: programs and output files know jobs by their numbers.
func (out *Restored) goOn(tx *Tx, force bool) error {
	out.Running = nil
	for i, id := range out.was.running {
		j, err := tx.Jobs().Get(id)
		if errors.Is(err, ErrNotFound) || err == nil && !j.Submit.Equal(out.was.begun[i]) {
			out.Running = append(out.Running, id)
		} else if err != nil {
			return err
		}
	}
	if len(out.Running) > 0 && !force {
		return &Conflict{What: "the database",
			Why: fmt.Sprintf("jobs of it run and are not in the backup: %v; they would go on, and their ends not "+
				"be recorded", out.Running)}
	}
	tx.k.State.NextJob = max(tx.k.State.NextJob, out.was.next)
	return nil
}
