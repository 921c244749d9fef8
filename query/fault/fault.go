package fault

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// ErrQuery is wrapped by all errors in a statement's text.
var ErrQuery = errors.New("bad query")

// Error is an error in a statement, with its place.
type Error struct {
	Text   string // of all statements
	Offset int    // of the error, in bytes
	Msg    string
}

// Position counts lines and columns from 1. Columns are characters.
func (e *Error) Position() (line, column int) {
	before := e.Text[:min(e.Offset, len(e.Text))]
	start := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1
}

func (e *Error) Error() string {
	line, column := e.Position()
	return fmt.Sprintf("line %d, column %d: %s", line, column, e.Msg)
}

// Unwrap makes errors.Is see ErrQuery.
func (e *Error) Unwrap() error { return ErrQuery }

// Caret returns the line of the error with a mark below it.
func (e *Error) Caret() string {
	at := min(e.Offset, len(e.Text))
	start := strings.LastIndexByte(e.Text[:at], '\n') + 1
	line, _, _ := strings.Cut(e.Text[start:], "\n")
	var pad strings.Builder
	for _, r := range e.Text[start:at] {
		if r != '\t' {
			r = ' '
		}
		pad.WriteRune(r)
	}
	return line + "\n" + pad.String() + "^"
}

// ErrLimit is wrapped by all LimitErrors.
var ErrLimit = errors.New("a limit of queries was reached")

// LimitError says that a query was stopped because it took too much.
type LimitError struct {
	What  string // "rows examined", "result bytes", ...
	Limit int64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the query was given up: more than %d %s", e.Limit, e.What)
}

// Unwrap makes errors.Is see ErrLimit.
func (e *LimitError) Unwrap() error { return ErrLimit }

// Abort carries an error out of parsing or compiling. Only Rescue recovers it.
type Abort struct{ Err error }

// Rescue turns an abort into its error.
func Rescue(err *error) {
	switch r := recover().(type) {
	case nil:
	case Abort:
		*err = r.Err
	default:
		panic(r)
	}
}
