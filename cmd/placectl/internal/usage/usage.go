// Package usage is the error for a command line, or a file that it names, that cannot be understood. The
// code that finds the mistake says what is wrong, and the verb that runs adds its name.
package usage

import (
	"errors"
	"fmt"
)

// Err matches every usage error with errors.Is.
var Err = errors.New("wrong usage")

// Error says what is wrong with the command line or its input.
type Error struct {
	verb  string // "" if the error is not about a verb
	named bool   // verb is known
	err   error
}

// Errorf makes an error about the running verb, which Name adds.
func Errorf(format string, args ...any) error {
	return &Error{err: fmt.Errorf(format, args...)}
}

// Of makes an error about a verb, "" for none.
func Of(verb, format string, args ...any) error {
	return &Error{verb, true, fmt.Errorf(format, args...)}
}

// Name adds the verb to a usage error, and returns any other error as it is.
func Name(verb string, err error) error {
	var e *Error
	if errors.As(err, &e) && !e.named {
		e.verb, e.named = verb, true
	}
	return err
}

// Verb returns the verb that the error is about, "" for none.
func (e *Error) Verb() string { return e.verb }

// Error returns the verb, and what is wrong.
func (e *Error) Error() string {
	if e.verb == "" {
		return e.err.Error()
	}
	return e.verb + ": " + e.err.Error()
}

// Unwrap returns Err and the underlying error.
func (e *Error) Unwrap() []error { return []error{Err, e.err} }
