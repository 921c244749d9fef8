// Package derived is the tables that stand beside the rows and follow from them, as one
// transaction reads and changes them: the node index and the calendar, what is left of
// nodes that are shared, when nodes are expected to be given back, where room was made.
// Each reads what it is asked for, and Flush writes back what was changed. Package check
// makes the same tables of the rows alone.
package derived

import (
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/timeline"
)

// Grace is how many seconds from now an overdue job is assumed to go on, if nothing is about to end
// it.
const Grace = 300

// Base is the transaction that they belong to, as far as they need it.
type Base struct {
	Rows  *file.Recorder
	State *row.State
	Now   *int64 // its instant, in Unix seconds, which moves as time passes

	Calendar func() *timeline.Calendar
	Node     func(number uint32) (*index.Node, error)       // for reading only
	Owned    func(owner uint64) (nodes []uint32, err error) // what a job or a reservation has
	Overrun  func(owner uint64) int64                       // how long from now what an owner has past its end is taken to go on
	Fail     func(error)                                    // tells of an error where none can be returned
	Dirty    func()                                         // marks the state as changed
}
