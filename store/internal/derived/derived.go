// Package derived is the tables that stand beside the rows and follow from them, as one
// transaction reads and changes them: the node index and the calendar, what is left of
// nodes that are shared, when nodes are expected to be given back, where room was made.
// Each reads what it is asked for, and Flush writes back what was changed. Package check
// makes the same tables of the rows alone.
package derived

import (
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/nodes"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/timeline"
)

// Grace is how many seconds from now an overdue job is assumed to go on, if nothing is about to end
// it.
const Grace = 300

// Transaction is the one that they belong to. Owners are jobs and reservations.
type Transaction interface {
	Calendar() *timeline.Calendar
	OwnerNodes(owner uint64) ([]uint32, error)
	// Overrun is how long an owner past its end is expected to go on, in seconds from now.
	Overrun(owner uint64) int64
	// Fail keeps an error that cannot be returned.
	Fail(err error)
	// MarkDirty says that the state has changed.
	MarkDirty()
}

// Base is what all of them share.
type Base struct {
	Transaction
	Rows  *file.Recorder
	Nodes *nodes.Rows
	State *row.State
	Now   *int64 // Unix seconds, which move as time passes
}
