package exec

import (
	"github.com/placectl/placectl/query/syntax"
)

// Window functions need all rows that a SELECT makes of its tables or groups. So the rows are kept and
// sorted for each window, and the functions are computed. Then results are made from each kept row as if
// it had just come from a table.

// Windows is the window functions of a SELECT.
type Windows struct {
	Specs  []*WindowSpec
	Calls  []*WindowCall
	Inputs []Code // computed for each row before it is kept
}

// WindowSpec is partitions, an order and a frame.
type WindowSpec struct {
	Partition []int // input numbers
	Order     []OrderKey
	Keys      []int // input numbers, of the order
	Frame     syntax.Frame
	From, To  int64 // how many rows the ends of the frame are away
}

// WindowCall is a function over a window.
type WindowCall struct {
	Spec   *WindowSpec
	Name   string
	Kind   windowKind
	Agg    *Aggregate // nil for a window function proper
	Args   []int      // input numbers
	Filter int        // an input number, -1 for none
	Made   int
	Words  string
	Failed func(error) error // gives an error its place in the statement
}

// words lists the functions, for EXPLAIN.
func (w *Windows) words() []string {
	out := make([]string, len(w.Calls))
	for i, c := range w.Calls {
		out[i] = c.Words
	}
	return out
}
