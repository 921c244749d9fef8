// Package usage is the error of a command line, or of what it names, that cannot be
// understood: whoever finds one says what is wrong with it, and the verb that runs adds
// its name when the error leaves it.
package usage

import (
	"errors"
	"fmt"
)

// Err is what every usage error is: errors.Is finds it.
var Err = errors.New("wrong usage")

// Error says what is wrong with the command line or its input.
type Error struct {
	verb  string // "" if it is not about a verb
	named bool   // verb is known
	err   error
}

// Errorf makes one about the verb that runs: Name names it.
func Errorf(format string, args ...any) error {
	return &Error{err: fmt.Errorf(format, args...)}
}

// Of makes one about a verb, "" for none.
func Of(verb, format string, args ...any) error {
	return &Error{verb, true, fmt.Errorf(format, args...)}
}

// Name names the verb in a usage error that has come out of it, and returns the error
// whatever it is.
func Name(verb string, err error) error {
	var e *Error
	if errors.As(err, &e) && !e.named {
		e.verb, e.named = verb, true
	}
	return err
}

// Verb is the verb that the error is about, "" for none.
func (e *Error) Verb() string { return e.verb }

// Error implements error: the verb, and what is wrong.
func (e *Error) Error() string {
	if e.verb == "" {
		return e.err.Error()
	}
	return e.verb + ": " + e.err.Error()
}

// Unwrap says that it is a usage error, and what it was made of.
func (e *Error) Unwrap() []error { return []error{Err, e.err} }
