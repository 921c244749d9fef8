package store

import (
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store/internal/row"
)

// JobState is what has become of a job: of package row, as are the types that follow,
// because rows hold them.
type JobState = row.JobState

// The states of a job.
const (
	JobHeld      = row.JobHeld
	JobQueued    = row.JobQueued
	JobReserved  = row.JobReserved // it has a planned start
	JobRunning   = row.JobRunning
	JobFinished  = row.JobFinished
	JobFailed    = row.JobFailed
	JobCancelled = row.JobCancelled

	// JobLate is a planned job whose time has come and that cannot begin, because a job
	// past its end is on its nodes, or one of them is not up. It has no start and no
	// nodes until a writer plans it anew: so it is what a View says, and in no file.
	JobLate = row.JobLate
)

// JobStates lists the states, in the order in which a job comes through them.
func JobStates() []JobState { return row.AllJobStates() }

// JobChunk is the nodes of one chunk of a job, in node order.
type JobChunk = row.JobChunk

// JobNode is a node and how many of the chunk are on it.
type JobNode = row.JobNode

// Dependency is another job, and how far that must have come.
type Dependency = row.Dependency

// When is how far another job must have come before a job that depends on it may
// start.
type When = row.When

// The kinds of dependency.
const (
	After      = row.After      // it has started
	AfterOK    = row.AfterOK    // it has ended with status 0
	AfterNotOK = row.AfterNotOK // it has failed, or was cancelled
	AfterAny   = row.AfterAny   // it has ended, however
)

// Job is a job's row.
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
	Reason   string
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

	// NoPolicy says that it named no policy: each time that it is placed, the one of
	// its queue or of the store counts then.
	NoPolicy bool

	Queued    bool // it came through the queue: the cycle plans it, and plans it anew
	Attended  bool // somebody waits for its start and launches it: run
	NoRequeue bool // when it is stopped for another class it is not queued again
	Launched  bool // somebody was told to launch it
	Never     bool // it was said that it can never run, as the cluster was then
	Priority  int64
	Begin     int64 // it does not start before; 0: whenever
	Deadline  int64 // it has to end by then; 0: whenever
	After     []Dependency
	Array     uint64   // the first job of its array, 0 for none
	Index     int      // in the array, from 0
	Command   []string // what a launcher is to run
	Exit      int      // exit status, once it has ended
	Failures  int      // launches that failed
}

func decodeJob(key, payload []byte) (*Job, error) {
	j, err := row.DecodeJob(key, payload)
	return (*Job)(j), err
}

func encodeJob(j *Job) []byte { return row.EncodeJob((*row.Job)(j)) }

// NodeNumbers lists the nodes of a job in chunk order; a node comes once for each
// chunk of the select that is on it.
func (j *Job) NodeNumbers() []uint32 { return (*row.Job)(j).NodeNumbers() }

// AllNodes lists the nodes that a job has, each once: those of its chunks in their
// order, then those taken along.
func (j *Job) AllNodes() []uint32 { return (*row.Job)(j).AllNodes() }

// waits reports whether a job in a state is in the queue, waiting to be started.
func (j *Job) waits(s JobState) bool { return (*row.Job)(j).Waits(s) }

// toLaunch reports whether somebody has yet to be told to launch the job.
func (j *Job) toLaunch() bool { return (*row.Job)(j).ToLaunch() }
