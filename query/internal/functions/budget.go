package functions

import (
	"context"

	"github.com/placectl/placectl/query/fault"
	"github.com/placectl/placectl/query/values"
)

// Limits bound the cost of a statement. The zero value is DefaultLimits.
type Limits struct {
	Rows  int64 // examined, in all tables together
	Bytes int64 // kept or answered at a time
}

// DefaultLimits are generous: they stop queries that would not end.
var DefaultLimits = Limits{Rows: 1e9, Bytes: 1 << 30}

// OrDefault fills in the defaults.
func (l Limits) OrDefault() Limits {
	if l.Rows <= 0 {
		l.Rows = DefaultLimits.Rows
	}
	if l.Bytes <= 0 {
		l.Bytes = DefaultLimits.Bytes
	}
	return l
}

// maxString limits each text that a statement makes, in bytes.
const maxString = 1 << 20

// Budget holds the limits of a run's cost, and the cost so far.
type Budget struct {
	Ctx      context.Context
	Limits   Limits
	examined int64
	told     int64 // of those, reported as progress
	Progress func(rows int64)
	Held     int64
	Err      error
}

// checkEvery is the number of rows between checks of the context.
const checkEvery = 1 << 12

// Step counts an examined row.
func (e *Budget) Step() error {
	e.examined++
	if e.examined%checkEvery == 0 || e.examined > e.Limits.Rows {
		return e.Check()
	}
	return e.Err
}

// Steps counts rows examined together.
func (e *Budget) Steps(n int64) error {
	before := e.examined / checkEvery
	if e.examined += n; e.examined/checkEvery != before || e.examined > e.Limits.Rows {
		return e.Check()
	}
	return e.Err
}

// Check checks the limits and the context.
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

// What a kept row takes besides its values, in bytes. Maps and slices have room for more entries, and some
// keep a key of
// their own.
const (
	heldRow   = 8
	HeldEntry = 72  // of a map of values
	HeldMap   = 320 // a map of values with one entry
	HeldSort  = 176 // of a sorter
	HeldJoin  = 80  // of the rows of a join, with their index
	HeldGroup = 40  // of the groups, and as much for each key
	HeldState = 200 // what an aggregate has seen
)

// Hold counts values that are kept, and more bytes that they take. TestMemoryLimit measures that it is enough.
func (e *Budget) Hold(row []values.Value, more int64) error {
	e.Held += RowBytes(row) + heldRow + more
	if e.Held > e.Limits.Bytes && e.Err == nil {
		e.Err = &fault.LimitError{What: "bytes held or answered", Limit: e.Limits.Bytes}
	}
	return e.Err
}

// RowBytes is roughly the size of a row in memory.
func RowBytes(row []values.Value) int64 {
	n := int64(len(row)) * 32
	for i := range row {
		n += int64(len(row[i].Text()))
	}
	return n
}

// Fail records the first error of an expression. The loop around it stops.
func (e *Budget) Fail(err error) values.Value {
	if e.Err == nil {
		e.Err = err
	}
	return values.Value{}
}

// Text returns a text that was made. If it is too long, it returns NULL and records an error.
func (e *Budget) Text(s string) values.Value {
	if len(s) > maxString {
		return e.Fail(&fault.LimitError{What: "bytes in one text", Limit: maxString})
	}
	return values.String(s)
}
