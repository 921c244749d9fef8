package row

import (
	"slices"
)

const jobVersion = 3

// A job's row is a version, the state, these times and these texts. Of the rest, views read
// only the nodes in place: see JobNodes.
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

func jobFields(f *Fields, j *Job) {
	if jobHead(f, j) < 3 {
		return
	}
	Int(f, "index", &j.Index)
	jobMiddle(f, j)
	f.Texts("command", &j.Command)
	restFields(f, j)
}

// jobMiddle lists the fields between the index and the command.
func jobMiddle(f *Fields, j *Job) {
	Int(f, "exit", &j.Exit)
	Int(f, "failures", &j.Failures)
	for i := range Items(f, "after", &j.After) {
		Byte(f, "when", &j.After[i].When)
		Uint(f, "job", &j.After[i].Job)
		f.Next()
	}
}

// jobHead lists the fields before the index. It returns the version of the row.
func jobHead(f *Fields, j *Job) (version byte) {
	version = f.Version(jobVersion)
	KeyPart(f, "id", 0, 8, 8, &j.ID)
	Byte(f, "state", &j.State)
	start, end := j.clock()
	Int(f, "walltime", &j.Walltime)
	f.At("submit", &j.Submit, Past)
	f.At("start", &j.Start, start)
	f.At("end", &j.End, end)
	f.Text("name", &j.Name)
	f.Text("user", &j.User)
	f.Text("account", &j.Account)
	f.Text("queue", &j.Queue)
	f.Text("class", &j.Class)
	f.Text("key", &j.Key)
	f.Text("select", &j.Select)
	f.Text("place", &j.Place)
	f.Text("path", (*string)(&j.Path))
	f.Text("policy", &j.Policy)
	f.Text("set", &j.Set)
	f.Text("reason", &j.Reason.Text)
	chunkFields(f, &j.Chunks)
	if version < 2 {
		return version
	}
	f.Text("group", &j.Group)
	Byte(f, "access", &j.Access)
	f.Text("reservation", &j.Reservation)
	f.Texts("prefer", &j.Prefer)
	Uints(f, "along", &j.Along)
	for i := range j.Chunks {
		shareFields(f, j.Chunks[i].Nodes)
	}
	if version < 3 {
		return version
	}
	f.Bits(Fact{"queued", &j.Queued}, Fact{"attended", &j.Attended}, Fact{"noRequeue", &j.NoRequeue}, Fact{"launched", &j.Launched},
		Fact{"noPolicy", &j.NoPolicy}, Fact{"never", &j.Never}, Fact{"claimed", &j.Claimed}, Fact{"ending", &j.Ending}) // their bits must not change
	Int(f, "priority", &j.Priority)
	f.sinceAttempt(j.ID)
	f.At("begin", &j.Begin, Shifts)
	f.At("deadline", &j.Deadline, Wish)
	Int(f, "array", &j.Array)
	return version
}

// clock returns what the start and the end of the job mean to the clock: past, under way, or a
// plan.
func (j *Job) clock() (start, end Clock) {
	switch {
	case j.State == JobRunning:
		return Past, Shifts
	case j.State.Live() || j.State == 0:
		return Made, Made
	}
	return Past, Past
}

// restFields lists a job's payload, its attempt, and everything else. The row ends where
// nothing more must be written.
func restFields(f *Fields, j *Job) {
	parts, further := j.tail()
	carries, more := j.Payload != (PayloadKey{}), j.Attempt != 0 || parts != 0
	if !f.More(carries || more) {
		return
	}
	payloadKeyField(f, &j.Payload, carries)
	if !f.More(more) {
		return
	}
	Uint(f, "attempt", &j.Attempt)
	if !f.More(parts != 0) {
		return
	}
	if f.raw(&parts); f.dir == reading {
		j.OverLimits = parts&tailOverLimits != 0
	} else if !f.bytes() {
		parts, further = 0xff, moreUID|moreSignature|moreRetryOf|moreLine|moreComment|morePromised|moreReason|moreExclude
		f.fact("overLimits", &j.OverLimits)
		f.fact("paused", &j.Paused)
		f.fact("backfilled", &j.Backfilled)
	}
	if parts&tailFailures != 0 {
		Uint(f, "retried", &j.Retried)
		Uint(f, "unbegun", &j.Unbegun)
		Uint(f, "lost", &j.Lost)
		Uints(f, "excluded", &j.Excluded)
	}
	if parts&tailDevices != 0 {
		jobDeviceFields(f, j)
	}
	if Part(f, "attendant", &j.Attendant, parts&tailAttendant != 0) {
		attendantFields(f, j.Attendant)
		f.End()
	}
	if parts&tailPools != 0 {
		poolFields(f, "pools", &j.Pools)
		Uint(f, "poolsWithin", &j.PoolsWithin)
	}
	if parts&tailYielded != 0 {
		Uints(f, "yieldedTo", &j.YieldedTo)
	}
	if parts&tailIdle != 0 {
		f.Passed("idle", &j.Idle, j.Submit)
		f.At("idleSince", &j.IdleSince, Past)
	}
	if parts&tailMore == 0 {
		return
	}
	if f.bytes() {
		further = f.uvar(further)
	}
	if f.dir == reading {
		j.Paused, j.Backfilled = further&morePaused != 0, further&moreBackfilled != 0
	}
	if further&moreUID != 0 {
		f.UID("uid", &j.UID)
	}
	if further&moreComment != 0 {
		f.Text("comment", &j.Comment)
	}
	if further&morePromised != 0 {
		f.At("promised", &j.Promised, Lapses) // without a promise, the next cycle plans it again
		f.At("earliest", &j.Earliest, Lapses)
	}
	if further&moreReason != 0 {
		reasonFields(f, &j.Reason)
	}
	if further&moreExclude != 0 {
		f.Text("exclude", &j.Exclude)
	}
	if further&moreSignature != 0 {
		f.Blob("signature", &j.Signature)
	}
	if further&moreRetryOf != 0 {
		Uint(f, "retryOf", &j.RetryOf)
	}
	if further&moreLine != 0 {
		f.Text("line", &j.Line)
	}
}

func attendantFields(f *Fields, a *Attendant) {
	f.Digits("nonce", a.Nonce[:])
	Uint(f, "uid", &a.UID)
	f.Text("host", &a.Host)
	f.Text("boot", &a.Boot)
	Uint(f, "pidns", &a.PIDNS)
	Uint(f, "pid", &a.PID)
	Uint(f, "born", &a.Born)
}

// payloadKeyField is the key of a job's payload, after its length, which is 0 for none.
func payloadKeyField(f *Fields, k *PayloadKey, carries bool) {
	n := 0
	switch {
	case !f.bytes():
		f.Digits("payload", k[:])
		return
	case carries:
		n = len(k)
	}
	switch n = f.count(n); n {
	case len(k):
		f.fixedBytes(k[:])
	default:
		f.Must(n == 0)
	}
}

// chunkFields lists the nodes of chunks. How the nodes are shared follows all of them: see
// shareFields.
func chunkFields(f *Fields, list *[]JobChunk) {
	if f.borrow {
		passChunks(f, list)
		return
	}
	for i := range Again(f, "chunks", list) {
		c := &(*list)[i]
		Uint(f, "count", &c.Count)
		last := int64(0)
		for k := range Again(f, "nodes", &c.Nodes) {
			x := &c.Nodes[k]
			if !f.bytes() {
				wholeNodeFields(f, x)
				f.Next()
				continue
			}
			last += f.ivar(int64(x.Node) - last)
			if f.dir == reading {
				*x = JobNode{Node: uint32(last)}
			}
			Uint(f, "chunks", &x.Chunks)
		}
		f.Next()
	}
}

// passChunks skips the nodes of chunks, because no index uses them.
func passChunks(f *Fields, list *[]JobChunk) {
	for i := range Again(f, "chunks", list) {
		(*list)[i] = JobChunk{Count: int(f.uvar(0))}
		for range 2 * f.count(0) {
			if f.uvar(0); f.bad {
				return
			}
		}
	}
}

func wholeNodeFields(f *Fields, x *JobNode) {
	numberAside(f, "node", &x.Node)
	numberAside(f, "chunks", &x.Chunks)
	f.fact("shared", &x.Shared)
	f.fact("alone", &x.Alone)
	numberAside(f, "within", &x.Within)
}

// shareFields tells how a chunk's nodes are shared, once if all are alike. Version 1 had only
// whole nodes.
func shareFields(f *Fields, nodes []JobNode) {
	switch f.dir {
	case writing:
		n := len(nodes)
		if n > 0 && !slices.ContainsFunc(nodes, func(x JobNode) bool { return x.share() != nodes[0].share() }) {
			n = 1
		}
		f.uvar(uint64(n))
		for _, x := range nodes[:n] {
			f.uvar(x.share())
		}
	case reading:
		n, head := f.count(0), uint64(0)
		for i := range max(n, len(nodes)) {
			if i < n {
				head = f.uvar(0)
			}
			if n > 0 && i < len(nodes) {
				nodes[i].Shared, nodes[i].Alone, nodes[i].Within = head&1 != 0, head&2 != 0, head>>2
			}
		}
	}
}

// EncodeJob returns the row of a job.
func EncodeJob(j *Job) []byte { return encode(jobFields, j) }

// The optional parts at the end of a job's row. On disk; must not change.
const (
	tailFailures = 1 << iota // failed attempts, and excluded nodes
	tailDevices
	tailAttendant
	tailPools
	tailYielded
	tailOverLimits // a flag without data
	tailIdle
	tailMore // further parts, which formats before 10 do not look for, after all others
)

// Further optional parts at the end of a job's row. On disk; must not change.
const (
	moreUID = 1 << iota
	moreSignature
	moreRetryOf
	moreLine
	morePaused // a flag without data
	moreComment
	morePromised
	moreReason
	moreBackfilled // a flag without data
	moreExclude
)

// tail returns which of the optional parts the job has.
func (j *Job) tail() (parts byte, further uint64) {
	is := func(bit byte, set bool) {
		if set {
			parts |= bit
		}
	}
	is(tailFailures, j.Retried != 0 || j.Unbegun != 0 || j.Lost != 0 || len(j.Excluded) > 0)
	is(tailDevices, j.Bind != 0 || len(j.Devices) > 0)
	is(tailAttendant, j.Attendant != nil)
	is(tailPools, len(j.Pools) > 0)
	is(tailYielded, len(j.YieldedTo) > 0)
	is(tailOverLimits, j.OverLimits)
	is(tailIdle, j.Idle != 0 || j.IdleSince != 0)
	more := func(bit uint64, set bool) {
		if set {
			further |= bit
		}
	}
	more(moreUID, j.UID != nil)
	more(moreSignature, len(j.Signature) > 0)
	more(moreRetryOf, j.RetryOf != 0)
	more(moreLine, j.Line != "")
	more(morePaused, j.Paused)
	more(moreBackfilled, j.Backfilled)
	more(moreExclude, j.Exclude != "")
	more(moreComment, j.Comment != "")
	more(moreReason, j.Reason.told())
	more(morePromised, j.Promised != 0 || j.Earliest != 0)
	is(tailMore, further != 0)
	return parts, further
}

// DecodeJob reads the whole of a job.
func DecodeJob(key, payload []byte) (*Job, error) {
	j := new(Job)
	return j, j.Decode(key, payload)
}

// Decode reads a row into a job. It reuses the memory of the job's chunks and nodes.
func (j *Job) Decode(key, payload []byte) error {
	f := Fields{dir: reading, b: payload, key: key}
	*j = Job{Chunks: j.Chunks}
	jobFields(&f, j)
	return f.done(Jobs)
}

// share returns how a node is shared, as one number.
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
