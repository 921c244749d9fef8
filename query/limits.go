package query

import (
	"context"
)

// Limits bound what a statement may take. The zero value is DefaultLimits.
type Limits struct {
	Rows  int64 // examined, of all tables together
	Bytes int64 // of what is held back or answered at a time
}

// DefaultLimits are generous: they stop what would not end.
var DefaultLimits = Limits{Rows: 1e9, Bytes: 1 << 30}

func (l Limits) orDefault() Limits {
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

// budget is what a run may take, and has taken so far.
type budget struct {
	ctx      context.Context
	limits   Limits
	examined int64
	told     int64 // of those, to progress
	progress func(rows int64)
	held     int64
	err      error
}

// checkEvery is how many rows pass between looks at the context.
const checkEvery = 1 << 12

// step counts a row that is looked at.
func (e *budget) step() error {
	e.examined++
	if e.examined%checkEvery == 0 || e.examined > e.limits.Rows {
		return e.check()
	}
	return e.err
}

// check looks at the limits and the context.
func (e *budget) check() error {
	if e.err == nil && e.examined > e.limits.Rows {
		e.err = &LimitError{"rows examined", e.limits.Rows}
	}
	if e.err == nil {
		e.err = e.ctx.Err()
	}
	if e.progress != nil {
		e.progress(e.examined - e.told)
		e.told = e.examined
	}
	return e.err
}

// hold counts values that are kept.
func (e *budget) hold(row []Value) error {
	e.held += rowBytes(row)
	if e.held > e.limits.Bytes && e.err == nil {
		e.err = &LimitError{"bytes held or answered", e.limits.Bytes}
	}
	return e.err
}

func rowBytes(row []Value) int64 {
	n := int64(len(row)) * 32
	for i := range row {
		n += int64(len(row[i].str))
	}
	return n
}

// fail notes the first error of an expression; the loop around it stops.
func (e *budget) fail(err error) Value {
	if e.err == nil {
		e.err = err
	}
	return Value{}
}

// made text of a length; NULL and an error when it is too long.
func (e *budget) text(s string) Value {
	if len(s) > maxString {
		return e.fail(&LimitError{"bytes in one text", maxString})
	}
	return String(s)
}
