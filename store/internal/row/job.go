package row

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
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

// Live reports whether the job holds nodes, or may still get some.
func (s JobState) Live() bool { return s >= JobHeld && s <= JobRunning || s == JobLate }

// Job is a job.
type Job struct {
	ID       uint64
	State    JobState
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
	Reason   Reason
	Walltime int64 // seconds
	Submit   int64 // Unix seconds, as Start and End
	Start    int64
	End      int64 // expected while it runs, actual afterwards
	Chunks   []JobChunk
	Along    []uint32 // nodes taken whole because others of their host are

	Group       string
	Access      index.Access
	Reservation string // the reservation that it insists on
	Prefer      []string
	Exclude     string // names of nodes that it must not get

	// NoPolicy means that the job named no policy. Each time it is placed, the policy of its
	// queue or of the store applies.
	NoPolicy bool

	Queued    bool // it was submitted to the queue: cycles plan it
	Attended  bool // a process, placectl run, waits for its start and launches it
	NoRequeue bool // it is not queued again after it was stopped for another class
	Launched  bool // its launch was announced
	Claimed   bool // a process executes the attempt: see its row
	Ending    bool // and must stop it
	Never     bool // it was reported that it can never run, on the cluster of that time
	Priority  int64
	Begin     int64 // earliest start; 0 for any
	Deadline  int64 // latest end; 0 for any
	After     []Dependency
	Array     uint64   // the first job of its array, 0 for none
	Index     int      // in the array, from 0
	Command   []string // for a launcher
	Exit      int      // exit status, see HasExit
	Failures  int      // number of failed launches
	Payload   PayloadKey

	Attendant *Attendant // the run process that waits for its start, if its life can be checked

	Attempt  int      // number of starts; 0 in rows of formats before 6
	Retried  int      // number of failed attempts that were followed by another
	Unbegun  int      // attempts in a row that were claimed and never executed
	Lost     int      // attempts in a row that were lost
	Excluded []uint32 // nodes that could not execute it, on which it must not start again

	Idle      int64 // seconds since its submission in which it did not wait for its turn: it was held, kept by a limit, or ran
	IdleSince int64 // since when it does not wait for its turn again; 0 if it does

	Bind    devices.Policy // how its devices are chosen; NoPolicy means by the setting at its start
	Devices []JobDevices   // its devices on nodes that name them, while it runs: by node, then by resource

	Pools       []placer.PoolAmount // the amounts of pools that it asks for, by name
	PoolsWithin uint64              // the number of the reservation that supplies those as far as it can, or 0

	YieldedTo  []uint64 // the jobs for which it was stopped, the latest last; 0 for the share of another class
	OverLimits bool     // only the limit of its array can keep it from starting; it still counts for the others

	UID       *uint32 // of User; nil if unknown
	Signature []byte  // by its submitter, of the text of Signed; nil if there is none

	RetryOf uint64 // the job that it repeats, or 0
	Line    string // for submit --each: its input line, or ""
	Comment string // a note by its user, or ""
	Paused  bool   // its processes were sent STOP, and no CONT since

	Backfilled bool // it started before a waiting job of higher order

	Promised int64 // the latest start promised by relaxed backfilling, or 0
	Earliest int64 // its earliest start at the time of that promise, by requested walltimes
}

// JobDevices lists a job's devices of one resource of a node, by position in the node's list.
type JobDevices struct {
	Node  uint32
	Res   index.ResID
	Which devices.Bits
}

// Attendant is a process that waits for a job's start and executes it: placectl run. Its lock
// tells whether it or its command lives.
type Attendant struct {
	Nonce Nonce
	UID   uint32
	Process
}

// JobChunk lists the nodes of one chunk of a job, in node order.
type JobChunk struct {
	Count int
	Nodes []JobNode
}

// JobNode is a node and the number of chunks on it.
type JobNode struct {
	Node   uint32
	Chunks int
	Shared bool   // it does not have the whole node
	Alone  bool   // it shares it with jobs of its own user only
	Within uint64 // the number of the reservation that the part is taken out of, or 0
}

// NodeNumbers lists the nodes of a job in chunk order. A node comes once for each chunk of the
// select on it.
func (j *Job) NodeNumbers() []uint32 {
	var out []uint32
	for _, c := range j.Chunks {
		for _, n := range c.Nodes {
			out = append(out, n.Node)
		}
	}
	return out
}

// AllNodes lists the nodes that a job has, each once: those of its chunks in their
// order, then those taken along.
func (j *Job) AllNodes() []uint32 {
	return AllNodes(j.NodeNumbers(), len(j.Chunks), j.Along)
}

// AllNodes lists each node of some chunks, and of those taken along, once.
func AllNodes(ofChunks []uint32, chunks int, along []uint32) []uint32 {
	if chunks == 1 && len(along) == 0 {
		return ofChunks // a chunk has each of its nodes once
	}
	return each(append(ofChunks, along...))
}

// each removes repeated nodes.
func each(nodes []uint32) []uint32 {
	seen := make(map[uint32]bool, len(nodes))
	return slices.DeleteFunc(nodes, func(n uint32) bool {
		twice := seen[n]
		seen[n] = true
		return twice
	})
}

// Request returns a job's request.
func (j *Job) Request() placer.Request {
	policy := j.Policy
	if j.NoPolicy {
		policy = ""
	}
	return placer.Request{Select: j.Select, Place: j.Place, Name: j.Name, User: j.User, Group: j.Group, Account: j.Account,
		Queue: j.Queue, Class: j.Class, Policy: policy, Access: j.Access.String(), Reservation: j.Reservation, Prefer: j.Prefer, Exclude: j.Exclude,
		Bind: j.Bind.String(), Pools: j.Pools, OverLimits: j.OverLimits}
}

// Waits reports whether a job in a state is in the queue, waiting to be started.
func (j *Job) Waits(s JobState) bool {
	return j.Queued && (s == JobQueued || s == JobReserved || s == JobLate)
}

// ToLaunch reports whether the job's launch must still be announced.
func (j *Job) ToLaunch() bool {
	return j.Queued && !j.Attended && !j.Launched && !j.Claimed && j.State == JobRunning
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
func (j *Job) HasExit() bool {
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

// Dependency names another job, and how far it must have come.
type Dependency struct {
	When When
	Job  uint64
}

func (d Dependency) String() string { return d.When.String() + ":" + strconv.FormatUint(d.Job, 10) }
