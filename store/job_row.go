package store

import (
	"encoding/binary"
	"fmt"

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
)

var jobStateNames = [...]string{JobHeld: "held", JobQueued: "queued", JobReserved: "reserved", JobRunning: "running",
	JobFinished: "finished", JobFailed: "failed", JobCancelled: "cancelled"}

func (s JobState) String() string {
	if int(s) < len(jobStateNames) && jobStateNames[s] != "" {
		return jobStateNames[s]
	}
	return fmt.Sprintf("state(%d)", s)
}

// Live reports whether the job may still come to hold nodes, or holds some.
func (s JobState) Live() bool { return s >= JobHeld && s <= JobRunning }

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
	Policy   string
	Set      string // placement set, as key=value
	Reason   string
	Walltime int64 // seconds
	Submit   int64 // Unix seconds, as Start and End
	Start    int64
	End      int64 // expected while it runs, actual afterwards
	Chunks   []JobChunk
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
}

// NodeNumbers lists the nodes of a job in chunk order.
func (j *Job) NodeNumbers() []uint32 {
	var out []uint32
	for _, c := range j.Chunks {
		for _, n := range c.Nodes {
			out = append(out, n.Node)
		}
	}
	return out
}

const jobVersion = 1

func encodeJob(j *Job) []byte {
	e := encoder{b: make([]byte, 0, 128)}
	e.byte(jobVersion)
	e.byte(byte(j.State))
	for _, t := range []int64{j.Walltime, j.Submit, j.Start, j.End} {
		e.int(t)
	}
	for _, s := range []string{j.Name, j.User, j.Account, j.Queue, j.Class, j.Key, j.Select, j.Place,
		string(j.Path), j.Policy, j.Set, j.Reason} {
		e.string(s)
	}
	e.uint(uint64(len(j.Chunks)))
	for _, c := range j.Chunks {
		e.uint(uint64(c.Count))
		e.uint(uint64(len(c.Nodes)))
		last := int64(0)
		for _, n := range c.Nodes {
			e.int(int64(n.Node) - last)
			e.uint(uint64(n.Chunks))
			last = int64(n.Node)
		}
	}
	return e.b
}

func decodeJob(key, row []byte) (*Job, error) {
	d := decoder{b: row}
	d.byte()
	j := &Job{State: JobState(d.byte())}
	for _, t := range []*int64{&j.Walltime, &j.Submit, &j.Start, &j.End} {
		*t = d.int()
	}
	for _, s := range []*string{&j.Name, &j.User, &j.Account, &j.Queue, &j.Class, &j.Key, &j.Select, &j.Place,
		(*string)(&j.Path), &j.Policy, &j.Set, &j.Reason} {
		*s = d.string()
	}
	j.Chunks = make([]JobChunk, d.count())
	for i := range j.Chunks {
		c := &j.Chunks[i]
		c.Count = int(d.uint())
		c.Nodes = make([]JobNode, d.count())
		last := int64(0)
		for k := range c.Nodes {
			last += d.int()
			c.Nodes[k] = JobNode{uint32(last), int(d.uint())}
		}
	}
	if len(key) != 8 {
		d.bad = true
	} else {
		j.ID = binary.BigEndian.Uint64(key)
	}
	return j, d.done(tableJobs, key)
}
