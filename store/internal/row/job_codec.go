package row

import (
	"encoding/binary"
	"slices"

	"github.com/placectl/placectl/index"
)

const jobVersion = 3

// A job's row is a version, the state, these times and these texts, and then what no
// view reads in place but the nodes: see JobNodes.
const (
	jobWalltime = iota
	jobSubmit
	jobStart
	jobEnd
	jobTimes
)

const (
	jobQueue  = 3
	jobSelect = 6
	jobTexts  = 12
)

func (j *Job) times() [jobTimes]*int64 {
	return [...]*int64{jobWalltime: &j.Walltime, jobSubmit: &j.Submit, jobStart: &j.Start, jobEnd: &j.End}
}

func (j *Job) texts() [jobTexts]*string {
	return [...]*string{&j.Name, &j.User, &j.Account, jobQueue: &j.Queue, &j.Class, &j.Key, jobSelect: &j.Select, &j.Place,
		(*string)(&j.Path), &j.Policy, &j.Set, &j.Reason}
}

// EncodeJob is the row of a job.
func EncodeJob(j *Job) []byte {
	e := encoder{b: make([]byte, 0, 128)}
	e.byte(jobVersion)
	e.byte(byte(j.State))
	for _, t := range j.times() {
		e.int(*t)
	}
	for _, s := range j.texts() {
		e.string(*s)
	}
	encodeChunks(&e, j.Chunks)
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
	j.encodeQueued(&e)
	return e.b
}

// encodeChunks writes which nodes chunks are on, without how they are shared.
func encodeChunks(e *encoder, chunks []JobChunk) {
	e.uint(uint64(len(chunks)))
	for _, c := range chunks {
		e.uint(uint64(c.Count))
		e.uint(uint64(len(c.Nodes)))
		last := int64(0)
		for _, n := range c.Nodes {
			e.int(int64(n.Node) - last)
			e.uint(uint64(n.Chunks))
			last = int64(n.Node)
		}
	}
}

// decodeChunks reads them. It writes over the chunks and nodes that were there.
func decodeChunks(d *decoder, chunks []JobChunk) []JobChunk {
	n := d.count()
	chunks = slices.Grow(chunks[:0], n)[:n]
	for i := range chunks {
		c := &chunks[i]
		c.Count = int(d.uint())
		n := d.count()
		c.Nodes = slices.Grow(c.Nodes[:0], n)[:n]
		last := int64(0)
		for k := range c.Nodes {
			last += d.int()
			c.Nodes[k] = JobNode{Node: uint32(last), Chunks: int(d.uint())}
		}
	}
	return chunks
}

// facts lists what a row keeps as bits of one byte. On disk; their order must not
// change.
func (j *Job) facts() [8]*bool {
	return [...]*bool{&j.Queued, &j.Attended, &j.NoRequeue, &j.Launched, &j.NoPolicy, &j.Never, &j.Claimed, &j.Ending}
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

// encodeQueued writes what a job that was submitted brings along besides its request.
func (j *Job) encodeQueued(e *encoder) {
	for _, n := range []int64{j.Priority, j.Begin, j.Deadline, int64(j.Array), int64(j.Index), int64(j.Exit), int64(j.Failures)} {
		e.int(n)
	}
	e.uint(uint64(len(j.After)))
	for _, d := range j.After {
		e.byte(byte(d.When))
		e.uint(d.Job)
	}
	e.strings(j.Command)
	j.encodeRest(e)
}

// The parts that may stand at the end of a job's row. On disk; must not change.
const (
	tailFailures = 1 << iota // attempts that came to nothing, and nodes that it is kept off
	tailDevices
	tailAttendant
	tailPools
	tailYielded
	tailOverLimits // nothing follows
	tailIdle
	tailMore // further parts, which formats before 10 do not look for, behind all others
)

// The further parts at the end of a job's row. On disk; must not change.
const (
	moreUID = 1 << iota
	moreSignature
)

// encodeRest writes what a job carries, which attempt it is at, and what else there is, as
// far as there is something to write.
func (j *Job) encodeRest(e *encoder) {
	parts := 0
	if j.Retried != 0 || j.Unbegun != 0 || j.Lost != 0 || len(j.Excluded) > 0 {
		parts |= tailFailures
	}
	if j.Bind != 0 || len(j.Devices) > 0 {
		parts |= tailDevices
	}
	if j.Attendant != nil {
		parts |= tailAttendant
	}
	if len(j.Pools) > 0 {
		parts |= tailPools
	}
	if len(j.YieldedTo) > 0 {
		parts |= tailYielded
	}
	if j.OverLimits {
		parts |= tailOverLimits
	}
	if j.Idle != 0 || j.IdleSince != 0 {
		parts |= tailIdle
	}
	further := uint64(0)
	if j.UID != nil {
		further |= moreUID
	}
	if len(j.Signature) > 0 {
		further |= moreSignature
	}
	if further != 0 {
		parts |= tailMore
	}
	carries, more := j.Payload != (PayloadKey{}), j.Attempt != 0 || parts != 0
	if carries {
		e.string(string(j.Payload[:]))
	} else if more {
		e.string("")
	}
	if more {
		e.uint(uint64(j.Attempt))
	}
	if parts == 0 {
		return
	}
	e.byte(byte(parts))
	if parts&tailFailures != 0 {
		for _, n := range []int{j.Retried, j.Unbegun, j.Lost, len(j.Excluded)} {
			e.uint(uint64(n))
		}
		for _, n := range j.Excluded {
			e.uint(uint64(n))
		}
	}
	if parts&tailDevices != 0 {
		encodeJobDevices(e, j)
	}
	if a := j.Attendant; a != nil {
		e.b = append(e.b, a.Nonce[:]...)
		e.uint(uint64(a.UID))
		e.string(a.Host)
		e.string(a.Boot)
		for _, n := range []uint64{a.PIDNS, uint64(a.PID), a.Born} {
			e.uint(n)
		}
	}
	if parts&tailPools != 0 {
		encodePools(e, j.Pools)
		e.uint(j.PoolsWithin)
	}
	if parts&tailYielded != 0 {
		e.uint(uint64(len(j.YieldedTo)))
		for _, id := range j.YieldedTo {
			e.uint(id)
		}
	}
	if parts&tailIdle != 0 {
		e.int(j.Idle)
		e.int(j.IdleSince)
	}
	if further == 0 {
		return
	}
	e.uint(further)
	if j.UID != nil {
		e.uint(uint64(*j.UID))
	}
	if further&moreSignature != 0 {
		e.string(string(j.Signature))
	}
}

func (j *Job) decodeQueued(d *decoder) {
	j.Priority, j.Begin, j.Deadline = d.int(), d.int(), d.int()
	j.Array, j.Index, j.Exit, j.Failures = uint64(d.int()), int(d.int()), int(d.int()), int(d.int())
	if n := d.count(); n > 0 {
		j.After = make([]Dependency, n)
	}
	for i := range j.After {
		j.After[i] = Dependency{When: When(d.byte()), Job: d.uint()}
	}
	j.Command = d.strings()
	j.decodeRest(d)
}

func (j *Job) decodeRest(d *decoder) {
	if len(d.b) > 0 {
		if key := d.take(d.count()); len(key) == len(j.Payload) {
			copy(j.Payload[:], key)
		} else if len(key) > 0 {
			d.bad = true
		}
	}
	if len(d.b) > 0 {
		j.Attempt = int(d.uint())
	}
	if len(d.b) == 0 {
		return
	}
	parts := d.byte()
	j.OverLimits = parts&tailOverLimits != 0
	if parts&tailFailures != 0 {
		j.Retried, j.Unbegun, j.Lost = int(d.uint()), int(d.uint()), int(d.uint())
		for range d.count() {
			j.Excluded = append(j.Excluded, uint32(d.uint()))
		}
	}
	if parts&tailDevices != 0 {
		decodeJobDevices(d, j)
	}
	if parts&tailAttendant != 0 {
		a := new(Attendant)
		copy(a.Nonce[:], d.take(len(a.Nonce)))
		a.UID, a.Host, a.Boot = uint32(d.uint()), d.string(), d.string()
		a.PIDNS, a.PID, a.Born = d.uint(), int(d.uint()), d.uint()
		j.Attendant = a
	}
	if parts&tailPools != 0 {
		j.Pools, j.PoolsWithin = decodePools(d), d.uint()
	}
	if parts&tailYielded != 0 {
		j.YieldedTo = make([]uint64, d.count())
		for i := range j.YieldedTo {
			j.YieldedTo[i] = d.uint()
		}
	}
	if parts&tailIdle != 0 {
		j.Idle, j.IdleSince = d.int(), d.int()
	}
	if parts&tailMore == 0 {
		return
	}
	further := d.uint()
	if further&moreUID != 0 {
		uid := uint32(d.uint())
		j.UID = &uid
	}
	if further&moreSignature != 0 {
		j.Signature = []byte(d.string())
	}
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

// DecodeJob reads the whole of a job.
func DecodeJob(key, payload []byte) (*Job, error) {
	j := new(Job)
	return j, j.Decode(key, payload)
}

// Decode makes a job the one of a row. It writes over the chunks and nodes that it had.
func (j *Job) Decode(key, payload []byte) error {
	d := decoder{b: payload}
	version := d.byte()
	*j = Job{State: JobState(d.byte()), Chunks: j.Chunks}
	for _, t := range j.times() {
		*t = d.int()
	}
	for _, s := range j.texts() {
		*s = d.string()
	}
	j.Chunks = decodeChunks(&d, j.Chunks)
	if version >= 2 {
		j.decodeTail(&d, version)
	}
	if len(key) != 8 {
		d.bad = true
	} else {
		j.ID = binary.BigEndian.Uint64(key)
	}
	return d.done(Jobs, key)
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
		j.decodeQueued(d)
	}
}
