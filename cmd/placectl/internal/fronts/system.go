package fronts

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// System is one whose commands are understood.
type System struct {
	Commands map[string]func(*Call) error
	Version  string   // what a command prints that is asked for its version
	Asks     []string // the options that ask for it
	// Failure is what is said of an error that is placectl's own, a format of the command's
	// name and the error; Code is the exit status then.
	Failure string
	Code    int
}

// Names are the commands that there are, in order.
func (s *System) Names() []string { return slices.Sorted(maps.Keys(s.Commands)) }

// Run runs a command and returns its exit status. done reports whether there is one of that
// name.
func (s *System) Run(c *Call) (status int, done bool) {
	do, ok := s.Commands[c.Name]
	if !ok {
		return 0, false
	}
	if len(c.Args) == 1 && slices.Contains(s.Asks, c.Args[0]) {
		fmt.Fprintln(c.Stdout, s.Version)
		return 0, true
	}
	err := do(c)
	var end *Status
	switch {
	case err == nil:
		return 0, true
	case errors.As(err, &end):
		fmt.Fprint(c.Stderr, end.Text)
		return end.Code, true
	}
	fmt.Fprintf(c.Stderr, s.Failure, c.Name, err)
	return s.Code, true
}

// Status ends a command: the text goes to standard error as it is, and the number is the
// exit status.
type Status struct {
	Code int
	Text string
}

func (s *Status) Error() string { return strings.TrimSuffix(s.Text, "\n") }

// Failf fails a command with a text, a line of its own.
func Failf(code int, format string, args ...any) error {
	return &Status{code, fmt.Sprintf(format, args...) + "\n"}
}
