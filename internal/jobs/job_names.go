package jobs

import (
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
)

// Named returns the live jobs with a name, by number. If there are none, or past is true, it adds those ended ones that
// had not ended when the last of all was submitted, because what a script submits under one name goes on together, with
// the rest of their arrays. A job that retry has made anew is not among them. It reads every live job.
func (js Jobs) Named(name string, past bool) (list []*kernel.Job, err error) {
	var last *row.Job
	again := make(map[uint64]bool)
	see := func(j *row.Job) {
		if again[j.RetryOf] = true; last == nil || j.ID > last.ID {
			last = j
		}
	}
	err = eachNamed(js.tx, name, func(j *row.Job) { see(j); list = append(list, kernel.JobOf(j)) }, row.JobHeld,
		row.JobQueued, row.JobReserved, row.JobRunning)
	if len(list) > 0 && !past || err != nil {
		return list, err
	}
	var ended []*row.Job
	err = eachNamed(js.tx, name, func(j *row.Job) { see(j); ended = append(ended, j) }, row.JobFinished, row.JobFailed,
		row.JobCancelled)
	arrays := make(map[uint64]bool)
	for _, j := range list {
		arrays[j.Array] = j.Array != 0
	}
	for _, j := range ended {
		if j.End >= last.Submit {
			arrays[j.Array] = j.Array != 0
		}
	}
	for _, j := range ended {
		if (j.End >= last.Submit || arrays[j.Array]) && !again[j.ID] {
			list = append(list, kernel.JobOf(j))
		}
	}
	return list, err
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
