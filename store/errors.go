package store

import (
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/row"
)

// Errors to test for with errors.Is.
var (
	ErrNotFound     = engine.ErrNotFound     // no such file (also fs.ErrNotExist), job, node or item
	ErrExists       = engine.ErrExists       // the name is taken
	ErrInvalid      = engine.ErrInvalid      // an argument makes no sense
	ErrConflict     = engine.ErrConflict     // the change conflicts with the present state
	ErrNotPermitted = engine.ErrNotPermitted // the actor lacks a right
	ErrKey          = engine.ErrKey          // the key of a Once belongs to another request
	ErrLocked       = engine.ErrLocked       // timed out waiting for the file
	ErrCopy         = engine.ErrCopy         // nothing is executed from a copy of a database
	ErrClock        = engine.ErrClock        // the clock is behind the time of the database
	ErrAnyTime      = engine.ErrAnyTime      // the clock is ahead, or not a real one, and the database is no Simulation
	ErrReadOnly     = engine.ErrReadOnly     // a change in a View
	ErrNested       = engine.ErrNested       // maybe inside another one of its handle: also ErrLocked
	ErrClosed       = engine.ErrClosed       // a handle after Close
	ErrUnknown      = engine.ErrUnknown      // a commit failed on its way to disk: see DB.UpdateOnce
	ErrDamaged      = engine.ErrDamaged      // checksums, structure or invariants do not hold
	ErrNotOurs      = engine.ErrNotOurs      // the file is not a database
	ErrUnsafe       = engine.ErrUnsafe       // anyone may write the file, or it is a link
	ErrNewer        = engine.ErrNewer        // the file has a newer format; it is not touched
)

// Conflict is an ErrConflict with details, for errors.As.
type Conflict struct {
	What string // what was refused, or what stands in the way
	Why  string
}

// Error returns what was refused, and why.
func (c *Conflict) Error() string { return (*row.Conflict)(c).Error() }

// Unwrap returns ErrConflict.
func (c *Conflict) Unwrap() error { return ErrConflict }

// MissingError is an ErrNotFound with details, for errors.As.
type MissingError struct {
	Kind, Name string // what is missing: job 17, node n1
	Hint       string // follows the name in the message
}

// Error says what is missing.
func (m *MissingError) Error() string { return (*row.MissingError)(m).Error() }

// Unwrap returns ErrNotFound.
func (m *MissingError) Unwrap() error { return ErrNotFound }

// LineError is an ErrInvalid in a line of a dump, for errors.As.
type LineError struct {
	Line int // from 1
	Why  error
}

// Error says which line is wrong, and why.
func (l *LineError) Error() string { return (*engine.LineError)(l).Error() }

// Unwrap returns ErrInvalid and what is wrong.
func (l *LineError) Unwrap() []error { return (*engine.LineError)(l).Unwrap() }

// The types of errors below this package have no names for callers, so errors.As finds these in
// their place.
func init() {
	row.As = func(err error, target any) bool {
		switch t := target.(type) {
		case **Conflict:
			is, ok := err.(*row.Conflict)
			*t = (*Conflict)(is)
			return ok
		case **MissingError:
			is, ok := err.(*row.MissingError)
			*t = (*MissingError)(is)
			return ok
		case **LineError:
			is, ok := err.(*engine.LineError)
			*t = (*LineError)(is)
			return ok
		}
		return false
	}
}
