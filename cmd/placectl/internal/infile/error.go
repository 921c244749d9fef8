package infile

import (
	"errors"
	"fmt"
	"math"
)

// ErrInput is what every error about what a file says matches: the user has to
// write it differently.
var ErrInput = errors.New("wrong usage")

// Position is a place in a file. Lines and columns count from 1, columns in
// characters; a column of 0 stands for the whole line.
type Position struct {
	File      string
	Line, Col int
}

// NoLine is the Line of what stands in none, such as options of a command line. It comes
// behind all others.
const NoLine = math.MaxInt

// String is how messages name the place.
func (p Position) String() string {
	switch {
	case p.Line == NoLine:
		return p.File
	case p.Col == 0:
		return fmt.Sprintf("%s, line %d", p.File, p.Line)
	}
	return fmt.Sprintf("%s, line %d, column %d", p.File, p.Line, p.Col)
}

// Error says what is wrong in a file, and where. It matches ErrInput.
type Error struct {
	Position
	Err error
}

func (e *Error) Error() string { return e.Position.String() + ": " + e.Err.Error() }

// Unwrap makes errors.Is see ErrInput and what the error is besides.
func (e *Error) Unwrap() []error { return []error{ErrInput, e.Err} }
