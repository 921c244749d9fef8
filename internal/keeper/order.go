package keeper

import (
	"time"

	"github.com/placectl/placectl/internal/engine"
)

// Order is what to execute in an attempt, and everything that the command should know about itself.
type Order struct {
	Key
	Nonce   engine.Nonce    // the nonce of its claim
	Command []string        // the command, nil if the payload has a script
	Line    string          // of submit --each
	Payload *engine.Payload // the job's payload
	Left    time.Duration   // time until its end
	Ending  bool            // it must be stopped, as an adopted one may have to be

	Name, User, Queue, Class, Account, Reservation string
	Array                                          *Array // nil if the job is in no array
	Nodes                                          []string
	Hosts                                          []string // its nodes, each once, without the one that executes it
	// the cores of each node if the job has whole nodes, otherwise nil
	Whole      []int
	Chunks     []Chunk // in select order
	Walltime   time.Duration
	Start, End time.Time

	Enforce string // the setting enforce: auto, cgroup, poll or none
	Memory  int64  // bytes requested on its first node; 0: not requested
	Cores   int    // cores requested there, as hardware threads if the node names them; 0: not requested
	CPUs    []int  // the hardware threads it may use there; nil: all
	Groups  []int  // the NUMA nodes of those

	DeviceEnv  []string // variables that name its devices on the first node, from devices.Environ
	DeviceFile []string // for all its nodes: a node, a blank, and PLACECTL_DEVICES

	Server    string // follows job numbers in PBS_JOBID
	Partition string // the queue for PBS and Slurm, where jobs without a queue have one with a name
	Cluster   string
}

// Array is the array of a job, and the job's place in it.
type Array struct {
	Number                       uint64
	Index                        int
	Count, Least, Greatest, Step int
}

// Chunk is a chunk of the request on its node, with its amounts. An amount that was not requested is 0.
type Chunk struct {
	Node      string
	Cores     int
	Processes int // mpiprocs
	Threads   int // ompthreads
	GPUs      int
}

// grace returns the time from telling the command to terminate to killing it.
func (o *Order) grace() time.Duration {
	if grace := o.Payload.Ending.Grace; grace != 0 {
		return max(grace, 0)
	}
	return engine.DefaultGrace
}

// share returns what the attempt may use of its first node. A job with the whole node may use all its
// cores.
func (o *Order) share() share {
	s := share{Memory: o.Memory, Cores: o.Cores, Threads: o.CPUs, Groups: o.Groups}
	if o.Whole != nil {
		s.Cores = 0
	}
	return s
}

// submitHost returns the host where the job was submitted, "" if unknown.
func (o *Order) submitHost() string {
	if o.Payload.Owner == nil {
		return ""
	}
	return o.Payload.Owner.Host
}
