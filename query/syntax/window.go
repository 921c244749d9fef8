package syntax

import (
	"strings"
)

// Window says which rows a function is computed over: a named window, or one made of a named one,
// partitions, an order and a frame.
type Window struct {
	Span
	Name      string // its name; if there is nothing else, the window that is meant
	Base      string // the window that it extends
	Partition []Expr
	OrderBy   []OrderTerm
	Frame     *Frame
}

// Frame is the part of a partition that belongs to a row.
type Frame struct {
	Span
	Rows     bool // ROWS, not RANGE
	From, To Bound
}

// Bound is an end of a frame. X says how many rows before (negative Side) or after the row, nil for all;
// Side 0 is the row itself.
type Bound struct {
	Side int
	X    Expr
}

func (x *Window) String() string {
	if x.Name != "" {
		return quoteName(x.Name)
	}
	return x.body()
}

// body returns the window in parentheses.
func (x *Window) body() string {
	var parts []string
	if x.Base != "" {
		parts = append(parts, quoteName(x.Base))
	}
	if len(x.Partition) > 0 {
		parts = append(parts, "PARTITION BY "+list(x.Partition))
	}
	if len(x.OrderBy) > 0 {
		parts = append(parts, "ORDER BY "+terms(x.OrderBy))
	}
	if x.Frame != nil {
		parts = append(parts, x.Frame.String())
	}
	return "(" + strings.Join(parts, " ") + ")"
}

func (f *Frame) String() string {
	unit := "RANGE"
	if f.Rows {
		unit = "ROWS"
	}
	return unit + " BETWEEN " + f.From.String() + " AND " + f.To.String()
}

func (b Bound) String() string {
	if b.Side == 0 {
		return "CURRENT ROW"
	}
	much := "UNBOUNDED"
	if b.X != nil {
		much = inner(b.X)
	}
	return much + IfWords(b.Side < 0, " PRECEDING") + IfWords(b.Side > 0, " FOLLOWING")
}
