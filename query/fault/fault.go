package fault

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// ErrQuery is what every fault of a statement's text is.
var ErrQuery = errors.New("bad query")

// Error is a fault in a statement, and where it is.
type Error struct {
	Text   string // all of the statements
	Offset int    // of the fault, in bytes
	Msg    string
}

// Line and column count from 1; columns are characters.
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

// Caret is the line of the fault with a mark below it.
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

// ErrLimit is what every LimitError is.
var ErrLimit = errors.New("a limit of queries was reached")

// LimitError says that a query was given up because it took too much.
type LimitError struct {
	What  string // "rows examined", "result bytes", ...
	Limit int64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the query was given up: more than %d %s", e.Limit, e.What)
}

// Unwrap makes errors.Is see ErrLimit.
func (e *LimitError) Unwrap() error { return ErrLimit }

// Abort carries an error out of the depths of parsing or compiling; only
// Rescue recovers it, and nothing else.
type Abort struct{ Err error }

// Rescue turns an abort into the error it carries.
func Rescue(err *error) {
	switch r := recover().(type) {
	case nil:
	case Abort:
		*err = r.Err
	default:
		panic(r)
	}
}
