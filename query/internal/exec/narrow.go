package exec

import (
	"math"

	"github.com/placectl/placectl/query/tables"
)

// Span says which rows of an Ordered table a step reads: those with a value from..to in the column of
// its order.
type Span struct{ From, To int64 }

// And returns the intersection; nil means all.
func (b *Span) And(other Span) *Span {
	if b != nil {
		other = Span{From: max(b.From, other.From), To: min(b.To, other.To)}
	}
	return &other
}

// scan goes through the rows of the step's table that it may need.
func (st *Step) scan() tables.Cursor {
	if st.Span != nil && st.Rows == nil {
		return st.Src.Table.(tables.Ordered).Range(st.Span.From, st.Span.To)
	}
	return st.Src.Table.Scan(st.Rows)
}

// Within bounds an estimate by the span. A span with an open end does not change it.
func (b *Span) Within(estimate int64) int64 {
	if b == nil || b.From < -math.MaxInt64/2 || b.To > math.MaxInt64/2 {
		return estimate
	}
	return min(estimate, max(0, b.To-b.From+1))
}
