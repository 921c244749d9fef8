package main

import (
	"errors"
	"fmt"
	"io"
	"syscall"
)

// errLost says that what was asked for is done, and its answer could not be written.
var errLost = errors.New("done, but the answer was lost")

// answers is where the answer of a run goes. It remembers that it could not be written.
type answers struct {
	io.Writer
	err error
}

func (a *answers) Write(b []byte) (int, error) {
	n, err := a.Writer.Write(b)
	if err != nil && a.err == nil {
		a.err = err
	}
	return n, err
}

// delivered is what came of a run in the light of whether its answer could be written:
// nobody must take a change for a failure.
func (r *runner) delivered(err error) error {
	switch lost := r.answers.err; {
	case lost == nil, errors.Is(err, errLost):
		return err
	case r.changed:
		return lostAnswer(lost)
	case err == nil:
		return lost
	}
	return err
}

func lostAnswer(err error) error {
	return fmt.Errorf("%w: %w; the same --key repeats it", errLost, err)
}

// exitPipe is what a shell says of a process that SIGPIPE has ended.
const exitPipe = 128 + int(syscall.SIGPIPE)

// pipeClosed reports whether an answer that tells of no change has nobody left to read
// it: as with other programs that is no failure.
func (r *runner) pipeClosed() bool {
	return !r.changed && errors.Is(r.answers.err, syscall.EPIPE)
}
