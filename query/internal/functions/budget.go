package functions

import (
	"context"

	"github.com/placectl/placectl/query/fault"
	"github.com/placectl/placectl/query/values"
)

// Limits bound what a statement may take. The zero value is DefaultLimits.
type Limits struct {
	Rows  int64 // examined, of all tables together
	Bytes int64 // of what is held back or answered at a time
}

// DefaultLimits are generous: they stop what would not end.
var DefaultLimits = Limits{Rows: 1e9, Bytes: 1 << 30}

// OrDefault puts the defaults where nothing is said.
func (l Limits) OrDefault() Limits {
	if l.Rows <= 0 {
		l.Rows = DefaultLimits.Rows
	}
	if l.Bytes <= 0 {
		l.Bytes = DefaultLimits.Bytes
	}
	return l
}

// maxString bounds one text that a statement makes, in bytes.
const maxString = 1 << 20

// Budget is what a run may take, and has taken so far.
type Budget struct {
	Ctx      context.Context
	Limits   Limits
	examined int64
	told     int64 // of those, to progress
	Progress func(rows int64)
	Held     int64
	Err      error
}

// checkEvery is how many rows pass between looks at the context.
const checkEvery = 1 << 12

// Step counts a row that is looked at.
func (e *Budget) Step() error {
	e.examined++
	if e.examined%checkEvery == 0 || e.examined > e.Limits.Rows {
		return e.Check()
	}
	return e.Err
}

// Steps counts rows that are looked at together.
func (e *Budget) Steps(n int64) error {
	before := e.examined / checkEvery
	if e.examined += n; e.examined/checkEvery != before || e.examined > e.Limits.Rows {
		return e.Check()
	}
	return e.Err
}

// Check looks at the limits and the context.
func (e *Budget) Check() error {
	if e.Err == nil && e.examined > e.Limits.Rows {
		e.Err = &fault.LimitError{What: "rows examined", Limit: e.Limits.Rows}
	}
	if e.Err == nil {
		e.Err = e.Ctx.Err()
	}
	if e.Progress != nil {
		e.Progress(e.examined - e.told)
		e.told = e.examined
	}
	return e.Err
}

// Hold counts values that are kept.
func (e *Budget) Hold(row []values.Value) error {
	e.Held += RowBytes(row)
	if e.Held > e.Limits.Bytes && e.Err == nil {
		e.Err = &fault.LimitError{What: "bytes held or answered", Limit: e.Limits.Bytes}
	}
	return e.Err
}

// RowBytes is about what a row takes in memory.
func RowBytes(row []values.Value) int64 {
	n := int64(len(row)) * 32
	for i := range row {
		n += int64(len(row[i].Text()))
	}
	return n
}

// Fail notes the first error of an expression; the loop around it stops.
func (e *Budget) Fail(err error) values.Value {
	if e.Err == nil {
		e.Err = err
	}
	return values.Value{}
}

// Text is a text that was made; NULL and an error when it is too long.
func (e *Budget) Text(s string) values.Value {
	if len(s) > maxString {
		return e.Fail(&fault.LimitError{What: "bytes in one text", Limit: maxString})
	}
	return values.String(s)
}
