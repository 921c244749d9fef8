package row

import (
	"fmt"
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/placer"
)

// JobState is what has become of a job. The numbers are on disk and must not
// change.
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
	JobLate      JobState = 8 // in no file: its planned start was not to be had, and a reader plans none
)

var jobStateNames = [...]string{JobHeld: "held", JobQueued: "queued", JobReserved: "reserved", JobRunning: "running",
	JobFinished: "finished", JobFailed: "failed", JobCancelled: "cancelled", JobLate: "late"}

// AllJobStates lists the states, in the order in which a job comes through them.
func AllJobStates() []JobState {
	return []JobState{JobHeld, JobQueued, JobReserved, JobLate, JobRunning, JobFinished, JobFailed, JobCancelled}
}

func (s JobState) String() string {
	if int(s) < len(jobStateNames) && jobStateNames[s] != "" {
		return jobStateNames[s]
	}
	return fmt.Sprintf("state(%d)", s)
}

// Live reports whether the job may still come to hold nodes, or holds some.
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
	Policy   string // its own or, once it has nodes, the one that it was placed by
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
	Reservation string // the one that it insists on
	Prefer      []string
	Exclude     string // names of nodes that it does not want

	// NoPolicy says that it named no policy: each time that it is placed, the one of
	// its queue or of the store counts then.
	NoPolicy bool

	Queued    bool // it came through the queue: the cycle plans it, and plans it again
	Attended  bool // a process waits for its start and launches it: run
	NoRequeue bool // when it is stopped for another class it is not queued again
	Launched  bool // its launch was announced
	Claimed   bool // a process executes the attempt: see its row
	Ending    bool // and is to stop it
	Never     bool // it was said that it can never run, as the cluster was then
	Priority  int64
	Begin     int64 // it does not start before; 0: whenever
	Deadline  int64 // it has to end by then; 0: whenever
	After     []Dependency
	Array     uint64   // the first job of its array, 0 for none
	Index     int      // in the array, from 0
	Command   []string // the command for a launcher
	Exit      int      // exit status, see HasExit
	Failures  int      // launches that failed
	Payload   PayloadKey

	Attendant *Attendant // the run process that waits for its start, if its life can be checked

	Attempt  int      // how often it has started; 0 in rows of formats before 6
	Retried  int      // how many of its attempts that failed were followed by another
	Unbegun  int      // attempts in a row that were claimed and never executed
	Lost     int      // attempts in a row that were lost
	Excluded []uint32 // nodes that could not execute it, where it is not to start again

	Idle      int64 // for how many seconds since its submit it has not waited for its turn: it was held, kept by a limit, or ran
	IdleSince int64 // since when it does not, again; 0: it does

	Bind    devices.Policy // how its devices are chosen; NoPolicy: as the store's setting says when it starts
	Devices []JobDevices   // its devices on nodes that name them, while it runs: by node, then by resource

	Pools       []placer.PoolAmount // the amounts that it asks of the cluster's pools, by name
	PoolsWithin uint64              // the number of the reservation that it takes that out of, as far as it holds some; 0 for none

	YieldedTo  []uint64 // the jobs for which it was stopped, the latest last; 0 for the share of another class
	OverLimits bool     // no limit but its array's keeps it from starting; it counts all the same

	UID       *uint32 // of User; nil if that is unknown
	Signature []byte  // by its submitter, of what Signed says; nil for none

	RetryOf uint64 // the job that it does once more, 0 for none
	Line    string // of submit --each: the line that it is for, "" for none
	Comment string // a word of its user, "" for none
	Paused  bool   // its processes have been sent STOP and not CONT since

	Backfilled bool // it started before a job that stood higher and waited

	Promised int64 // the latest start that relaxed backfilling has promised it, 0 for none
	Earliest int64 // the earliest start that it had then, by walltimes asked for
}

// JobDevices are the devices that a job has of a resource of a node, by their position
// among those that the node names.
type JobDevices struct {
	Node  uint32
	Res   index.ResID
	Which devices.Bits
}

// Attendant is a process that waits for a job's start and executes it: placectl run. What
// it has locked reports whether it or its command lives.
type Attendant struct {
	Nonce Nonce
	UID   uint32
	Process
}

// JobChunk is the nodes of one chunk of a job, in node order.
type JobChunk struct {
	Count int
	Nodes []JobNode
}

// JobNode is a node and how many of the chunk are on it.
type JobNode struct {
	Node   uint32
	Chunks int
	Shared bool   // it does not have the whole node
	Alone  bool   // it shares it with jobs of its own user only
	Within uint64 // the number of the reservation that it is taken out of, 0 for none
}

// NodeNumbers lists the nodes of a job in chunk order; a node comes once for each
// chunk of the select that is on it.
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

// each leaves out nodes that were named before.
func each(nodes []uint32) []uint32 {
	seen := make(map[uint32]bool, len(nodes))
	return slices.DeleteFunc(nodes, func(n uint32) bool {
		twice := seen[n]
		seen[n] = true
		return twice
	})
}

// Request is what a job asked for.
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

// OnlyPrinted reports whether a cycle printed the job's start where nothing launches jobs: a reader
// of that output may execute it, and no process has claimed it. A job in a file from before there
// were attempts counts as launched.
func (j *Job) OnlyPrinted() bool {
	return j.Queued && !j.Attended && j.Launched && !j.Claimed && j.Payload != (PayloadKey{})
}

// EndsByClock reports whether the job, which runs, is taken off its nodes at its end
// whatever becomes of its command: a launcher was told to stop it until then.
func (j *Job) EndsByClock() bool { return j.Ending && !j.Claimed && j.State == JobRunning }

// HasExit reports whether Exit says how the job ended. For a lost job that is unknown.
func (j *Job) HasExit() bool {
	return j.State == JobFinished || j.State == JobFailed && j.Lost == 0
}

// HasCommand reports whether the job comes with a command to execute.
func (j *Job) HasCommand() bool { return len(j.Command) > 0 || j.Payload != (PayloadKey{}) }

// CurrentAttempt returns the number of the attempt that it is at, or was at last; 0 if it has
// never started. A job that runs since before attempts were counted is at its first.
func (j *Job) CurrentAttempt() int {
	if j.Attempt == 0 && j.State == JobRunning {
		return 1
	}
	return j.Attempt
}

// Unplace forgets where and when a job was to run: what never started has neither.
func (j *Job) Unplace() {
	j.Start, j.End, j.Chunks, j.Along, j.Set, j.Path, j.PoolsWithin = 0, 0, nil, nil, "", "", 0
	j.Policy = j.Request().Policy
}
