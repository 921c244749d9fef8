package infile

import (
	"errors"
	"fmt"
	"math"
)

// ErrInput matches every error about the content of a file, which the user must correct.
var ErrInput = errors.New("wrong usage")

// Position is a place in a file. Lines and columns count from 1, columns in
// characters; a column of 0 stands for the whole line.
type Position struct {
	File      string
	Line, Col int
}

// NoLine is the Line of what has none, such as options of a command line. It sorts behind all others.
const NoLine = math.MaxInt

// String returns the position as messages show it.
func (p Position) String() string {
	switch {
	case p.Line == NoLine:
		return p.File
	case p.Col == 0:
		return fmt.Sprintf("%s, line %d", p.File, p.Line)
	}
	return fmt.Sprintf("%s, line %d, column %d", p.File, p.Line, p.Col)
}

// Error says what is wrong in a file and where. It matches ErrInput.
type Error struct {
	Position
	Err error
}

func (e *Error) Error() string { return e.Position.String() + ": " + e.Err.Error() }

// Unwrap returns ErrInput and the underlying error.
func (e *Error) Unwrap() []error { return []error{ErrInput, e.Err} }
