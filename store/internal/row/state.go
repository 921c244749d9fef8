package row

import "github.com/placectl/placectl/index"

// State is the clock and the numbers never used yet. One row.
type State struct {
	AsOf            int64 // the instant that the bitmaps stand for
	NextNode        uint32
	NextBucket      uint32
	NextResource    index.ResID
	NextJob         uint64
	NextReservation uint64
	UsageSince      int64 // when usage began to be counted, 0 in a file that has never counted
	Events          uint64
	Invalidations   uint64    // how often nodes were given back, or something else made room
	ForgottenJobs   uint64    // the job from which on the next cycle looks for those that are kept no longer
	ForgottenEvents uint64    // the same of events
	Planned         uint64    // the invalidation at which a cycle last examined all plans
	Looked          uint64    // the next job number when the last cycle was made
	NodesSince      int64     // since when what nodes were is on record
	Startable       uint64    // how many commits may have let something start or stop, less those of cycles
	Cycle           CycleKind // of the last cycle: what it found out holds for its kind
	Ordered         int64     // for which instant that put jobs in order by job_priority; 0: by what they were submitted with
}

// CycleKind is what decides, beside settings, which jobs a cycle starts.
type CycleKind struct {
	Backfill, Depth uint64 // Depth: only with easy
	WidestFirst     bool
}

const stateVersion = 1

// LastInstant is the end of the year 9999, in Unix seconds: no clock goes beyond it.
const LastInstant = 253402300799

func stateFields(f *Fields, s *State) {
	f.Version(stateVersion)
	f.At("asOf", &s.AsOf, Past)
	Uint(f, "nextNode", &s.NextNode)
	Uint(f, "nextBucket", &s.NextBucket)
	Uint(f, "nextResource", &s.NextResource)
	Uint(f, "nextJob", &s.NextJob)
	Uint(f, "nextReservation", &s.NextReservation)
	if f.More(true) { // the first files had no more
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
	if f.More(s.Startable > 0 || s.Cycle != CycleKind{}) {
		Uint(f, "startable", &s.Startable)
	}
	if f.More(s.Cycle != CycleKind{}) {
		Uint(f, "backfill", &s.Cycle.Backfill)
		Uint(f, "depth", &s.Cycle.Depth)
		f.Bool("widestFirst", &s.Cycle.WidestFirst)
	}
	for _, at := range [...]int64{s.AsOf, s.UsageSince, s.NodesSince, s.Ordered} {
		f.Must(at >= 0 && at <= LastInstant)
	}
}

// Encode returns the row.
func (s *State) Encode() []byte { return encode(stateFields, s) }

// Decode reads it.
func (s *State) Decode(payload []byte) error {
	f := Fields{dir: reading, b: payload, key: KeyState}
	*s = State{}
	stateFields(&f, s)
	return f.done(Meta)
}
