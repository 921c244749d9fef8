package row

import (
	"errors"
	"fmt"
)

// Errors that callers of package store branch on. The packages below it return them, and store
// gives them the same names.
var (
	ErrDamaged  = errors.New("the database is damaged")          // a row is not what it should be
	ErrInvalid  = errors.New("invalid")                          // an argument makes no sense
	ErrNotFound = errors.New("not found")                        // nothing has that name
	ErrConflict = errors.New("conflicts with the present state") // the request does not fit the present state
)

// As, if it is set, finds the type of package store for an error, as errors.As does.
var As = func(err error, target any) bool { return false }

// MissingError is an ErrNotFound of a named thing.
type MissingError struct {
	Kind, Name string
	Hint       string // follows the name
}

// Missing returns the error for a named thing that does not exist.
func Missing(kind, name string) error { return &MissingError{Kind: kind, Name: name} }

// LostJob is the error for a job that a row lists, and that has no row itself.
func LostJob(id uint64) error { return fmt.Errorf("%w: job %d is missing", ErrDamaged, id) }

func (m *MissingError) Error() string {
	return fmt.Sprintf("no %s %q%s: %v", m.Kind, m.Name, m.Hint, ErrNotFound)
}

// Unwrap makes errors.Is see ErrNotFound.
func (m *MissingError) Unwrap() error { return ErrNotFound }

// As finds the type of package store.
func (m *MissingError) As(target any) bool { return As(m, target) }

// Conflict is an ErrConflict with details.
type Conflict struct {
	What string
	Why  string
}

func (c *Conflict) Error() string { return c.What + ": " + c.Why }

// Unwrap makes errors.Is see ErrConflict.
func (c *Conflict) Unwrap() error { return ErrConflict }

// As finds the type of package store.
func (c *Conflict) As(target any) bool { return As(c, target) }

// Clash makes a Conflict.
func Clash(what, why string) error { return &Conflict{what, why} }
