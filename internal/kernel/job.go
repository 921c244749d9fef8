package kernel

import (
	"errors"
	"iter"
	"time"

	"github.com/placectl/placectl/internal/row"
)

// Job is a job.
type Job struct {
	row.JobFacts
	row.JobTimes[time.Time, time.Duration]
}

// Why returns the job's Reason, and says so if it is ending.
func (j *Job) Why() string { return Why(j.Ending, j.Reason.String()) }

// Shown returns the state of a job as people see it: after STOP, a job is paused.
func (j *Job) Shown() string {
	if j.Paused && j.State == row.JobRunning {
		return "paused"
	}
	return j.State.String()
}

func Why(ending bool, reason string) string {
	switch {
	case !ending:
		return reason
	case reason == "":
		return "ending"
	}
	return "ending: " + reason
}

// JobOf converts a row to a job.
func JobOf(j *row.Job) *Job {
	out := &Job{j.JobFacts, row.TimesOf(&j.JobTimes, Instant, Lasting)}
	ownLists(&out.JobFacts)
	out.Attempt = j.CurrentAttempt()
	return out
}

// Row converts the job to a row.
func (j *Job) Row() row.Job {
	out := row.Job{JobFacts: j.JobFacts, JobTimes: row.TimesOf(&j.JobTimes, Unix, Seconds)}
	ownLists(&out.JobFacts)
	return out
}

// ownLists copies the lists of a job that the next row read may overwrite.
func ownLists(f *row.JobFacts) {
	f.Chunks, f.After, f.Devices = copiedChunks(f.Chunks), copied(f.After), copied(f.Devices)
}

// copied returns a copy of a list, or nil if it is empty.
func copied[T any](list []T) []T { return Converted(list, func(v T) T { return v }) }

// copiedChunks copies chunks with their lists of nodes.
func copiedChunks(list []row.JobChunk) []row.JobChunk {
	return Converted(list, func(c row.JobChunk) row.JobChunk {
		return row.JobChunk{Count: c.Count, Nodes: copied(c.Nodes)}
	})
}

// Converted applies of to each element of a list. It returns nil for an empty list.
func Converted[A, B any](list []A, of func(A) B) []B {
	if len(list) == 0 {
		return nil
	}
	out := make([]B, len(list))
	for i, v := range list {
		out[i] = of(v)
	}
	return out
}

// errStop ends a loop over rows.
var errStop = errors.New("the loop has ended")

// Seq iterates over what a function calls another with, as of converts it. An error is the last that it yields.
func Seq[E, T any](list func(func(E) error) error, of func(E) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		err := list(func(e E) error {
			v, err := of(e)
			if err == nil && !yield(v, nil) {
				err = errStop
			}
			return err
		})
		if err != nil && err != errStop {
			var none T
			yield(none, err)
		}
	}
}

// JobResult converts a row to a job, unless err is set.
func JobResult(j *row.Job, err error) (*Job, error) {
	if err != nil {
		return nil, err
	}
	return JobOf(j), nil
}

// JobsResult does the same for several jobs.
func JobsResult(list []*row.Job, err error) ([]*Job, error) {
	if err != nil {
		return nil, err
	}
	return Converted(list, JobOf), nil
}

// All state changes of a job go through one function, Machine.Do, whether a verb, the clock, a
// cycle or a report causes them. It always takes the same steps, as far as the change needs
// them:
//
//	leave  the use of its nodes counts, its attempt ends, a launcher is told to stop it, and
//	       its nodes, counters and instants are given back
//	change what it asks for
//	enter  it gets nodes, counters and devices, all of them verified
//	put    its row, the indexes that follow from it, and the event
//
// docs/states.md has the table of changes and their causes.

// Stage is a phase of a job's life.
type Stage uint8

const (
	Unborn  Stage = iota
	Waits         // held, queued or late: it has no nodes
	Planned       // it has nodes from a future instant on
	Runs
	Over
)

var Stages = map[row.JobState]Stage{0: Unborn, row.JobHeld: Waits, row.JobQueued: Waits, row.JobLate: Waits,
	row.JobReserved: Planned,
	row.JobRunning:  Runs, row.JobFinished: Over, row.JobFailed: Over, row.JobCancelled: Over}
