package row

import "github.com/placectl/placectl/index"

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
	Ordered         int64     // the instant for which it sorted jobs by job_priority; 0 for the order of submission
}

// CycleKind holds the options that decide, besides settings, which jobs a cycle starts.
type CycleKind struct {
	Backfill, Depth uint64 // Depth is set only with easy
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
