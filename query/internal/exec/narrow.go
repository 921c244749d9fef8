package exec

import (
	"math"

	"github.com/placectl/placectl/query/tables"
)

// Span is what a step reads of an Ordered table: the rows whose value in the column
// of its order is one of from..to.
type Span struct{ From, To int64 }

// And is what lies within both; nil is all.
func (b *Span) And(other Span) *Span {
	if b != nil {
		other = Span{From: max(b.From, other.From), To: min(b.To, other.To)}
	}
	return &other
}

// scan goes through the rows of the step's table, those that it may need.
func (st *Step) scan() tables.Cursor {
	if st.Span != nil && st.Rows == nil {
		return st.Src.Table.(tables.Ordered).Range(st.Span.From, st.Span.To)
	}
	return st.Src.Table.Scan(st.Rows)
}

// Within narrows an estimate to the span; one without an end says nothing.
func (b *Span) Within(estimate int64) int64 {
	if b == nil || b.From < -math.MaxInt64/2 || b.To > math.MaxInt64/2 {
		return estimate
	}
	return min(estimate, max(0, b.To-b.From+1))
}
