package row

import (
	"encoding/binary"
	"fmt"
)

// JobView reads single fields of a job's row in place. What it returns is valid as long as the
// row. One view may be opened on many rows, one after the other.
type JobView struct {
	id           uint64
	key, payload []byte

	timed bool
	times [jobTimes]int64
	texts texts
	whole *Job
}

// Open turns the view to a row.
func (v *JobView) Open(key, payload []byte) error {
	if len(payload) < 2 || len(key) != 8 {
		return fmt.Errorf("%w: job row %x is short", ErrDamaged, key)
	}
	v.id, v.key, v.payload = binary.BigEndian.Uint64(key), key, payload
	v.timed, v.whole, v.texts.bad = false, nil, false
	return nil
}

// OnlyState makes the view show a job of which only the state is known.
func (v *JobView) OnlyState(s JobState) { v.payload = []byte{jobVersion, byte(s)} }

// ID returns the job's number.
func (v *JobView) ID() uint64 { return v.id }

// State returns the job's state.
func (v *JobView) State() JobState { return JobState(v.payload[1]) }

// Walltime returns the requested walltime, in seconds.
func (v *JobView) Walltime() int64 { return v.time(jobWalltime) }

// Submit returns when the job was submitted, in Unix seconds, like Start and End.
func (v *JobView) Submit() int64 { return v.time(jobSubmit) }

// Start returns when the job began, or is planned to begin.
func (v *JobView) Start() int64 { return v.time(jobStart) }

// End returns when the job ended, or is expected to end.
func (v *JobView) End() int64 { return v.time(jobEnd) }

func (v *JobView) time(i int) int64 {
	v.find()
	return v.times[i]
}

// Select returns the job's select.
func (v *JobView) Select() []byte {
	v.find()
	return v.texts.get(jobSelect)
}

// Queue returns the job's queue, or "".
func (v *JobView) Queue() []byte {
	v.find()
	return v.texts.get(jobQueue)
}

// JobText is one of the texts of a job that queries ask for most.
type JobText int

// The texts, in their order in the row.
const (
	JobNameText    JobText = 0
	JobUserText    JobText = 1
	JobAccountText JobText = 2
	JobQueueText   JobText = jobQueue
	JobClassText   JobText = 4
	JobSelectText  JobText = jobSelect
)

// Text returns a text of the job, without reading beyond it.
func (v *JobView) Text(t JobText) ([]byte, error) {
	v.find()
	text := v.texts.get(int(t))
	if v.texts.bad {
		return nil, fmt.Errorf("%w: job %d: its row ends in a text", ErrDamaged, v.id)
	}
	return text, nil
}

// find reads the times. The texts follow them.
func (v *JobView) find() {
	if v.timed {
		return
	}
	v.timed = true
	d := Reader{B: v.payload[2:]}
	for i := range v.times {
		v.times[i] = d.Int()
	}
	v.texts.open(v.payload, len(v.payload)-len(d.B))
}

// Job reads the whole of the job, once. With an error, it returns the part that could be read.
func (v *JobView) Job() (j *Job, err error) {
	if v.whole == nil {
		v.whole, err = DecodeJob(v.key, v.payload)
	}
	return v.whole, err
}

// JobNodes reads the nodes of a job's row in place: those of its chunks, then those taken
// along with their host.
type JobNodes struct {
	Chunk int    // position of the current node's chunk, from 0; Chunks for a node taken along
	Node  uint32 // the current node's number
	Count int64  // how many of the chunk are on it; 0 for a node taken along

	Chunks int // number of chunks

	id    uint64
	d     Reader // after the current node
	left  int    // remaining nodes of the chunk
	along int    // remaining nodes taken along, or one of:
}

const (
	inChunks = -1 // the nodes of chunks come first
	noAlong  = -2 // rows of version 1 have none taken along
)

// Nodes returns a JobNodes positioned before the first node of the job.
func (v *JobView) Nodes() JobNodes {
	v.find()
	v.texts.find(jobTexts - 1)
	r := JobNodes{Chunk: -1, id: v.id, d: Reader{B: v.payload[v.texts.at:], Bad: v.texts.bad}, along: inChunks}
	r.Chunks = r.d.Count()
	if v.payload[0] < 2 {
		r.along = noAlong
	}
	return r
}

// Next moves to the next node. If only is not negative, it may skip nodes other than only.
func (r *JobNodes) Next(only int64) bool {
	for r.left == 0 && r.Chunk+1 < r.Chunks {
		r.Chunk++
		r.d.Uint()
		r.left, r.Node = r.d.Count(), 0
	}
	switch {
	case r.left > 0:
		if only >= 0 {
			r.pass(only)
		}
		r.left--
		if b := r.d.B; len(b) >= 2 && b[0] < 0x80 && b[1] < 0x80 { // most numbers are that short
			r.Node += shortDelta(b[0])
			r.Count, r.d.B = int64(b[1]), b[2:]
			return true
		}
		r.Node = uint32(int64(r.Node) + r.d.Int())
		r.Count = int64(r.d.Uint())
	case r.along == noAlong:
		return false
	default:
		if r.along == inChunks {
			r.findAlong()
		}
		if r.along == 0 {
			return false
		}
		r.along--
		r.Node, r.Count, r.Chunk = uint32(r.d.Uint()), 0, r.Chunks
	}
	return !r.d.Bad
}

// AllNodes lists the nodes of the job, each once, as Job.AllNodes does.
func (v *JobView) AllNodes() ([]uint32, error) {
	var nodes []uint32
	r := v.Nodes()
	for r.Next(-1) {
		nodes = append(nodes, r.Node)
	}
	if r.Chunks > 1 || r.Chunk == r.Chunks {
		nodes = each(nodes)
	}
	return nodes, r.Err()
}

// findAlong skips the fields between the chunks and the nodes taken along.
func (r *JobNodes) findAlong() {
	r.d.Bytes() // its group
	r.d.Byte()  // access
	r.d.Bytes() // reservation
	for range r.d.Count() {
		r.d.Bytes() // preferred
	}
	r.along = r.d.Count()
}

// Err returns ErrDamaged if the row is invalid.
func (r *JobNodes) Err() error {
	if r.d.Bad {
		return fmt.Errorf("%w: the row of job %d cannot be decoded", ErrDamaged, r.id)
	}
	return nil
}

// pass skips nodes of the chunk other than only, except the last.
func (r *JobNodes) pass(only int64) {
	b, node, left := r.d.B, r.Node, r.left
	for left > 1 && len(b) >= 2 && b[0] < 0x80 && b[1] < 0x80 {
		next := node + shortDelta(b[0])
		if int64(next) == only {
			break
		}
		node, b, left = next, b[2:], left-1
	}
	r.d.B, r.Node, r.left = b, node, left
}

// shortDelta returns the distance to the next node, if one byte holds it.
func shortDelta(b byte) uint32 { return uint32(int32(b>>1) ^ -int32(b&1)) }
