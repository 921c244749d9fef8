package jobs

import (
	"cmp"
	"slices"

	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
)

// Named returns the live jobs with a name, by number. If there are none, it returns the job with that name that ended
// last, and those that had not ended when it was submitted: what a script has submitted under one name goes on
// together. It reads every live job.
func (js Jobs) Named(name string) (list []*kernel.Job, err error) {
	err = eachNamed(js.tx, name, func(j *row.Job) { list = append(list, kernel.JobOf(j)) }, row.JobHeld, row.JobQueued,
		row.JobReserved, row.JobRunning)
	if len(list) > 0 || err != nil {
		return list, err
	}
	var ended []*row.Job
	err = eachNamed(js.tx, name, func(j *row.Job) { ended = append(ended, j) }, row.JobFinished, row.JobFailed,
		row.JobCancelled)
	if len(ended) == 0 || err != nil {
		return nil, err
	}
	last := slices.MaxFunc(ended, func(a, b *row.Job) int {
		return cmp.Or(cmp.Compare(a.End, b.End), cmp.Compare(a.ID, b.ID))
	})
	for _, j := range ended {
		if j.End >= last.Submit {
			list = append(list, kernel.JobOf(j))
		}
	}
	return list, nil
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
