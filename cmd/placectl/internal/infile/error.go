package infile

import (
	"errors"
	"fmt"
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

// String is how messages name the place.
func (p Position) String() string {
	if p.Col == 0 {
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
