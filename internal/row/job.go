package row

import (
	"math"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/subject"
)

// Job is a job as its row has it.
type Job struct {
	JobFacts
	JobTimes[int64, int64] // Unix seconds, and seconds
}

// JobFacts is what the row of a job and the job that the library hands out have in common: everything
// but times.
type JobFacts struct {
	JobTerms
	ID     uint64
	Key    string // idempotency key, "" for none
	Path   placer.Path
	Set    string // placement set, as key=value
	Reason Reason
	Chunks []JobChunk
	Along  []uint32 // nodes taken whole because others of their host are

	State      JobState
	Queued     bool // it was submitted to the queue: cycles plan it
	Launched   bool // its launch was announced
	Claimed    bool // a process executes the attempt: see its row
	Ending     bool // and must stop it
	Never      bool // it was reported that it can never run, on the cluster of that time
	Paused     bool // its processes were sent STOP, and no CONT since
	Backfilled bool // it started before a waiting job of higher order

	Array    uint64 // the number of its array, drawn right before those of the array's jobs; 0 for none
	Index    int    // in the array, from 0
	Exit     int    // exit status, see HasExit
	Failures int    // number of failed launches

	// Payload is equal for jobs with equal payloads: see Jobs.Payload. It is zero for a job
	// without one.
	Payload PayloadKey

	Attendant *Attendant // the run process that waits for its start, if its life can be checked

	Attempt  int      // number of starts; 0 in rows of formats before 6
	Retried  int      // number of failed attempts that were followed by another
	Unbegun  int      // attempts in a row that were claimed and never executed
	Lost     int      // attempts in a row that were lost
	Excluded []uint32 // nodes that could not execute it, on which it must not start again

	Devices     []JobDevices // its devices on nodes that name them, while it runs: by node, then by resource
	PoolsWithin uint64       // the number of the reservation that supplies its pools as far as it can, or 0
	YieldedTo   []uint64     // the jobs for which it was stopped, the latest last; 0 for the share of another class

	Signature []byte // by its submitter, of the text of Signed; nil if there is none
	RetryOf   uint64 // the job that it repeats, or 0
	Line      string // for submit --each: its input line, or ""
}

// JobTerms is what a job asks for, but times. To alter a job replaces them.
type JobTerms struct {
	Name        string
	User        string
	UID         *uint32 // of User; nil if unknown
	Group       string
	Account     string
	Queue       string
	Class       string
	Select      string // in normal form
	Place       string
	Policy      string // the requested policy or, once it has nodes, the one it was placed by
	Reservation string // the reservation that it insists on
	Prefer      []string
	Exclude     string              // names of nodes that it must not get
	Pools       []placer.PoolAmount // the amounts of pools that it asks for, by name

	// NoPolicy means that the job named no policy. Each time it is placed, the policy of its
	// queue or of the store applies.
	NoPolicy   bool
	Access     index.Access
	Bind       devices.Policy // how its devices are chosen; NoPolicy means by the setting at its start
	OverLimits bool           // only the limit of its array can keep it from starting; it still counts for the others
	Attended   bool           // a process, placectl run, waits for its start and launches it
	NoRequeue  bool           // it is not queued again after it was stopped for another class

	Priority int64
	After    []Dependency
	Command  []string // for a launcher
	Comment  string   // a note by its user, or ""
}

// Whose returns whose job it is.
func (j *JobTerms) Whose() subject.Names {
	return subject.Names{subject.User: j.User, subject.Group: j.Group, subject.Account: j.Account,
		subject.Class: j.Class, subject.Queue: j.Queue}
}

// JobTimes are the instants and durations of a job. An instant that it does not have is zero.
type JobTimes[T, D any] struct {
	JobBounds[T, D]
	Submit    T
	Start     T
	End       T // expected while it runs, actual afterwards
	Idle      D // time since its submission in which it did not wait for its turn: it was held, kept by a limit, or ran
	IdleSince T // since when it does not wait for its turn again; zero if it does
	Promised  T // the latest start promised by relaxed backfilling
	Earliest  T // its earliest start at the time of that promise, by requested walltimes
}

// JobBounds are the times that a job asks for.
type JobBounds[T, D any] struct {
	Walltime D
	Begin    T // earliest start; zero for any
	Deadline T // latest end; zero for any
}

// TimesOf converts the times of a job.
func TimesOf[T, D, U, E any](t *JobTimes[T, D], at func(T) U, lasting func(D) E) JobTimes[U, E] {
	return JobTimes[U, E]{BoundsOf(&t.JobBounds, at, lasting), at(t.Submit), at(t.Start), at(t.End),
		lasting(t.Idle), at(t.IdleSince), at(t.Promised), at(t.Earliest)}
}

// BoundsOf converts the times that a job asks for.
func BoundsOf[T, D, U, E any](b *JobBounds[T, D], at func(T) U, lasting func(D) E) JobBounds[U, E] {
	return JobBounds[U, E]{lasting(b.Walltime), at(b.Begin), at(b.Deadline)}
}

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
	f.Bits(Fact{"queued", &j.Queued}, Fact{"attended", &j.Attended}, Fact{"noRequeue", &j.NoRequeue},
		Fact{"launched", &j.Launched},
		// their bits must not change
		Fact{"noPolicy", &j.NoPolicy}, Fact{"never", &j.Never}, Fact{"claimed", &j.Claimed}, Fact{"ending", &j.Ending})
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
		parts, further = 0xff, math.MaxUint64
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
	chunks := j.Chunks
	*j = Job{}
	j.Chunks = chunks
	jobFields(&f, j)
	return f.done(Jobs)
}
