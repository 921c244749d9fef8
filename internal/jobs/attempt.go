package jobs

import (
	"fmt"

	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/row"
)

// Get returns one of a job's attempts; 0 means the current or last one. It fails with ErrNotFound
// if there is no such job or attempt.
func (as Attempts) Get(job uint64, number int) (*kernel.Attempt, error) {
	j, err := as.tx.Job(job)
	if err != nil {
		return nil, err
	}
	if number == 0 {
		number = j.CurrentAttempt()
	}
	if number < 1 || number > j.CurrentAttempt() {
		return nil, row.Missing("attempt", fmt.Sprintf("%d.%d", job, number))
	}
	a, err := withDevices(as.tx, j, number)
	if err != nil {
		return nil, err
	}
	return kernel.AttemptOf(a), nil
}

// Each calls fn for the attempts of a job, or of all jobs for 0, by job and number, until fn fails.
func (as Attempts) Each(job uint64, fn func(*kernel.Attempt) error) error {
	each := func(j *row.Job) error {
		for number := 1; number <= j.CurrentAttempt(); number++ {
			a, err := withDevices(as.tx, j, number)
			if err == nil {
				err = fn(kernel.AttemptOf(a))
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	if job == 0 {
		return as.tx.EachJob(each)
	}
	j, err := as.tx.Job(job)
	if err != nil {
		return err
	}
	return each(j)
}

// withDevices adds the devices to an attempt that has not ended.
func withDevices(tx *kernel.Tx, j *row.Job, number int) (*row.Attempt, error) {
	a, err := tx.Attempts().Of(j, number)
	if err == nil && number == j.CurrentAttempt() && len(j.Devices) > 0 {
		a.Devices, err = plan.JobDevices(tx, kernel.JobOf(j))
	}
	return a, err
}

// keepDevices records the devices of a job's last attempt if that was never claimed.
func keepDevices(tx *kernel.Tx, j *row.Job, number int) error {
	began, err := tx.Attempts().Began(j, number)
	if err != nil {
		return err
	}
	held, err := plan.JobDevices(tx, kernel.JobOf(j))
	if err != nil {
		return err
	}
	return tx.Attempts().Put(
		&row.Attempt{AttemptFacts: row.AttemptFacts{Job: j.ID, Number: number, State: row.AttemptEnded, Devices: held},
			Began: began, Ended: tx.Instant()})
}

// end records that the current attempt of a job has ended; how fills in the outcome. If the
// job continues without its nodes, the attempt records them. For an unclaimed last attempt the
// job's own row is enough, except for the devices.
func end(tx *kernel.Tx, j *row.Job, goesOn bool, how func(*row.Attempt)) error {
	number := j.CurrentAttempt()
	if number == 0 {
		return nil
	}
	if j.EndsByClock() {
		if err := tx.File.Remove(row.Changes, row.TimeKey(j.End, row.JobOwner(j.ID))); err != nil {
			return err
		}
	}
	if !goesOn && !j.Claimed && !j.Launched {
		if len(j.Devices) > 0 {
			return keepDevices(tx, j, number)
		}
		return nil
	}
	j.Attempt = number
	a, err := withDevices(tx, j, number)
	if err != nil || a.State == row.AttemptEnded {
		return err
	}
	a.State, a.Ended = row.AttemptEnded, tx.Instant()
	if a.Outcome == row.OutcomeNone {
		a.Outcome = row.OutcomeStopped
		if a.By == row.ByNobody && !j.Launched {
			a.Outcome = row.OutcomeUnbegun
		}
	}
	if how != nil {
		how(a)
	}
	if !goesOn {
		a.Chunks, a.Along = nil, nil
	}
	j.Claimed, j.Ending, j.Paused = false, false, false
	return tx.Attempts().Put(a)
}

// RemoveAttempts deletes the attempts of a job that is being deleted.
func RemoveAttempts(tx *kernel.Tx, job uint64) error {
	var keys [][]byte
	err := tx.File.Each(row.Attempts, row.Key64(job), func(key, _ []byte) (bool, error) {
		keys = append(keys, append([]byte(nil), key...))
		return true, nil
	})
	for _, key := range keys {
		if err == nil {
			err = tx.Loaded.Attempts.Remove(key)
		}
	}
	return err
}
