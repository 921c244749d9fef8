package store

import (
	"fmt"
	"strconv"

	"github.com/placectl/placectl/timeline"
)

// Extend gives a running or planned job another walltime, in seconds from its
// start. It fails with a Conflict when the job has ended, would have ended by
// now, or one of its nodes is wanted by somebody else before the new end.
func (tx *Tx) Extend(id uint64, walltime int64) (*Job, error) {
	if !tx.Writable() {
		return nil, ErrReadOnly
	}
	j, err := tx.Job(id)
	if err != nil {
		return nil, err
	}
	what := "job " + strconv.FormatUint(id, 10)
	if walltime < 1 || walltime > maxWalltime {
		return nil, fmt.Errorf("%w walltime of %d s: it must be from 1 s to %d s", ErrInvalid, walltime, maxWalltime)
	}
	if j.State == JobRunning && j.Start+walltime <= tx.now {
		return nil, &Conflict{what, fmt.Sprintf("it would have ended at %s already; release it instead", stamp(j.Start+walltime))}
	}
	if j.State == JobRunning || j.State == JobReserved {
		for _, n := range j.NodeNumbers() {
			if err := tx.inTheWay(what, n, j.Start, j.Start+walltime, jobOwner(id)); err != nil {
				return nil, err
			}
		}
	}
	was := j.State
	if err := tx.vacate(j); err != nil {
		return nil, err
	}
	j.Walltime, j.End = walltime, j.Start+walltime
	return j, tx.spoil(tx.takeAgain(j, was))
}

// takeAgain puts a job back on its nodes for its new time.
func (tx *Tx) takeAgain(j *Job, was JobState) error {
	owner := jobOwner(j.ID)
	for _, n := range j.NodeNumbers() {
		if err := tx.Calendar().Add(n, timeline.Busy{Start: j.Start, End: j.End, Owner: owner, Held: true}); err != nil {
			return err
		}
	}
	if err := tx.reclass(j.NodeNumbers()); err != nil {
		return err
	}
	if was == JobReserved {
		if err := tx.mark(tableChanges, timeKey(j.Start, owner)); err != nil {
			return err
		}
	}
	if err := tx.mark(tableEndings, timeKey(j.End, owner)); err != nil {
		return err
	}
	return tx.putJob(j, was)
}
