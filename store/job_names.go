package store

import (
	"github.com/placectl/placectl/store/internal/row"
)

// JobsNamed finds the live jobs of a name, by number; if there is none, the job of that name
// that ended last, with the other elements of its array. It reads every live job.
func (tx *Tx) JobsNamed(name string) (list []*Job, err error) {
	err = tx.eachNamed(name, func(j *row.Job) { list = append(list, jobOf(j)) }, JobHeld, JobQueued, JobReserved, JobRunning)
	if len(list) > 0 || err != nil {
		return list, err
	}
	var last *row.Job
	later := func(j *row.Job) {
		if last == nil || j.End > last.End || j.End == last.End && j.ID > last.ID {
			last = j
		}
	}
	if err := tx.eachNamed(name, later, JobFinished, JobFailed, JobCancelled); last == nil || err != nil {
		return nil, err
	}
	if last.Array == 0 {
		return []*Job{jobOf(last)}, nil
	}
	return tx.ArrayJobs(last.Array)
}

// eachNamed goes through the jobs of a name that are in one of some states.
func (tx *Tx) eachNamed(name string, fn func(*row.Job), states ...JobState) error {
	return tx.eachJobRow(func(key, payload []byte) error {
		var v row.JobView
		if err := v.Open(key, payload); err != nil {
			return err
		}
		if is, err := v.Text(row.JobNameText); string(is) != name || err != nil {
			return err
		}
		j, err := row.DecodeJob(key, payload)
		if err == nil {
			fn(j)
		}
		return err
	}, states)
}
