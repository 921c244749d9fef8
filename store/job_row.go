package store

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/placectl/placectl/index"
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

	Waiting // of jobs that came through the queue
}

// Waiting is what a job that was submitted brings along besides its request. The
// zero value is that of a job which was placed by hand.
type Waiting struct {
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
	seen := make(map[uint32]bool)
	return slices.DeleteFunc(append(j.NodeNumbers(), j.Along...), func(n uint32) bool {
		twice := seen[n]
		seen[n] = true
		return twice
	})
}

const jobVersion = 3

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
	e.string(j.Group)
	e.byte(byte(j.Access))
	e.string(j.Reservation)
	e.strings(j.Prefer)
	e.uint(uint64(len(j.Along)))
	for _, n := range j.Along {
		e.uint(uint64(n))
	}
	for _, c := range j.Chunks {
		encodeShares(&e, c.Nodes)
	}
	e.byte(j.flags())
	j.Waiting.encode(&e)
	return e.b
}

// facts lists what a row keeps as bits of one byte. On disk; their order must not
// change.
func (j *Job) facts() [6]*bool {
	return [...]*bool{&j.Queued, &j.Attended, &j.NoRequeue, &j.Launched, &j.NoPolicy, &j.Never}
}

func (j *Job) flags() byte {
	bits := byte(0)
	for i, set := range j.facts() {
		if *set {
			bits |= 1 << i
		}
	}
	return bits
}

func (w *Waiting) encode(e *encoder) {
	for _, n := range []int64{w.Priority, w.Begin, w.Deadline, int64(w.Array), int64(w.Index), int64(w.Exit), int64(w.Failures)} {
		e.int(n)
	}
	e.uint(uint64(len(w.After)))
	for _, d := range w.After {
		e.byte(byte(d.When))
		e.uint(d.Job)
	}
	e.strings(w.Command)
}

func (w *Waiting) decode(d *decoder) {
	w.Priority, w.Begin, w.Deadline = d.int(), d.int(), d.int()
	w.Array, w.Index, w.Exit, w.Failures = uint64(d.int()), int(d.int()), int(d.int()), int(d.int())
	if n := d.count(); n > 0 {
		w.After = make([]Dependency, n)
	}
	for i := range w.After {
		w.After[i] = Dependency{When: When(d.byte()), Job: d.uint()}
	}
	w.Command = d.strings()
}

// encodeShares writes how a chunk's nodes are shared: once where all are alike.
func encodeShares(e *encoder, nodes []JobNode) {
	n := len(nodes)
	if n > 0 && !slices.ContainsFunc(nodes, func(x JobNode) bool { return x.share() != nodes[0].share() }) {
		n = 1
	}
	e.uint(uint64(n))
	for _, x := range nodes[:n] {
		e.uint(x.share())
	}
}

// share is how a node is shared as one number.
func (n JobNode) share() uint64 {
	head := n.Within << 2
	if n.Shared {
		head |= 1
	}
	if n.Alone {
		head |= 2
	}
	return head
}

// decodeShares reads how a chunk's nodes are shared. Version 1 knew whole nodes.
func decodeShares(d *decoder, nodes []JobNode) {
	list := make([]uint64, d.count())
	for i := range list {
		list[i] = d.uint()
	}
	for i := range nodes {
		if len(list) == 0 {
			return
		}
		head := list[min(i, len(list)-1)]
		nodes[i].Shared, nodes[i].Alone, nodes[i].Within = head&1 != 0, head&2 != 0, head>>2
	}
}

func decodeJob(key, row []byte) (*Job, error) {
	d := decoder{b: row}
	version := d.byte()
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
			c.Nodes[k] = JobNode{Node: uint32(last), Chunks: int(d.uint())}
		}
	}
	if version >= 2 {
		j.decodeTail(&d, version)
	}
	if len(key) != 8 {
		d.bad = true
	} else {
		j.ID = binary.BigEndian.Uint64(key)
	}
	return j, d.done(tableJobs, key)
}

// decodeTail reads what later versions added.
func (j *Job) decodeTail(d *decoder, version byte) {
	j.Group = d.string()
	j.Access = index.Access(d.byte())
	j.Reservation = d.string()
	j.Prefer = d.strings()
	if n := d.count(); n > 0 {
		j.Along = make([]uint32, n)
	}
	for i := range j.Along {
		j.Along[i] = uint32(d.uint())
	}
	for i := range j.Chunks {
		decodeShares(d, j.Chunks[i].Nodes)
	}
	if version >= 3 {
		bits := d.byte()
		for i, set := range j.facts() {
			*set = bits&(1<<i) != 0
		}
		j.Waiting.decode(d)
	}
}
