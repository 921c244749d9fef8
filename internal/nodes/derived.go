package nodes

import (
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/timeline"
)

// Grace is how many seconds from now an overdue job is assumed to go on, unless it is about to
// end.
const Grace = 300

// Transaction is the transaction that the tables belong to. Owners are jobs and reservations.
type Transaction interface {
	Calendar() *timeline.Calendar
	OwnerNodes(owner uint64) ([]uint32, error)
	// Overrun returns how long an owner past its end is expected to go on, in seconds from
	// now.
	Overrun(owner uint64) int64
	// Fail keeps an error that cannot be returned.
	Fail(err error)
	// MarkDirty notes that the state has changed.
	MarkDirty()
}

// Base is what all the tables have in common.
type Base struct {
	Transaction
	Rows  *file.Recorder
	Nodes *Rows
	State *row.State
	Now   *int64 // Unix seconds, which advance with time
}
