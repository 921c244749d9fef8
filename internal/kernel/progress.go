package kernel

import (
	"errors"

	"github.com/placectl/placectl/internal/row"
)

// ErrUnmet says that a dependency can no longer be met.
var ErrUnmet = errors.New("cannot be met")

// Progress is how far a job has come, or all jobs of an array together. An array has started, or ended,
// once all its jobs have, and has failed as soon as one has.
type Progress struct {
	State   row.JobState
	Started bool
	Skipped bool // it, or a job of it, has ended without a start
	Ended   bool
	Failed  bool // it, or a job of it, has failed or was cancelled

	Bad *row.Job // of an array: the first job that was skipped or has failed
}

// Met reports whether a dependency is met. The error is ErrUnmet if it never will be.
func (p Progress) Met(when row.When) (bool, error) {
	switch {
	case when == row.After && p.Skipped, when == row.AfterOK && p.Failed, when == row.AfterNotOK && p.Ended &&
		!p.Failed:
		return false, ErrUnmet
	case when == row.After:
		return p.Started, nil
	}
	return p.Ended, nil
}

// JobProgress returns how far a job has come.
func JobProgress(j *row.Job) Progress {
	ended := !j.State.Live()
	started := j.Start != 0 && (j.State == row.JobRunning || ended && j.Start <= j.End)
	return Progress{State: j.State, Started: started, Skipped: ended && !started, Ended: ended,
		Failed: ended && j.State != row.JobFinished}
}

// Progress returns how far the job or array of a dependency has come.
func (tx *Tx) Progress(d row.Dependency) (Progress, error) {
	key := row.Key64(d.Job)
	payload, err := tx.Loaded.Jobs.Read(key)
	if err != nil {
		return Progress{}, err
	}
	if payload == nil {
		return tx.arrayProgress(d)
	}
	j, err := row.DecodeJob(key, payload)
	if err != nil {
		return Progress{}, err
	}
	return JobProgress(j), nil
}

// arrayStates are the states of jobs. The first that a job of an array is in is the state of the array.
var arrayStates = [...]row.JobState{row.JobRunning, row.JobReserved, row.JobLate, row.JobQueued, row.JobHeld,
	row.JobFailed, row.JobCancelled, row.JobFinished}

// arrayProgress reads one job of each state, because an array may have many, and only as long as the
// dependency is not decided: one that failed decides afterok, and one that lives all but after, which alone
// asks which jobs ended without a start.
func (tx *Tx) arrayProgress(d row.Dependency) (Progress, error) {
	p := Progress{Started: true, Ended: true}
	states := arrayStates[:]
	if d.When == row.AfterOK {
		states = append([]row.JobState{row.JobFailed, row.JobCancelled}, states...)
	}
	for _, s := range states {
		some, skipped, bad := false, false, s == row.JobFailed || s == row.JobCancelled
		err := tx.eachOfArray(d.Job, s, func(j *row.Job) (more bool) {
			some, skipped = true, JobProgress(j).Skipped
			if bad && (p.Bad == nil || skipped) {
				p.Bad = j
			}
			return d.When == row.After && bad && !skipped
		})
		if err != nil {
			return p, err
		}
		if !some {
			continue
		}
		if p.State == 0 {
			p.State = s
		}
		p.Started = p.Started && (s == row.JobRunning || !s.Live()) && !skipped
		p.Skipped = p.Skipped || skipped
		p.Ended = p.Ended && !s.Live()
		p.Failed = p.Failed || bad
		if d.When != row.After && (s.Live() || bad && d.When == row.AfterOK) {
			return p, nil
		}
	}
	if p.State == 0 {
		return p, row.LostJob(d.Job)
	}
	return p, nil
}

// eachOfArray calls fn for the jobs of an array in a state by number, until it returns false.
func (tx *Tx) eachOfArray(array uint64, s row.JobState, fn func(*row.Job) (more bool)) error {
	return tx.File.EachFrom(row.JobStates, row.JobStateKey(s, array), []byte{byte(s)},
		func(key, _ []byte) (bool, error) {
			j, err := tx.ListedJob(row.Number64(key[1:]))
			if err != nil || j.Array != array {
				return false, err
			}
			return fn(j), nil
		})
}

// ArrayLives reports whether a job of an array has not ended.
func (tx *Tx) ArrayLives(array uint64) (lives bool, err error) {
	for _, s := range arrayStates {
		if s.Live() && !lives && err == nil {
			err = tx.eachOfArray(array, s, func(*row.Job) bool { lives = true; return false })
		}
	}
	return lives, err
}
