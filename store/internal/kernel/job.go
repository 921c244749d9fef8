package kernel

import (
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store/internal/row"
)

// JobStates lists the states, in the order in which a job passes through them.
func JobStates() []row.JobState { return row.AllJobStates() }

// Job is a job.
type Job struct {
	ID       uint64
	State    row.JobState
	Name     string
	User     string
	Account  string
	Queue    string
	Class    string
	Key      string // idempotency key, "" for none
	Select   string // in normal form
	Place    string
	Path     placer.Path
	Policy   string // the requested policy or, once it has nodes, the one it was placed by
	Set      string // placement set, as key=value
	Reason   row.Reason
	Walltime time.Duration
	Submit   time.Time
	Start    time.Time // like End, zero until it has one
	End      time.Time // expected while it runs, actual afterwards
	Chunks   []row.JobChunk
	Along    []uint32 // nodes taken whole because others of their host are

	Group       string
	Access      index.Access
	Reservation string // the reservation that it insists on
	Prefer      []string
	Exclude     string // names of nodes that it must not get

	// NoPolicy says that the job named no policy. Each time it is placed, the policy of its
	// queue or of the store applies.
	NoPolicy bool

	Queued    bool // it was submitted to the queue: cycles plan it
	Attended  bool // a process, placectl run, waits for its start and launches it
	NoRequeue bool // it is not queued again after it was stopped for another class
	Launched  bool // its launch was announced
	Never     bool // it was reported that it can never run, on the cluster of that time
	Priority  int64
	Begin     time.Time // earliest start; zero for any
	Deadline  time.Time // latest end; zero for any
	After     []row.Dependency
	Array     uint64   // the first job of its array, 0 for none
	Index     int      // in the array, from 0
	Command   []string // for a launcher
	Exit      int      // exit status, see HasExit
	Failures  int      // number of failed launches

	Attendant *row.Attendant // the process that waits for its start or executes it, or nil

	Attempt  int      // its current or last attempt; 0 if it has never started
	Claimed  bool     // a process executes that attempt
	Ending   bool     // and must stop
	Retried  int      // number of failed attempts that were followed by another
	Unbegun  int      // attempts in a row that were claimed and not executed
	Lost     int      // attempts in a row that were lost
	Excluded []uint32 // nodes that it avoids, because they could not execute it

	Idle      time.Duration // how long since its submission it did not wait for its turn: it was held, kept by a limit, or ran
	IdleSince time.Time     // since when it does not wait for its turn again; zero if it does

	// Payload is equal for jobs with equal payloads: see Jobs.Payload. It is zero for a job
	// without one.
	Payload row.PayloadKey

	Bind    devices.Policy   // how its devices are chosen; NoPolicy means by the setting at its start
	Devices []row.JobDevices // its devices on nodes that name them, while it runs

	Pools       []placer.PoolAmount // the amounts of pools that it asks for, by name
	PoolsWithin uint64              // the number of the reservation that supplies those as far as it can, or 0

	YieldedTo  []uint64 // the jobs it made way for, the latest last; 0 for the share of another class
	OverLimits bool     // only the limit of its array can keep it from starting

	UID       *uint32 // of User; nil if unknown
	Signature []byte  // see Jobs.Signed; nil if there is none

	RetryOf uint64 // the job that it repeats: see Jobs.Retry; 0 if there is none
	Line    string // for a Submission with Each: its input line
	Comment string // a note by its user
	Paused  bool   // its processes were sent STOP, and no CONT since

	Backfilled bool // it started before a waiting job of higher order

	Promised time.Time // the latest start promised by relaxed backfilling; zero if there is none
	Earliest time.Time // its earliest start at the time of that promise, by requested walltimes
}

// NodeNumbers lists the nodes of a job in chunk order. A node comes once for each chunk on it.
func (j *Job) NodeNumbers() []uint32 {
	n := 0
	for i := range j.Chunks {
		n += len(j.Chunks[i].Nodes)
	}
	out := make([]uint32, 0, n)
	for i := range j.Chunks {
		for _, on := range j.Chunks[i].Nodes {
			out = append(out, on.Node)
		}
	}
	return out
}

// AllNodes lists the nodes that a job has, each once: those of its chunks in order, then those
// taken along.
func (j *Job) AllNodes() []uint32 {
	return row.AllNodes(j.NodeNumbers(), len(j.Chunks), j.Along)
}

// Request returns the job's request.
func (j *Job) Request() placer.Request {
	r := j.Row()
	return r.Request()
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

// HasExit reports whether Exit says how the job ended. It does for a finished or failed job, but
// not for a lost one, whose end is unknown.
func (j *Job) HasExit() bool { return (&row.Job{State: j.State, Lost: j.Lost}).HasExit() }

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
	return &Job{
		ID: j.ID, State: j.State, Name: j.Name, User: j.User, Account: j.Account, Queue: j.Queue, Class: j.Class, Key: j.Key,
		Select: j.Select, Place: j.Place, Path: j.Path, Policy: j.Policy, Set: j.Set, Reason: j.Reason, Walltime: Lasting(j.Walltime),
		Submit: Instant(j.Submit), Start: Instant(j.Start), End: Instant(j.End),
		Chunks: copiedChunks(j.Chunks),
		Along:  j.Along, Group: j.Group, Access: j.Access, Reservation: j.Reservation, Prefer: j.Prefer, Exclude: j.Exclude, NoPolicy: j.NoPolicy,
		Queued: j.Queued, Attended: j.Attended, NoRequeue: j.NoRequeue, Launched: j.Launched, Never: j.Never, Priority: j.Priority,
		Begin: Instant(j.Begin), Deadline: Instant(j.Deadline), After: copied(j.After),
		Array: j.Array, Index: j.Index, Command: j.Command, Exit: j.Exit, Failures: j.Failures, Payload: j.Payload, Bind: j.Bind,
		Devices:   copied(j.Devices),
		Attendant: j.Attendant, Attempt: j.CurrentAttempt(), Claimed: j.Claimed, Ending: j.Ending, Retried: j.Retried, Unbegun: j.Unbegun, Lost: j.Lost, Excluded: j.Excluded,
		Pools: j.Pools, PoolsWithin: j.PoolsWithin, YieldedTo: j.YieldedTo, OverLimits: j.OverLimits, Idle: Lasting(j.Idle), IdleSince: Instant(j.IdleSince),
		UID: j.UID, Signature: j.Signature, RetryOf: j.RetryOf, Line: j.Line, Paused: j.Paused, Backfilled: j.Backfilled, Comment: j.Comment,
		Promised: Instant(j.Promised), Earliest: Instant(j.Earliest),
	}
}

// Row converts the job to a row.
func (j *Job) Row() row.Job {
	return row.Job{
		ID: j.ID, State: j.State, Name: j.Name, User: j.User, Account: j.Account, Queue: j.Queue, Class: j.Class, Key: j.Key,
		Select: j.Select, Place: j.Place, Path: j.Path, Policy: j.Policy, Set: j.Set, Reason: j.Reason, Walltime: Seconds(j.Walltime),
		Submit: Unix(j.Submit), Start: Unix(j.Start), End: Unix(j.End),
		Chunks: copiedChunks(j.Chunks),
		Along:  j.Along, Group: j.Group, Access: j.Access, Reservation: j.Reservation, Prefer: j.Prefer, Exclude: j.Exclude, NoPolicy: j.NoPolicy,
		Queued: j.Queued, Attended: j.Attended, NoRequeue: j.NoRequeue, Launched: j.Launched, Never: j.Never, Priority: j.Priority,
		Begin: Unix(j.Begin), Deadline: Unix(j.Deadline), After: copied(j.After),
		Array: j.Array, Index: j.Index, Command: j.Command, Exit: j.Exit, Failures: j.Failures, Payload: j.Payload, Bind: j.Bind,
		Devices:   copied(j.Devices),
		Attendant: j.Attendant, Attempt: j.Attempt, Claimed: j.Claimed, Ending: j.Ending, Retried: j.Retried, Unbegun: j.Unbegun, Lost: j.Lost, Excluded: j.Excluded,
		Pools: j.Pools, PoolsWithin: j.PoolsWithin, YieldedTo: j.YieldedTo, OverLimits: j.OverLimits, Idle: Seconds(j.Idle), IdleSince: Unix(j.IdleSince),
		UID: j.UID, Signature: j.Signature, RetryOf: j.RetryOf, Line: j.Line, Paused: j.Paused, Backfilled: j.Backfilled, Comment: j.Comment,
		Promised: Unix(j.Promised), Earliest: Unix(j.Earliest),
	}
}

// copied returns a copy of a list, or nil if it is empty.
func copied[T any](list []T) []T { return Converted(list, func(v T) T { return v }) }

// copiedChunks copies chunks with their lists of nodes, which the next row read may overwrite.
func copiedChunks(list []row.JobChunk) []row.JobChunk {
	return Converted(list, func(c row.JobChunk) row.JobChunk { return row.JobChunk{Count: c.Count, Nodes: copied(c.Nodes)} })
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

// Starting reports whether the job has its nodes, and a pass must still start a process to execute
// its command.
func (j *Job) Starting() bool {
	return j.State == row.JobRunning && j.Queued && !j.Attended && !j.Launched && !j.Claimed && (len(j.Command) > 0 || j.Payload != (row.PayloadKey{}))
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

var Stages = map[row.JobState]Stage{0: Unborn, row.JobHeld: Waits, row.JobQueued: Waits, row.JobLate: Waits, row.JobReserved: Planned,
	row.JobRunning: Runs, row.JobFinished: Over, row.JobFailed: Over, row.JobCancelled: Over}
