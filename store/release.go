package store

import (
	"fmt"
	"strconv"
)

// Release ends a running job now and gives its nodes back. It fails with a
// Conflict when the job does not run.
func (tx *Tx) Release(id uint64) (*Job, error) {
	if !tx.Writable() {
		return nil, ErrReadOnly
	}
	j, err := tx.Job(id)
	if err != nil {
		return nil, err
	}
	if j.State != JobRunning {
		return nil, &Conflict{"job " + strconv.FormatUint(id, 10), "it is " + j.State.String() + ", not running"}
	}
	owner := jobOwner(id)
	nodes := j.NodeNumbers()
	for _, n := range nodes {
		if err := tx.Calendar().Remove(n, owner); err != nil {
			return nil, fmt.Errorf("%w: %v", ErrDamaged, err)
		}
	}
	if err := tx.reclass(nodes); err != nil {
		return nil, err
	}
	if err := tx.remove(tableEndings, timeKey(j.End, owner)); err != nil {
		return nil, err
	}
	j.State, j.End = JobFinished, tx.now
	return j, tx.putJob(j, JobRunning)
}
