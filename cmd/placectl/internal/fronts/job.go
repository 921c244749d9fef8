package fronts

import "time"

// State is what has become of a job.
type State uint8

// The states.
const (
	Held State = iota
	Queued
	Running
	Finished
	Failed
	Cancelled
	Walltime // it was ended because its time was over
	OOM      // because it had more memory than it had asked for
	Lost     // how it ended is unknown
)

// Over reports whether a job has ended.
func (s State) Over() bool { return s >= Finished }

// Wait is what a job waits for.
type Wait uint8

// What jobs wait for.
const (
	ForNothing Wait = iota
	ForRoom
	ForTurn // others are before it
	ForJob
	ForBegin
	ForRelease
	ForReservation
	ForLimit    // others under the same limit have all that it lets there be
	ForThrottle // the limit is that of its array
	Never       // it can never run as the cluster is
	NeverJob    // a job that it depends on has ended otherwise
)

// Job is a job.
type Job struct {
	ID      uint64
	Array   uint64 // the number of its array's first job, 0: of none
	Index   int
	Limit   int // how many of its array run at once, 0: any number
	Name    string
	User    string
	UID     int  // -1 if it is unknown
	Mine    bool // it is the caller's
	Account string
	Comment string
	Queue   string // "" for none
	Class   string

	State                               State
	Ending, Paused                      bool
	Exit                                int // of one that has ended
	Signal                              int // that ended it, 0: none
	Wait                                Wait
	Reason                              string
	Priority                            int64
	Requeue                             bool
	Begin, Submit, Start, End, Deadline time.Time // End: expected while it runs
	Walltime                            time.Duration
	After                               []Dependency

	Select, Place string
	Nodes         []string // that it has, or had
	NodeCount     int      // asked for, before it has any
	CPUs          int
	Tasks         int
	Mem           int64 // kb, of all chunks
	GPUs          int
	NodeMem       int64 // kb, of the first chunk
	NodeCPUs      int   // of the first chunk
	NodeGPUs      int
	Features      []string
	Excl          bool
	Exclude       string    // nodes that it does not want, folded
	Licenses      []License // Used: what it asked for of each
	Reservation   string
	Attempt       int

	*Detail // nil if it was not asked for
}

// Dependency is a job that another depends on.
type Dependency struct {
	Kind string // after, afterok, afternotok, afterany
	Job  uint64
}

// Detail is what it takes further rows to know.
type Detail struct {
	ExecVNode       string
	Dir             string
	From            string // the directory where qsub was typed; "" for Dir
	Out, Err, In    string
	Joined          bool // both streams go to Out
	Mail, MailTo    string
	Env             []string // NAME=VALUE
	Line            string   // how it was submitted
	Command         string
	Host            string // where
	CPUUser, CPUSys time.Duration
	MaxRSS          int64 // bytes
	CPUsPerTask     int
	MemPerCPU       int64 // kb
	MemPerNode      int64
}

// Elapsed is how long a job has run by an instant.
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
	Reserved       bool // a reservation has it
	Excl           bool // one job has it whole
	Since          time.Time
	Reason         string
	CPUs, CPUsUsed int
	Mem, MemUsed   int64 // kb
	Disk           int64 // kb
	GPUs, GPUsUsed int
	Load           float64
	Features       []string
	Priority       int64 // nodes with more are taken first
	Jobs           []uint64
	Values         []Value // all its resources, in their order
}

// Value is a resource of a node.
type Value struct {
	Name, Value, Used string
	Consumable        bool
	Counted           bool // a whole number of something, and no size or time
}

// NodeState is how a node stands.
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
