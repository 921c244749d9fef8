package row

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/placectl/placectl/placer"
)

// JobState is the state of a job. The numbers are on disk and must not change.
type JobState uint8

// The states of a job.
const (
	JobHeld      JobState = 1
	JobQueued    JobState = 2
	JobReserved  JobState = 3 // it has a planned start
	JobRunning   JobState = 4
	JobFinished  JobState = 5
	JobFailed    JobState = 6
	JobCancelled JobState = 7
	JobLate      JobState = 8 // in no file: it could not start as planned, and a reader makes no plans
)

var jobStateNames = [...]string{JobHeld: "held", JobQueued: "queued", JobReserved: "reserved", JobRunning: "running",
	JobFinished: "finished", JobFailed: "failed", JobCancelled: "cancelled", JobLate: "late"}

// AllJobStates lists the states in the order in which a job passes through them.
func AllJobStates() []JobState {
	return []JobState{JobHeld, JobQueued, JobReserved, JobLate, JobRunning, JobFinished, JobFailed, JobCancelled}
}

func (s JobState) String() string {
	if int(s) < len(jobStateNames) && jobStateNames[s] != "" {
		return jobStateNames[s]
	}
	return fmt.Sprintf("state(%d)", s)
}

// Is returns the state with its verb: has failed, is held.
func (s JobState) Is() string { return strings.Replace("is "+s.String(), "is f", "has f", 1) }

// Live reports whether the job holds nodes, or may still get some.
func (s JobState) Live() bool { return s >= JobHeld && s <= JobRunning || s == JobLate }

// Request returns a job's request.
func (j *JobFacts) Request() placer.Request {
	policy := j.Policy
	if j.NoPolicy {
		policy = ""
	}
	return placer.Request{Select: j.Select, Place: j.Place, Name: j.Name, User: j.User, Group: j.Group,
		Account: j.Account,
		Queue:   j.Queue, Class: j.Class, Policy: policy, Access: j.Access.String(), Reservation: j.Reservation,
		Prefer: j.Prefer, Exclude: j.Exclude,
		Bind: j.Bind.String(), Pools: j.Pools, OverLimits: j.OverLimits}
}

// Waits reports whether a job in a state is in the queue, waiting to be started.
func (j *Job) Waits(s JobState) bool {
	return j.Queued && (s == JobQueued || s == JobReserved || s == JobLate)
}

// Announce records that the job's launch was announced, if it still had to be.
func (j *Job) Announce() { j.Launched = j.Launched || j.ToLaunch() }

// ToLaunch reports whether the job's launch must still be announced.
func (j *Job) ToLaunch() bool {
	return j.Queued && !j.Attended && !j.Launched && !j.Claimed && j.State == JobRunning
}

// Starting reports whether the job has its nodes, and a pass must still start a process to execute
// its command.
func (j *JobFacts) Starting() bool {
	return j.State == JobRunning && j.Queued && !j.Attended && !j.Launched && !j.Claimed && (len(j.Command) > 0 ||
		j.Payload != (PayloadKey{}))
}

// OnlyPrinted reports whether a cycle printed the job's start where nothing launches jobs, and
// no process has claimed it. A reader of that output may execute it. A job from a file without
// attempts counts as launched.
func (j *Job) OnlyPrinted() bool {
	return j.Queued && !j.Attended && j.Launched && !j.Claimed && j.Payload != (PayloadKey{})
}

// EndsByClock reports whether the running job is taken off its nodes at its end, whatever its
// command does, because a launcher was told to stop it by then.
func (j *Job) EndsByClock() bool { return j.Ending && !j.Claimed && j.State == JobRunning }

// HasExit reports whether Exit says how the job ended. For a lost job that is unknown.
func (j *JobFacts) HasExit() bool {
	return j.State == JobFinished || j.State == JobFailed && j.Lost == 0
}

// HasCommand reports whether the job comes with a command to execute.
func (j *Job) HasCommand() bool { return len(j.Command) > 0 || j.Payload != (PayloadKey{}) }

// CurrentAttempt returns the number of the job's current or last attempt, or 0 if it has never
// started. A job that has run since before attempts were counted is at its first.
func (j *Job) CurrentAttempt() int {
	if j.Attempt == 0 && j.State == JobRunning {
		return 1
	}
	return j.Attempt
}

// Unplace removes a job's nodes and planned times, because a job that never started has
// neither.
func (j *Job) Unplace() {
	j.Start, j.End, j.Chunks, j.Along, j.Set, j.Path, j.PoolsWithin = 0, 0, nil, nil, "", "", 0
	j.Policy = j.Request().Policy
}

// When is how far another job must have come before a job that depends on it may
// start. The numbers are on disk and must not change; the names are those of PBS.
type When uint8

// The kinds of dependency.
const (
	After      When = 1 // it has started
	AfterOK    When = 2 // it has succeeded, with status 0
	AfterNotOK When = 3 // it has failed, or was cancelled
	AfterAny   When = 4 // it has ended, however
)

var whenNames = [...]string{After: "after", AfterOK: "afterok", AfterNotOK: "afternotok", AfterAny: "afterany"}

func (w When) String() string {
	if int(w) < len(whenNames) && whenNames[w] != "" {
		return whenNames[w]
	}
	return fmt.Sprintf("when(%d)", w)
}

// Dependency names another job or an array, and how far it must have come.
type Dependency struct {
	When When
	Job  uint64 // the number of the job or array
}

func (d Dependency) String() string { return d.When.String() + ":" + strconv.FormatUint(d.Job, 10) }
