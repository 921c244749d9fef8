package runner

import (
	"time"

	"github.com/placectl/placectl/store"
)

// Order is what to execute in an attempt, and all that the command should know about itself.
type Order struct {
	Key
	Nonce   store.Nonce    // under which it is claimed
	Command []string       // the command, nil if the payload has a script
	Line    string         // of submit --each
	Payload *store.Payload // the job's payload
	Left    time.Duration  // until its end
	Ending  bool           // it must be stopped: possible for an adopted one

	Name, User, Queue, Class, Account, Reservation string
	Array                                          *Array // nil for a job that is in none
	Nodes                                          []string
	Hosts                                          []string // of its nodes, each once, but the one that executes it
	Whole                                          []int    // the cores of each node, of a job that has its nodes whole; else nil
	Chunks                                         []Chunk  // in the order of the select
	Walltime                                       time.Duration
	Start, End                                     time.Time

	Enforce string // the setting: auto, cgroup, poll or none
	Memory  int64  // bytes that it asked for on its first node; 0: it did not ask
	Cores   int    // how many it has there, as hardware threads where the node names them; 0: it did not ask
	CPUs    []int  // the hardware threads that it is kept to there; nil: none is kept from it
	Groups  []int  // the NUMA nodes that those lie in

	DeviceEnv  []string // variables that name its devices on the first node, from devices.Environ
	DeviceFile []string // the same for all its nodes: a node, a blank, and PLACECTL_DEVICES

	Server    string // behind the numbers of jobs, in PBS_JOBID
	Partition string // the queue, for PBS and Slurm: that of jobs without one has a name there
	Cluster   string
}

// Array is the array that a job is in, and its place there.
type Array struct {
	First                        uint64 // the number of its first job
	Index                        int
	Count, Least, Greatest, Step int
}

// Chunk is a chunk of the request, on its node, with its amounts. What was not asked for is 0.
type Chunk struct {
	Node      string
	Cores     int
	Processes int // mpiprocs
	Threads   int // ompthreads
	GPUs      int
}

// grace is the time that the command has between being told to terminate and being killed.
func (o *Order) grace() time.Duration {
	if grace := o.Payload.Ending.Grace; grace != 0 {
		return max(grace, 0)
	}
	return store.DefaultGrace
}

// share is what it may use of its first node. A job with the whole node may use all its cores.
func (o *Order) share() share {
	s := share{Memory: o.Memory, Cores: o.Cores, Threads: o.CPUs, Groups: o.Groups}
	if o.Whole != nil {
		s.Cores = 0
	}
	return s
}

// submitHost is where it was submitted, or "" if unknown.
func (o *Order) submitHost() string {
	if o.Payload.Owner == nil {
		return ""
	}
	return o.Payload.Owner.Host
}
