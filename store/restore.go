package store

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/placectl/placectl/store/internal/access"
	"github.com/placectl/placectl/store/internal/kernel"
	"github.com/placectl/placectl/store/internal/row"
)

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
			if uid, known, err := access.RolesOf(tx.k).Owner(); err == nil && known {
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
		return &Conflict{What: "the database", Why: fmt.Sprintf("jobs of it run and are not in the backup: %v; they would go on, and their ends not be recorded", out.Running)}
	}
	tx.k.State.NextJob = max(tx.k.State.NextJob, out.was.next)
	return nil
}
