package store

import (
	"time"

	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/recur"
)

// Job is a job as it was when it was read.
type Job struct {
	ID      uint64
	Request placer.Request // as it was submitted, in normal form
	State   JobState
	Reason  Reason
	Ending  bool // a process executes its command, and is to stop it
	Never   bool // no nodes of the cluster could ever serve it

	Nodes   []string // that it has, or is planned on, in the order of its chunks
	Chunks  [][]Part // the nodes of each chunk of the select
	Set     string   // its placement set, key=value
	Attempt int      // number of its starts
	Exit    int      // status of its command, once it has ended

	Submit, Start, End time.Time // End is expected while it runs
	Begin, Deadline    time.Time
	Promised           time.Time // latest start that relaxed backfill has promised
	Priority           int64
	Array              uint64 // the number of its array, 0 for none
	Index              int    // in the array
	After              []Dependency
	Command            []string
	Line               string // the input line of an element
	Comment, Key       string // a note by the submitter; the key of the Once that made it
	NoRequeue          bool
	RetryOf            uint64   // the job that it repeats, 0 for none
	PreemptedFor       []uint64 // the jobs that it has made way for
}

// Part is what a job has of a node.
type Part struct {
	Node    string
	Chunks  int    // how many of the chunk are there
	Shared  bool   // it does not have the whole node
	Devices string // such as ngpus=0-1,ncpus=0-7, while it runs on a node that names its devices
}

// JobState is the state of a job.
type JobState string

// The states of a job.
const (
	JobHeld      JobState = "held"
	JobQueued    JobState = "queued"
	JobPlanned   JobState = "reserved" // it has a planned start and nodes
	JobLate      JobState = "late"     // it could not begin as planned, and waits for a new plan: in a View only
	JobRunning   JobState = "running"
	JobFinished  JobState = "finished"
	JobFailed    JobState = "failed"
	JobCancelled JobState = "cancelled"
)

// Reason says why something is as it is.
type Reason struct {
	Cause string // a word for programs: docs/json.md, "Codes of reasons"
	By    string // the user who asked for it, or ""
	Text  string // in words; times in them are RFC 3339, in UTC
}

// Dependency names a job or an array, and how far it must have come.
type Dependency struct {
	When string // after (it has started), afterok, afternotok or afterany (it has ended)
	Job  uint64
}

// Submission is a job, or an array of jobs, for the queue.
type Submission struct {
	placer.Request
	Command         []string
	Payload         *Payload // nil: as what executes it, in its user's home directory
	Priority        int64    // jobs of higher priority come first
	Begin, Deadline time.Time
	After           []Dependency
	Array           []Element // an array with a job for each; nil for one job
	Throttle        int       // at most this many jobs of the array at once; 0 for any number
	Hold            bool
	Comment         string
	NoRequeue       bool // it is cancelled instead of queued again when it makes way for another
}

// Element is what one job of an array has to itself.
type Element struct {
	Index   int
	Command []string // nil for that of the Submission
	Line    string   // an input line
}

// Alteration lists changes of a job. Nil fields stay as they are.
type Alteration struct {
	Request         *placer.Request // replaces all that it asks for: begin with Job.Request
	Priority        *int64
	Begin, Deadline *time.Time
	After           *[]Dependency
	Comment         *string
	Payload         *Payload
	NoRequeue       *bool
}

// Payload is what a job carries, so that it can run later and elsewhere. runner.Here makes one for this process.
//
// The names of Input, Out and Err are patterns, below Dir unless they are absolute: %j is the job, %A its array, %a its
// index, %x its name, %u its user, %N its first node, %t the attempt, and %% a %. %5j pads with zeros. Out may be
// empty: placectl-%j.out, and placectl-%A_%a.out in an array. Err may be, too: it goes to Out.
type Payload struct {
	Script, Interpreter string   // a script, which gets the command as arguments; runs it in place of its #! line
	Dir                 string   // where it runs, an absolute path: needed
	Env                 []string // NAME=VALUE
	Umask               uint32   // file mode bits to clear in new files
	Limits              []ResourceLimit
	Input, Out, Err     string // patterns of files
	Append              bool   // the first attempt, too, appends to them
	Owner               *Submitter
	Ending              Ending
}

// Submitter is the submitter of a job, as whom its command runs.
type Submitter struct {
	UID        uint32
	Name, Host string // the user's name, and where it was submitted
}

// ResourceLimit is a limit of a process, as getrlimit has it. math.MaxUint64 is none.
type ResourceLimit struct {
	Name       string // in lower case: nofile, stack
	Soft, Hard uint64
}

// Ending says how a job's attempts end, and what follows a failed one. The zero value is the default throughout.
type Ending struct {
	Retries   int           // the most attempts after a failed one
	RetryOn   string        // outcomes after which it is retried, joined by commas; "": failures
	RetryWait time.Duration // before the first retry; doubles for each further one; 0: 30 s
	Signal    int           // sent to its processes before its end; 0: none
	Before    time.Duration // how long before
	Grace     time.Duration // between being told to end and being killed; 0: 30 s; negative: none
	Mail      string        // begin, end, fail and requeue, joined by commas
}

// CycleOptions configure a cycle. The zero value follows the settings.
type CycleOptions struct {
	Backfill Backfill
	Depth    int         // for EASY: how many jobs are planned ahead; 0: as set
	Enough   func() bool // asked between jobs whether to stop; may be nil
}

// Backfill says which jobs a cycle plans ahead, and which go around them. "" is as the setting says.
type Backfill string

// The kinds of backfill.
const (
	FCFS         Backfill = "fcfs"         // no job passes one that does not fit
	EASY         Backfill = "easy"         // the first that does not fit is planned, others go around it
	Conservative Backfill = "conservative" // all are planned
	Relaxed      Backfill = "relaxed"      // the first is promised a start, the shortest go around it
)

// CycleReport lists what a cycle did.
type CycleReport struct {
	Started, Planned, Finished, Cancelled []*Job
	Stopped                               []*Job // jobs that must be stopped: their programs are told by attempts
	Never                                 []*Job // jobs that no nodes of the cluster could ever serve
	Waiting                               int
	Unreached                             int       // of those, not reached before Enough
	Next                                  time.Time // until then another cycle starts nothing by itself
}

// Played is a waiting job and its start in a play; zero if it did not start.
type Played struct {
	Job   uint64
	Start time.Time
}

// Opening is a possible start of a request.
type Opening struct {
	Start, End time.Time
	Nodes      []string
}

// Prospect says what a job waits for, and when it is expected to start.
type Prospect struct {
	Wait         Wait
	Reason       string
	Start        time.Time // expected; zero if unknown
	Likely, Safe time.Time // half, and nine of ten, of such jobs started by then; zero if unknown
	Place        int       // in the queue, from 1; 0 if it is not in it
	Before       []uint64  // jobs that may take nodes first
}

// Wait is what a job waits for first.
type Wait string

// What jobs wait for.
const (
	WaitsNot         Wait = ""            // for nothing: it runs or has ended
	WaitsNever       Wait = "never"       // for nothing: it can never run
	WaitsHeld        Wait = "held"        // for Unhold
	WaitsDependency  Wait = "dependency"  // for other jobs
	WaitsBegin       Wait = "begin"       // for its begin time
	WaitsUser        Wait = "unattended"  // for a process of its user
	WaitsClass       Wait = "class"       // its class may start nothing more
	WaitsPlan        Wait = "planned"     // for its planned start
	WaitsLate        Wait = "late"        // for a new plan
	WaitsLimit       Wait = "limit"       // for others under a limit to end
	WaitsUnavailable Wait = "unavailable" // for nodes or devices that are out of service
	WaitsRoom        Wait = "room"        // for nodes
	WaitsTurn        Wait = "turn"        // for a cycle
)

// Occupancy is what is on a node and planned for it.
type Occupancy struct {
	State     string // free, partly, busy, down, offline or drained
	Jobs      int    // that run on it
	Free      map[string]string
	FreeUntil time.Time // when it is next taken; zero if it is not free, or nothing is planned
	FreeFrom  time.Time // when all on it is expected to have ended; zero if it is free
	List      []Allocation
}

// Allocation is a stretch of time in which a job or reservation has a node or part of it.
type Allocation struct {
	Job         uint64 // 0 for a reservation
	Reservation string
	Start, End  time.Time // End is expected
}

// Device is a device of a node and the job that has it.
type Device struct {
	devices.Device
	Resource string
	State    string // free, busy, drained or cut
	Job      uint64 // 0 for none
}

// DeviceChange says what to do with devices. Exactly one field is set, besides Into.
type DeviceChange struct {
	Drain  string // takes them out of service for this reason
	Resume bool   // puts them back
	Slices int    // cuts each into this many devices of Into; negative: makes it whole
	Into   string // a resource
}

// ReserveSpec describes a reservation to make.
type ReserveSpec struct {
	Name       string
	Nodes      string         // a node list, kept whole from Start to End; or
	Request    placer.Request // what to keep, from Start for its walltime
	Start, End time.Time
	Access     placer.AccessList // its users; empty: it stays unused
	Limit      time.Duration     // the longest time that one job may use it; 0: any
	Repeat     recur.Repeat      // the zero value: once
	Ahead      int               // occurrences that are kept ahead; 0: 2
}

// Reservation keeps nodes, or amounts of them, for a time.
type Reservation struct {
	Name, Series string // Series is the repeating one that it is an occurrence of
	State        string // planned, active or ended
	Nodes        []string
	Start, End   time.Time
	Access       placer.AccessList
	Note         string // how it differs from the request
}

// Event is something that happened to a job, a node or a reservation. docs/states.md lists the kinds.
type Event struct {
	ID                uint64 // from 1
	Time              time.Time
	Job               uint64
	Attempt           int
	Node, Reservation string
	Kind, Old, New    string // Old and New are the states before and after
	Reason            Reason
	By                *uint32 // the uid that caused it; nil if unknown
}

// Item is something that an administrator declares: a Setting, Queue, Limit, Pool, Account, Rule,
// Role, Priority or View.
type Item interface{ item() }

// Setting is a setting: Tx.Settings lists them. An empty Value stands for the default. Default and Doc are for
// reading.
type Setting struct{ Name, Value, Default, Doc string }

// Queue is a part of the cluster, and what its jobs get.
type Queue struct {
	Name     string
	GroupKey []string // in place of the setting group_key; empty: that
	Policy   string   // in place of the setting policy; "": that
	Allow    []string // its permitted users, as user=ann or group=lab; empty: all
}

// Limit is how much users, groups, accounts, classes or queues may have at once.
type Limit struct {
	Key     string // all, or such as user=ann, or user=* for each user
	Measure string // such as running, ncpus, ncpus.queued or walltime.job
	Max     int64  // in the smallest unit of the resource; seconds for walltime.job
	Soft    bool   // jobs beyond it have their turn after all others
}

// Pool is an amount of the whole cluster that belongs to no node, such as licences.
type Pool struct {
	Name            string
	Amount, Outside int64     // Outside is used by others
	Until           time.Time // until when; zero: until changed
}

// Account pays for jobs, or stands for a project.
type Account struct {
	Name, Parent string
	Shares       int64            // of its parent's share, relative to its siblings
	Members      map[string]int64 // shares, by user
	Allow        []string         // its permitted users, as user=ann or group=lab; empty: all
}

// Rule says whose jobs make way for whose: package placer/preempt describes its text.
type Rule struct {
	Text  string        // class=urgent over all
	How   string        // requeue or cancel; "": requeue
	Grace time.Duration // between being told to end and being killed; 0: none; negative: each job's own
}

// Role gives a user the right to change what all users share.
type Role struct{ User, Role string }

// Priority is the number that USER, GROUP and so on have in the setting job_priority.
type Priority struct {
	Kind, Name string // user, group, account, class or queue, and which
	Number     int64
}

// View is a named query to use as a table.
type View struct{ Name, Select string }

func (Setting) item()  {}
func (Queue) item()    {}
func (Limit) item()    {}
func (Pool) item()     {}
func (Account) item()  {}
func (Rule) item()     {}
func (Role) item()     {}
func (Priority) item() {}
func (View) item()     {}
