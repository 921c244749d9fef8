package exec

import (
	"github.com/placectl/placectl/query/syntax"
)

// Window functions are computed when all rows that a SELECT makes of its tables or groups
// are known: the rows are kept, put in order for each window, and gone through; then
// results are made of each of them as if it had come from a table just now.

// Windows is the window functions of a SELECT.
type Windows struct {
	Specs  []*WindowSpec
	Calls  []*WindowCall
	Inputs []Code // what is computed of each row before it is kept
}

// WindowSpec is partitions, an order and a frame.
type WindowSpec struct {
	Partition []int // inputs
	Order     []OrderKey
	Keys      []int // inputs, of the order
	Frame     syntax.Frame
	From, To  Code // how far the frame goes, where it says so
	Framed    bool // it was written
}

// WindowCall is a function over a window.
type WindowCall struct {
	Spec   *WindowSpec
	Name   string
	Kind   windowKind
	Agg    *Aggregate // nil for one of the window's own functions
	Args   []int      // inputs
	Filter int        // an input, -1 for none
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
