package query

// Window functions are computed when all rows that a SELECT makes of its tables or groups
// are known: the rows are kept, put in order for each window, and gone through; then
// results are made of each of them as if it had come from a table just now.

// runWindows is the window functions of a SELECT.
type runWindows struct {
	specs  []*windowSpec
	calls  []*windowCall
	inputs []code // what is computed of each row before it is kept
}

// windowSpec is partitions, an order and a frame.
type windowSpec struct {
	partition []int // inputs
	order     []orderKey
	keys      []int // inputs, of the order
	frame     Frame
	from, to  code // how far the frame goes, where it says so
	framed    bool // it was written
}

// windowCall is a function over a window.
type windowCall struct {
	spec   *windowSpec
	name   string
	kind   windowKind
	agg    *aggregate // nil for one of the window's own functions
	args   []int      // inputs
	filter int        // an input, -1 for none
	made   int
	words  string
}

// words lists the functions, for EXPLAIN.
func (w *runWindows) words() []string {
	out := make([]string, len(w.calls))
	for i, c := range w.calls {
		out[i] = c.words
	}
	return out
}
