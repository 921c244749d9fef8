package jobs

import (
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
)

// Named returns the live jobs with a name, by number. If there are none, it returns the job with
// that name that ended last, with the other elements of its array. It reads every live job.
func (js Jobs) Named(name string) (list []*kernel.Job, err error) {
	err = eachNamed(js.tx, name, func(j *row.Job) { list = append(list, kernel.JobOf(j)) }, row.JobHeld, row.JobQueued,
		row.JobReserved, row.JobRunning)
	if len(list) > 0 || err != nil {
		return list, err
	}
	var last *row.Job
	later := func(j *row.Job) {
		if last == nil || j.End > last.End || j.End == last.End && j.ID > last.ID {
			last = j
		}
	}
	if err := eachNamed(js.tx, name, later, row.JobFinished, row.JobFailed, row.JobCancelled); last == nil ||
		err != nil {
		return nil, err
	}
	if last.Array == 0 {
		return []*kernel.Job{kernel.JobOf(last)}, nil
	}
	return JobsOf(js.tx).Array(last.Array)
}

// eachNamed calls fn for the jobs with a name that are in one of the given states.
func eachNamed(tx *kernel.Tx, name string, fn func(*row.Job), states ...row.JobState) error {
	return tx.EachJobRow(func(key, payload []byte) error {
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
