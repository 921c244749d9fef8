package query

import (
	"math"
)

// between is what a step reads of an Ordered table: the rows whose value in the column
// of its order is one of from..to.
type between struct{ from, to int64 }

// scan goes through the rows of the step's table, those that it may need.
func (st *runStep) scan() Cursor {
	if st.span != nil && st.rows == nil {
		return st.src.table.(Ordered).Range(st.span.from, st.span.to)
	}
	return st.src.table.Scan(st.rows)
}

// within narrows an estimate to the span; one without an end says nothing.
func (b *between) within(estimate int64) int64 {
	if b == nil || b.from < -math.MaxInt64/2 || b.to > math.MaxInt64/2 {
		return estimate
	}
	return min(estimate, max(0, b.to-b.from+1))
}
