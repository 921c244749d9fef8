package store

import "github.com/placectl/placectl/store/internal/row"

// jobOf is a job as callers get it.
func jobOf(j *row.Job) *Job {
	return &Job{
		ID: j.ID, State: j.State, Name: j.Name, User: j.User, Account: j.Account, Queue: j.Queue, Class: j.Class, Key: j.Key,
		Select: j.Select, Place: j.Place, Path: j.Path, Policy: j.Policy, Set: j.Set, Reason: j.Reason, Walltime: lasting(j.Walltime),
		Submit: instant(j.Submit), Start: instant(j.Start), End: instant(j.End),
		Chunks: converted(j.Chunks, chunkOf),
		Along:  j.Along, Group: j.Group, Access: j.Access, Reservation: j.Reservation, Prefer: j.Prefer, NoPolicy: j.NoPolicy,
		Queued: j.Queued, Attended: j.Attended, NoRequeue: j.NoRequeue, Launched: j.Launched, Never: j.Never, Priority: j.Priority,
		Begin: instant(j.Begin), Deadline: instant(j.Deadline), After: converted(j.After, func(d row.Dependency) Dependency { return Dependency(d) }),
		Array: j.Array, Index: j.Index, Command: j.Command, Exit: j.Exit, Failures: j.Failures, Payload: j.Payload, Bind: j.Bind,
		Devices: converted(j.Devices, func(d row.JobDevices) JobDevices { return JobDevices(d) }),
		Attempt: j.CurrentAttempt(), Claimed: j.Claimed, Ending: j.Ending, Retried: j.Retried, Unbegun: j.Unbegun, Lost: j.Lost, Excluded: j.Excluded,
	}
}

// row is the job's row.
func (j *Job) row() row.Job {
	return row.Job{
		ID: j.ID, State: j.State, Name: j.Name, User: j.User, Account: j.Account, Queue: j.Queue, Class: j.Class, Key: j.Key,
		Select: j.Select, Place: j.Place, Path: j.Path, Policy: j.Policy, Set: j.Set, Reason: j.Reason, Walltime: seconds(j.Walltime),
		Submit: unix(j.Submit), Start: unix(j.Start), End: unix(j.End),
		Chunks: converted(j.Chunks, func(c JobChunk) row.JobChunk {
			return row.JobChunk{Count: c.Count, Nodes: converted(c.Nodes, func(n JobNode) row.JobNode { return row.JobNode(n) })}
		}),
		Along: j.Along, Group: j.Group, Access: j.Access, Reservation: j.Reservation, Prefer: j.Prefer, NoPolicy: j.NoPolicy,
		Queued: j.Queued, Attended: j.Attended, NoRequeue: j.NoRequeue, Launched: j.Launched, Never: j.Never, Priority: j.Priority,
		Begin: unix(j.Begin), Deadline: unix(j.Deadline), After: dependencies(j.After),
		Array: j.Array, Index: j.Index, Command: j.Command, Exit: j.Exit, Failures: j.Failures, Payload: j.Payload, Bind: j.Bind,
		Devices: converted(j.Devices, func(d JobDevices) row.JobDevices { return row.JobDevices(d) }),
		Attempt: j.Attempt, Claimed: j.Claimed, Ending: j.Ending, Retried: j.Retried, Unbegun: j.Unbegun, Lost: j.Lost, Excluded: j.Excluded,
	}
}

// dependencies are dependencies as rows hold them.
func dependencies(list []Dependency) []row.Dependency {
	return converted(list, func(d Dependency) row.Dependency { return row.Dependency(d) })
}

// converted makes another list of one, nil of an empty one.
func converted[A, B any](list []A, of func(A) B) []B {
	if len(list) == 0 {
		return nil
	}
	out := make([]B, len(list))
	for i, v := range list {
		out[i] = of(v)
	}
	return out
}

// jobResult is a job as callers get it, unless something has failed.
func jobResult(j *row.Job, err error) (*Job, error) {
	if err != nil {
		return nil, err
	}
	return jobOf(j), nil
}

// jobsResult is the same of several.
func jobsResult(list []*row.Job, err error) ([]*Job, error) {
	if err != nil {
		return nil, err
	}
	return converted(list, jobOf), nil
}
