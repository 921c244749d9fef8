package store

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/placectl/placectl/store/internal/row"
)

// Release ends a running job now, or gives up a planned one, and gives its nodes
// back, one whose command is executed once it has ended, as in Cancel. It fails with a Conflict when the job has ended already.
func (tx *Tx) Release(id uint64) (*Job, error) {
	if !tx.Writable() {
		return nil, ErrReadOnly
	}
	j, err := tx.job(id)
	if err != nil {
		return nil, err
	}
	if isExecuted(j) {
		return jobResult(j, tx.spoil(tx.endsAs(j, JobFinished, "released")))
	}
	was := j.State
	if was == JobRunning {
		if err := errors.Join(tx.loaded.usage.accrue(j), tx.endAttempt(j, false, nil)); err != nil {
			return nil, err
		}
	}
	if err := tx.vacate(j); err != nil {
		return nil, err
	}
	if j.State = JobFinished; was == JobReserved {
		j.State = JobCancelled
		j.Unplace()
	}
	j.End = tx.now
	return jobResult(j, tx.putJob(j, was))
}

// vacate takes a job off its nodes, for others to have them.
func (tx *Tx) vacate(j *row.Job) error {
	if err := tx.leave(j); err != nil {
		return err
	}
	tx.loaded.freed.on(j.AllNodes())
	return nil
}

// leave takes a job off its nodes, to put it on others or back.
func (tx *Tx) leave(j *row.Job) error {
	if j.State != JobRunning && j.State != JobReserved {
		return &Conflict{"job " + strconv.FormatUint(j.ID, 10), "it is " + j.State.String() + ", not running"}
	}
	owner := row.JobOwner(j.ID)
	nodes := j.AllNodes()
	for _, n := range nodes {
		if err := tx.calendar().Remove(n, owner); err != nil {
			return tx.spoil(fmt.Errorf("%w: %v", ErrDamaged, err))
		}
	}
	if err := tx.reclass(nodes, j.Start); err != nil {
		return tx.spoil(err)
	}
	if j.State == JobReserved {
		if err := tx.file.Remove(row.Changes, row.TimeKey(j.Start, owner)); err != nil {
			return err
		}
	}
	return tx.loaded.releases.remove(j.End, owner)
}
