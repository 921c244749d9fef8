package store

import (
	"fmt"
	"iter"
	"time"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/placer"
)

// Place places a request now, and starts it as a job. If that is impossible now, the error is a
// *placer.Refusal, which says why and from when on it would fit. A job that is not ended in time keeps its
// nodes, unless the setting overdue is finish: then the next Cycle ends it. Each user may place for that user.
func (tx *Tx) Place(r placer.Request) (*Job, error) { return tx.job(tx.tx.Jobs().Place(r)) }

// PlaceAt places a request for an instant, now or later. The job starts by the clock.
func (tx *Tx) PlaceAt(r placer.Request, start time.Time) (*Job, error) {
	return tx.job(tx.tx.Jobs().PlaceAt(r, start))
}

// PlaceEarliest places a request at its earliest start, now or later.
func (tx *Tx) PlaceEarliest(r placer.Request) (*Job, error) {
	return tx.job(tx.tx.Jobs().PlaceOrReserve(r))
}

// Submit puts a job, or an array of jobs, into the queue. Each user may submit for that user; a positive Priority needs
// the rights of an operator. It fails with placer.ErrNever for what no nodes could serve if the setting accept says so.
func (tx *Tx) Submit(s Submission) (*Submitted, error) {
	below, err := submissionOf(&s)
	if err != nil {
		return nil, err
	}
	list, err := tx.tx.Jobs().Submit(below)
	if err != nil {
		return nil, err
	}
	return &Submitted{Array: list[0].Array, First: list[0].ID, Count: len(list)}, nil
}

// Submitted says what was made. An array has a number of its own; its Count jobs follow First.
type Submitted struct {
	Array uint64 // 0: a single job
	First uint64 // the job, or the array's first element
	Count int
}

// Job returns a job by its number, or an ErrNotFound.
func (tx *Tx) Job(id uint64) (*Job, error) { return tx.job(tx.tx.Jobs().Get(id)) }

// Jobs iterates over the jobs by number: all, or those in one of the states. The loop may change
// jobs.
func (tx *Tx) Jobs(states ...JobState) iter.Seq2[*Job, error] {
	var in []engine.JobState
	for _, s := range engine.JobStates() {
		for _, want := range states {
			if s.String() == string(want) {
				in = append(in, s)
			}
		}
	}
	list := func(fn func(*engine.Job) error) error {
		if len(states) > 0 && len(in) == 0 {
			return nil
		}
		return tx.tx.Jobs().Each(fn, in...)
	}
	return kernel.Seq(list, func(j *engine.Job) (*Job, error) { return tx.job(j, nil) })
}

// Array returns the jobs of an array by its number.
func (tx *Tx) Array(number uint64) ([]*Job, error) { return tx.jobs(tx.tx.Jobs().Array(number)) }

// Payload returns what a job carries, or nil. Only the job's user, its submitter and the owner of the database may read
// it.
func (tx *Tx) Payload(id uint64) (*Payload, error) {
	j, err := tx.tx.Jobs().Get(id)
	if err != nil {
		return nil, err
	}
	sees, err := tx.tx.Roles().Sees(j)
	if err == nil && !sees {
		err = fmt.Errorf("%w: what job %d carries is for %s", ErrNotPermitted, id, j.User)
	}
	if err != nil {
		return nil, err
	}
	p, err := tx.tx.Jobs().Payload(id)
	if p == nil || err != nil {
		return nil, err
	}
	return payloadOf(p), nil
}

// Alter changes a job that waits; of a running one its name, comment, priority and walltime. Nil fields stay. A
// planned job is planned anew. It fails with a Conflict if the job has ended. Each user may alter that user's
// jobs; only they may change what a job carries.
func (tx *Tx) Alter(id uint64, a Alteration) (*Job, error) {
	below, err := alterationOf(&a)
	if err != nil {
		return nil, err
	}
	return tx.job(tx.tx.Jobs().Alter(id, below))
}

// Extend gives a job another walltime, counted from its start. It fails with a Conflict if its nodes are planned for
// others by then. Each user may shorten that user's jobs; to make a running one longer needs the rights of an operator.
func (tx *Tx) Extend(id uint64, walltime time.Duration) (*Job, error) {
	return tx.job(tx.tx.Jobs().Extend(id, walltime))
}

// Hold keeps a waiting job from starting until Unhold. Each user may hold that user's jobs.
func (tx *Tx) Hold(id uint64, reason string) (*Job, error) {
	return tx.job(tx.tx.Jobs().Hold(id, reason))
}

// Unhold releases a held job. Each user may release that user's jobs, unless an operator holds them.
func (tx *Tx) Unhold(id uint64) (*Job, error) { return tx.job(tx.tx.Jobs().Unhold(id)) }

// Cancel ends a job that has not ended. If a process executes its command, the job is first Ending, and
// keeps its nodes until nothing of it runs. Each user may cancel that user's jobs.
func (tx *Tx) Cancel(id uint64, reason string) (*Job, error) {
	return tx.job(tx.tx.Jobs().Cancel(id, reason))
}

// Release ends a running job as finished, or gives up a planned one. See Cancel for Ending and rights.
func (tx *Tx) Release(id uint64) (*Job, error) { return tx.job(tx.tx.Jobs().Release(id)) }

// Requeue takes a running job off its nodes and queues it again, held or not. See Cancel for Ending and rights.
func (tx *Tx) Requeue(id uint64, reason string, held bool) (*Job, error) {
	if held {
		return tx.job(tx.tx.Jobs().RequeueHeld(id, reason))
	}
	return tx.job(tx.tx.Jobs().Requeue(id, reason))
}

// Finish ends a running job whose command has exited with a status from 0 to 255: with 0 it has finished, else failed.
// Each user may finish that user's jobs; those that a process has claimed end by attempts.End.
func (tx *Tx) Finish(id uint64, status int, reason string) (*Job, error) {
	return tx.job(tx.tx.Jobs().Finish(id, status, reason))
}

// Retry submits ended jobs again, as new jobs. Each user may retry that user's jobs.
func (tx *Tx) Retry(ids ...uint64) ([]*Job, error) { return tx.jobs(tx.tx.Jobs().Retry(ids, nil)) }

// job converts a job, unless err is set.
func (tx *Tx) job(j *engine.Job, err error) (*Job, error) {
	if err != nil {
		return nil, err
	}
	out := &Job{ID: j.ID, Request: j.Request(), State: JobState(j.State.String()), Reason: reasonOf(j.Reason),
		Ending: j.Ending, Never: j.Never, Set: j.Set, Attempt: j.Attempt, Exit: j.Exit, Submit: j.Submit,
		Start: j.Start, End: j.End, Begin: j.Begin, Deadline: j.Deadline, Promised: j.Promised, Priority: j.Priority,
		Array: j.Array, Index: j.Index, Command: j.Command, Line: j.Line, Comment: j.Comment, Key: j.Key,
		NoRequeue: j.NoRequeue, RetryOf: j.RetryOf, PreemptedFor: j.YieldedTo}
	out.Request.Walltime = j.Walltime
	for _, d := range j.After {
		out.After = append(out.After, Dependency{d.When.String(), d.Job})
	}
	if out.Nodes, err = tx.tx.Nodes().Names(j.NodeNumbers()); err != nil {
		return nil, err
	}
	held := make(map[uint32]string)
	if len(j.Devices) > 0 {
		list, err := tx.tx.Devices().HeldBy(j)
		if err != nil {
			return nil, err
		}
		for _, d := range list {
			if held[d.Node] != "" {
				held[d.Node] += ","
			}
			held[d.Node] += d.Resource + "=" + d.Devices.String()
		}
	}
	names := out.Nodes
	for _, c := range j.Chunks {
		parts := make([]Part, len(c.Nodes))
		for i, n := range c.Nodes {
			parts[i] = Part{names[i], n.Chunks, n.Shared, held[n.Node]}
		}
		out.Chunks, names = append(out.Chunks, parts), names[len(c.Nodes):]
	}
	return out, nil
}

func (tx *Tx) jobs(list []*engine.Job, err error) ([]*Job, error) {
	return listed(list, err, func(j *engine.Job) (*Job, error) { return tx.job(j, nil) })
}
