package timeline

import "errors"

var (
	// ErrNoFit is returned by EarliestStart and EarliestChange if no moment of the plan from
	// the given one on has the amount free for the duration. Earliest returns it if that many
	// candidates are never free.
	ErrNoFit = errors.New("timeline: no start fits")

	// ErrBusy is returned if an addition would take more than is free somewhere in its window.
	// Nothing has been added.
	ErrBusy = errors.New("timeline: busy")

	// ErrRange is returned for invalid arguments: a moment or a window outside the plan, a duration
	// below one, an amount that is negative, above the total or above what the span holds, an empty
	// plan, a vector that does not match the quantities of a Multi, less than one node.
	ErrRange = errors.New("timeline: out of range")

	// ErrSpan is returned if there is no live span with this id, because it was never issued or is
	// removed. It is also returned if the owner has nothing on a node to give back.
	ErrSpan = errors.New("timeline: no such span")
)
