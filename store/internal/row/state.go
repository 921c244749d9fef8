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
	Invalidations   uint64 // how often nodes were given back, or something else made room
	ForgottenJobs   uint64 // the job from which on the next cycle looks for those that are kept no longer
	ForgottenEvents uint64 // the same of events
	Planned         uint64 // the invalidation as of which a cycle has looked at all plans
	Looked          uint64 // the number that the next job was to have when the last cycle was made
	NodesSince      int64  // since when what nodes were is on record
	Ordered         int64  // for which instant that put jobs in order by job_priority; 0: by what they were submitted with
}

const stateVersion = 1

// LastInstant is the end of the year 9999, in Unix seconds: no clock goes beyond it.
const LastInstant = 253402300799

// Encode is the row.
func (s *State) Encode() []byte {
	e := encoder{}
	e.byte(stateVersion)
	e.int(s.AsOf)
	e.uint(uint64(s.NextNode))
	e.uint(uint64(s.NextBucket))
	e.uint(uint64(s.NextResource))
	e.uint(s.NextJob)
	e.uint(s.NextReservation)
	e.int(s.UsageSince)
	e.uint(s.Events)
	e.uint(s.Invalidations)
	e.uint(s.Planned)
	e.uint(s.ForgottenJobs)
	e.uint(s.ForgottenEvents)
	e.uint(s.Looked)
	e.int(s.Ordered)
	e.int(s.NodesSince)
	return e.b
}

// Decode reads it.
func (s *State) Decode(payload []byte) error {
	d := decoder{b: payload}
	d.byte()
	s.AsOf = d.int()
	s.NextNode = uint32(d.uint())
	s.NextBucket = uint32(d.uint())
	s.NextResource = index.ResID(d.uint())
	s.NextJob = d.uint()
	s.NextReservation = d.uint()
	if len(d.b) > 0 { // the first files had no more
		s.UsageSince = d.int()
	}
	if len(d.b) > 0 {
		s.Events, s.Invalidations, s.Planned = d.uint(), d.uint(), d.uint()
	}
	if len(d.b) > 0 {
		s.ForgottenJobs, s.ForgottenEvents = d.uint(), d.uint()
	}
	if len(d.b) > 0 {
		s.Looked = d.uint()
	}
	if len(d.b) > 0 {
		s.Ordered = d.int()
	}
	if len(d.b) > 0 {
		s.NodesSince = d.int()
	}
	for _, at := range []int64{s.AsOf, s.UsageSince, s.NodesSince, s.Ordered} {
		d.bad = d.bad || at < 0 || at > LastInstant
	}
	return d.done(Meta, KeyState)
}
