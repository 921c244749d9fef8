package main

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// errCrash is a panic of ours.
var errCrash = errors.New("placectl has crashed, which is a mistake in it; look whether it was done")

// crashed tells of a panic of ours and returns the exit status: the Go runtime would end
// the process with the status of wrong usage. What came of a change nobody knows then.
func (r *runner) crashed(p any) int {
	stack := debug.Stack()
	if from, ok := p.(interface{ Stack() []byte }); ok {
		stack = from.Stack()
	}
	status := r.report(fmt.Errorf("%w: %v", errCrash, p))
	if !r.audience().Document {
		r.stderr.Write(stack)
	}
	return status
}
