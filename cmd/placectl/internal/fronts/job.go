package fronts

import (
	"cmp"
	"time"
)

// State is the state of a job.
type State uint8

// The states.
const (
	Held State = iota
	Queued
	Running
	Finished
	Failed
	Cancelled
	Walltime // it ended at its time limit
	OOM      // it used more memory than it asked for
	Lost     // nothing is known of its end
)

// Over reports whether a job has ended.
func (s State) Over() bool { return s >= Finished }

// Wait is what a job waits for.
type Wait uint8

// What jobs wait for.
const (
	ForNothing Wait = iota
	ForRoom
	ForTurn // others come before it
	ForJob
	ForBegin
	ForRelease
	ForReservation
	ForLimit    // others use up a common limit
	ForThrottle // the same, with the limit of its array
	ForNodes    // nodes that it needs are out of service
	Never       // it can never run on this cluster
	NeverJob    // a job that it depends on has ended in another way
)

// Job is a job as front-ends see it.
type Job struct {
	ID      uint64
	Array   uint64 // number of its array; 0: none
	Index   int
	Limit   int // how many of its array may run at once; 0: any number
	Name    string
	User    string
	UID     int  // -1: unknown
	Mine    bool // the caller owns it
	Account string
	Comment string
	Queue   string // "" for none
	Class   string

	State                               State
	Ending, Paused                      bool
	Exit                                int // of an ended job
	Signal                              int // the signal that ended it; 0: none
	Wait                                Wait
	Reason                              string
	Priority                            int64
	Requeue                             bool
	Begin, Submit, Start, End, Deadline time.Time // End: expected, while it runs
	Walltime                            time.Duration
	After                               []Dependency

	Select, Place string
	Nodes         []string // of a running or ended job
	NodeCount     int      // requested, before it has any
	CPUs          int      // requested
	Cores         int      // of its nodes if it has them whole; else CPUs
	Tasks         int
	Mem           int64 // kB, of all chunks
	GPUs          int
	NodeMem       int64 // kB, of the first chunk
	NodeCPUs      int   // of the first chunk
	NodeGPUs      int
	Features      []string
	Excl          bool
	Exclude       string    // unwanted nodes, folded
	Licenses      []License // Used: the amounts it asked for
	Reservation   string
	Attempt       int

	*Detail // nil unless requested
}

// Whole returns the number of the job's array, or of a job that is in none.
func (j *Job) Whole() uint64 { return cmp.Or(j.Array, j.ID) }

// Dependency is a job or an array that another depends on.
type Dependency struct {
	Kind  string // after, afterok, afternotok, afterany
	Job   uint64
	Array bool // Job is the number of an array
}

// Detail is what has to be read from further rows.
type Detail struct {
	ExecVNode       string
	Dir             string
	From            string // the directory where qsub was typed; "" for Dir
	Out, Err, In    string
	Joined          bool // both streams go to Out
	Mail, MailTo    string
	Env             []string // NAME=VALUE
	Line            string   // the submitting command line
	Command         string   // what it runs: the path of its script if it has one, and the words after it
	Host            string   // where it was typed
	CPUUser, CPUSys time.Duration
	MaxRSS          int64 // bytes
	CPUsPerTask     int
	MemPerCPU       int64 // kB
}

// Elapsed returns how long a job has run at an instant.
func (j *Job) Elapsed(now time.Time) time.Duration {
	switch {
	case j.Start.IsZero() || j.State < Running:
		return 0
	case j.State.Over():
		return max(j.End.Sub(j.Start), 0)
	}
	return max(now.Sub(j.Start), 0)
}

// Node is a node.
type Node struct {
	Name           string
	Queue          string
	State          NodeState
	Reserved       bool // it is reserved
	Excl           bool // a job has all of it
	Since          time.Time
	Reason         string
	CPUs, CPUsUsed int
	Mem, MemUsed   int64 // kB
	Disk           int64 // kB
	GPUs, GPUsUsed int
	Load           float64
	Features       []string
	Priority       int64 // higher ones are taken first
	Jobs           []uint64
	Values         []Value // all its resources, in order
}

// Value is a resource of a node.
type Value struct {
	Name, Value, Used string
	Consumable        bool
	Counted           bool // a whole number, and no size or time
}

// NodeState is the state of a node.
type NodeState uint8

// The states of nodes.
const (
	Free NodeState = iota
	Partly
	Busy
	Down
	Offline
	Drained
)
