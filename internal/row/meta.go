package row

import (
	"encoding/hex"
	"strconv"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
)

// State holds the clock, the next unused numbers, and the state of cycles. It is one row.
type State struct {
	AsOf            int64 // the instant that the bitmaps describe
	NextNode        uint32
	NextBucket      uint32
	NextResource    index.ResID
	NextJob         uint64
	NextReservation uint64
	UsageSince      int64 // when counting usage began; 0 in a file that has never counted
	Events          uint64
	Invalidations   uint64    // how often room was made, by nodes given back or otherwise
	ForgottenJobs   uint64    // the job at which the next cycle continues to look for jobs to delete
	ForgottenEvents uint64    // the same for events
	Planned         uint64    // the invalidation at which a cycle last examined all plans
	Looked          uint64    // the next job number when the last cycle was made
	NodesSince      int64     // since when the past of nodes is recorded
	Startable       uint64    // number of commits that may have let something start or stop, without cycles
	Cycle           CycleKind // of the last cycle: its findings hold for cycles of this kind
	Jumped          int64     // the instant at which a writer last found that the clock had jumped; 0 for never
	Woke            int64     // the same, for claims: the time to make them counts from then
	Ordered         int64     // the instant for which it sorted jobs by job_priority; 0 for the order of submission
}

// CycleKind holds the options that decide, besides settings, which jobs a cycle starts.
type CycleKind struct {
	Backfill, Depth uint64 // Depth is set only with easy
	WidestFirst     bool
}

const stateVersion = 1

// LastInstant is the last instant of a clock.
const LastInstant = placer.LastInstant

func stateFields(f *Fields, s *State) {
	f.Version(stateVersion)
	f.At("asOf", &s.AsOf, Past)
	Uint(f, "nextNode", &s.NextNode)
	Uint(f, "nextBucket", &s.NextBucket)
	Uint(f, "nextResource", &s.NextResource)
	Uint(f, "nextJob", &s.NextJob)
	Uint(f, "nextReservation", &s.NextReservation)
	if f.More(true) { // rows of the first files end here
		f.At("usageSince", &s.UsageSince, Past)
	}
	if f.More(true) {
		Uint(f, "events", &s.Events)
		Uint(f, "invalidations", &s.Invalidations)
		Uint(f, "planned", &s.Planned)
	}
	if f.More(true) {
		Uint(f, "forgottenJobs", &s.ForgottenJobs)
		Uint(f, "forgottenEvents", &s.ForgottenEvents)
	}
	if f.More(true) {
		Uint(f, "looked", &s.Looked)
	}
	if f.More(true) {
		f.At("ordered", &s.Ordered, Past)
	}
	if f.More(true) {
		f.At("nodesSince", &s.NodesSince, Past)
	}
	jumped := s.Jumped != 0 || s.Woke != 0
	if f.More(s.Startable > 0 || s.Cycle != CycleKind{} || jumped) {
		Uint(f, "startable", &s.Startable)
	}
	if f.More(s.Cycle != CycleKind{} || jumped) {
		Uint(f, "backfill", &s.Cycle.Backfill)
		Uint(f, "depth", &s.Cycle.Depth)
		f.Bool("widestFirst", &s.Cycle.WidestFirst)
	}
	if f.More(jumped) {
		f.At("jumped", &s.Jumped, Past)
	}
	if f.More(s.Woke != 0) {
		f.At("woke", &s.Woke, Past)
	}
	for _, at := range [...]int64{s.AsOf, s.UsageSince, s.NodesSince, s.Ordered, s.Jumped, s.Woke} {
		f.Must(at >= 0 && at <= LastInstant)
	}
	f.Must(s.Exhausted() == "")
}

// The highest numbers. Loops go over all buckets, slices have an element for each node, and programs that
// read JSON keep integers up to 2^53.
const (
	mostBuckets   = 1 << 20
	mostNodes     = 1 << 24
	mostResources = 1<<16 - 2
	mostNumbers   = 1 << 53
)

// Exhausted names what no numbers are left for, "" if nothing. Rows of such a state are damaged.
func (s *State) Exhausted() string {
	switch {
	case s.NextNode > mostNodes:
		return "node"
	case s.NextBucket > mostBuckets:
		return "bucket"
	case s.NextResource > mostResources:
		return "resource"
	case s.NextJob > mostNumbers:
		return "job"
	case s.NextReservation > mostNumbers:
		return "reservation"
	case s.Events > mostNumbers || s.Invalidations > mostNumbers || s.Startable > mostNumbers:
		return "event"
	}
	return ""
}

// StateRow is the row of the clock and the counters.
var StateRow = Kind[State]{Meta, stateFields}

// Identity distinguishes a file from others: from files made separately by its id, and from
// its own backups by its epoch. It is one row.
type Identity struct {
	ID      [16]byte // drawn when the file was made, or migrated to the format that has it
	Epoch   uint32   // drawn then, too, and whenever an older state of the file replaces it
	AnyTime bool     // any clock may write to the file, because it is for tests
	Owner   *uint32  // the uid with all rights; nil in rows of formats before 10
}

const identityVersion = 1

// String returns the id as text: 32 hexadecimal digits.
func (i *Identity) String() string { return hex.EncodeToString(i.ID[:]) }

func identityFields(f *Fields, i *Identity) {
	f.Version(identityVersion)
	f.Digits("id", i.ID[:])
	if f.bytes() {
		Fixed(f, "epoch", &i.Epoch)
	}
	f.Bool("anyTime", &i.AnyTime)
	if f.bytes() && f.More(i.Owner != nil) {
		f.UID("owner", &i.Owner)
	}
}

// identityDocument lists the fields that are carried over to another file, which has its own
// epoch and owner.
func identityDocument(f *Fields, i *Identity) {
	if identityFields(f, i); f.dir == reading {
		i.Epoch, i.Owner = 0, nil
	}
}

// IdentityRow is the row of an identity.
var IdentityRow = Kind[Identity]{Meta, identityFields}

// Replica marks a file as the replica of a log, and holds its position in the log. It is one
// row, changed in the same transaction as the others. It is in no log entry and no snapshot.
type Replica struct {
	Log   [16]byte
	N     uint64  // the last applied entry
	Chain [8]byte // of that entry
	// Since is the position of the newest known snapshot, SinceBytes its size, and Behind the
	// size of the entries after it.
	Since, SinceBytes, Behind uint64
}

const replicaVersion = 1

func replicaFields(f *Fields, r *Replica) {
	f.Version(replicaVersion)
	f.Octets("log", r.Log[:])
	f.Octets("chain", r.Chain[:])
	Uint(f, "n", &r.N)
	Uint(f, "since", &r.Since)
	Uint(f, "sinceBytes", &r.SinceBytes)
	Uint(f, "behind", &r.Behind)
}

// ReplicaRow is the row of a replica's position.
var ReplicaRow = Kind[Replica]{Meta, replicaFields}

// Hook holds how many events the site's own program has received, and the process that
// delivers the next ones. There is one row, once there is such a program.
type Hook struct {
	Cursor  uint64 // the last event that it has received
	Holder  Nonce  // the process that delivers the next events, or zero
	Until   int64  // after this, another process may
	Failing int64  // since when it fails; 0 if its last run succeeded
	Failure string // why that failed, or what its last run wrote on stderr
}

const hookVersion = 1

func hookFields(f *Fields, h *Hook) {
	f.Version(hookVersion)
	Uint(f, "cursor", &h.Cursor)
	f.Digits("holder", h.Holder[:])
	f.At("until", &h.Until, Past)
	f.At("failing", &h.Failing, Past)
	f.Text("failure", &h.Failure)
}

// HookRow is the row of the hook.
var HookRow = Kind[Hook]{Meta, hookFields}

// Itself is the file that a database was made in, as the file system names it. A file that these do
// not describe is a copy. It is one row, which no copy, dump or log carries; without it the file
// executes nothing.
type Itself struct {
	Number [16]byte // drawn with the row, so that what was executed can be told apart
	Inode  uint64
	Born   int64  // when the file was made, in nanoseconds; 0 if the file system does not tell
	Path   string // without links
}

const itselfVersion = 1

func itselfFields(f *Fields, i *Itself) {
	f.Version(itselfVersion)
	f.Digits("number", i.Number[:])
	Uint(f, "inode", &i.Inode)
	Int(f, "born", &i.Born)
	f.Text("path", &i.Path)
}

// ItselfRow is the row of the file.
var ItselfRow = Kind[Itself]{Meta, itselfFields}

// Postponed lists jobs with a requested start that were put off because an overdue job was on their
// nodes, in the order of their numbers. If there are none, there is no row.
type Postponed struct {
	Tried uint64 // the invalidation at which they were last examined
	Jobs  []PostponedJob
}

// PostponedJob is such a job.
type PostponedJob struct {
	Job    uint64
	Wanted int64 // its requested start
}

const postponedVersion = 1

func postponedFields(f *Fields, p *Postponed) {
	f.Version(postponedVersion)
	Uint(f, "tried", &p.Tried)
	for i := range Items(f, "jobs", &p.Jobs) {
		Uint(f, "job", &p.Jobs[i].Job)
		f.At("wanted", &p.Jobs[i].Wanted, Wish)
		f.Next()
	}
}

// PostponedRow is the row of postponed jobs.
var PostponedRow = Kind[Postponed]{Meta, postponedFields}

// Refused lists the jobs that a node has refused since it last executed one, the earliest
// first. Nodes that have refused none have no row.
type Refused struct {
	Jobs []RefusedJob
}

// RefusedJob is a job that a node has refused.
type RefusedJob struct {
	Job uint64
	At  int64
}

const (
	refusedVersion = 1
	refusedPrefix  = "refused "
)

// KeyRefused returns the key of a node's row in the table Meta. On disk; must not change.
func KeyRefused(node uint32) []byte {
	return strconv.AppendUint([]byte(refusedPrefix), uint64(node), 10)
}

func refusedFields(f *Fields, r *Refused) {
	f.Version(refusedVersion)
	for i := range Items(f, "jobs", &r.Jobs) {
		Uint(f, "job", &r.Jobs[i].Job)
		f.At("at", &r.Jobs[i].At, Past)
		f.Next()
	}
}

// RefusedRow is the row of a node.
var RefusedRow = Kind[Refused]{Meta, refusedFields}
