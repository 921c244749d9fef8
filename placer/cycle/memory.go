package cycle

import (
	"iter"

	"github.com/RoaringBitmap/roaring/v2"
)

// A job that waits can begin to fit only when something makes room: nodes are given
// back, a reservation begins or ends, a node comes up, a setting changes. Each such
// moment invalidates what was decided for requests that could use the room. The host
// numbers these invalidations. So a pass looks again only at requests which could use
// what has changed, however many jobs wait. Time alone makes room where a reservation
// lets a job have a part of it only, and the like: the placer says with a refusal until
// when it holds.

// Memory is what passes hand on to later passes.
type Memory interface {
	// Recall finds what an earlier pass decided for a kind of request, nil for nothing.
	Recall(kind string) (*Decision, error)
	// Version is the number of the last invalidation.
	Version() uint64
	// Invalidated reports whether one after a given number concerns a request.
	Invalidated(r *Request, since uint64) (bool, error)
	// Freed are the nodes on which room was made since a pass has looked at all plans,
	// empty when a request could use none of it. It is nil where that may be any node.
	Freed(r *Request) (*roaring.Bitmap, error)
	// Keep is told of all kinds that a pass has met, with what it decided for them, nil
	// for nothing new; whole is whether it has looked at every job.
	Keep(kinds iter.Seq2[string, *Decision], whole bool) error
}

// A Decision says that requests of a kind do not fit.
type Decision struct {
	Never   bool   // nor ever will
	Version uint64 // it was the last invalidation then
	Why     string
	Until   int64 // as long as only time passes, it holds until this instant
	For     Place // of the job for which it was decided
}
