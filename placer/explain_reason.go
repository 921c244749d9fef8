package placer

import (
	"cmp"

	"github.com/placectl/placectl/index"
)

// Cause says why nodes cannot serve a chunk now, or that they can. If several apply, the first in
// this order counts. Programs read these words.
type Cause string

// The causes.
const (
	CauseNotUp       Cause = "not_up"
	CauseQueue       Cause = "other_queue"
	CauseLacks       Cause = "lacks"
	CauseNotNamed    Cause = "not_named"
	CauseSet         Cause = "outside_set"
	CauseOneChunk    Cause = "one_chunk"           // the node takes one chunk at a time, and place=pack needs more
	CauseReservation Cause = "outside_reservation" // not in a reservation that the request insists on
	CauseReserved    Cause = "reserved"
	CauseTaken       Cause = "taken"
	CauseShort       Cause = "short"
	CauseTooSoon     Cause = "too_soon"
	CauseUser        Cause = "other_user"
	CauseHost        Cause = "host_taken"
	CauseFits        Cause = "fits"
)

// Reason lists nodes that cannot serve a chunk now for the same cause. The cause decides which
// other fields matter.
type Reason struct {
	Cause Cause
	Nodes []uint32 // ascending
	// Until is the earliest instant at which one of them could serve the chunk, or timeline.Forever
	// if waiting is no use.
	Until int64

	Chunks int64       // CauseFits: how many chunks they have room for together
	State  index.State // CauseNotUp
	Note   string      // CauseNotUp: the node's note, if all have the same
	Queue  string      // CauseQueue: their queue, or ""
	// CauseLacks, CauseShort: the want that they cannot meet (with what is left), and the most
	// that one of them has. For words, it is the value that most of them have.
	Want Want
	Best index.Value
	None bool // CauseLacks: they have none of it
	// CauseReserved: the reservation, as in the calendar, and when it begins. CauseTooSoon:
	// when the last of the nodes is taken again. CauseReservation: the reservation, and when
	// it begins and ends. Forever if an instant does not matter.
	Owner      uint64
	From, Over int64
	Limit      int64 // CauseReservation: the longest time for a job in it, in seconds; 0 if that does not matter
	// CauseTaken: jobs have the nodes whole; if false, jobs share them and the request wants
	// whole nodes. CauseReserved: the same for the reservation. CauseReservation: the request
	// wants whole nodes, and the reservation keeps parts of them.
	Whole bool
}

func reason(c Cause) Reason { return Reason{Cause: c, Until: never, From: never, Over: never} }

// group is the key by which reasons are put together.
type group struct {
	cause Cause
	state index.State
	queue string
	res   index.ResID
	owner uint64
	begun bool
	whole bool
}

func (r *Reason) group() group {
	return group{r.Cause, r.State, r.Queue, r.Want.Res, r.Owner, r.From == never, r.Whole}
}

// join adds a node's reason to the reason of others.
func (r *Reason) join(one Reason) {
	r.Nodes = append(r.Nodes, one.Nodes...)
	r.Until = min(r.Until, one.Until)
	r.Chunks += one.Chunks
	r.Best.Num = max(r.Best.Num, one.Best.Num)
	if r.From != never {
		r.From = max(r.From, one.From)
	}
}

// compareReasons sorts reasons: nodes that fit first, then nodes for which waiting helps, each with
// the most nodes first.
func compareReasons(a, b Reason) int {
	rank := func(r *Reason) int {
		switch {
		case r.Cause == CauseFits:
			return 0
		case r.Until != never:
			return 1
		}
		return 2
	}
	return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(len(b.Nodes), len(a.Nodes)),
		cmp.Compare(a.Cause, b.Cause))
}
