package fronts

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
)

// System is a system whose commands are understood.
type System struct {
	Name     string
	Commands map[string]func(*Call) error
	Version  string   // printed for the options in Asks
	Asks     []string // the options that ask for the version
	Helps    []string // the options that ask for help
	// Elsewhere are commands that do not exist here, and what to use instead.
	Elsewhere map[string]string
	// Failure is a format for errors of placectl itself, with the command's name and the error. Code is
	// the exit status.
	Failure string
	Code    int
	// in place of Failure and Code if something is not permitted: a format with the command's name and the error
	Denied *Status
}

// Names lists the understood commands in order, with those of Elsewhere.
func (s *System) Names() []string {
	return slices.Sorted(func(yield func(string) bool) {
		for _, one := range []iter.Seq[string]{maps.Keys(s.Commands), maps.Keys(s.Elsewhere)} {
			for name := range one {
				if !yield(name) {
					return
				}
			}
		}
	})
}

// Informs reports whether arguments ask for nothing but help or the version, which need no database.
func (s *System) Informs(args []string) bool {
	return len(args) == 1 && (slices.Contains(s.Asks, args[0]) || slices.Contains(s.Helps, args[0]))
}

// Run runs a command and returns its exit status; done is false if there is no command of that name.
func (s *System) Run(c *Call) (status int, done bool) {
	do, ok := s.Commands[c.Name]
	instead, elsewhere := s.Elsewhere[c.Name]
	if !ok && !elsewhere {
		return 0, false
	}
	if len(c.Args) == 1 && slices.Contains(s.Asks, c.Args[0]) {
		fmt.Fprintln(c.Stdout, s.Version)
		return 0, true
	}
	if !ok {
		fmt.Fprintf(c.Stderr, "%s is not available here; instead: %s\n", c.Name, instead)
		return 2, true
	}
	err := do(c)
	var end *Status
	switch {
	case err == nil:
		return 0, true
	case c.Unread():
		return s.Code, true
	case errors.As(err, &end):
		fmt.Fprint(c.Stderr, end.Text)
		return end.Code, true
	}
	if errors.Is(err, ErrDenied) {
		fmt.Fprintf(c.Stderr, s.Denied.Text, c.Name, err)
		return s.Denied.Code, true
	}
	fmt.Fprintf(c.Stderr, s.Failure, c.Name, err)
	return s.Code, true
}

// Status ends a command: the text goes to standard error, and the number is the exit status.
type Status struct {
	Code int
	Text string
}

func (s *Status) Error() string { return strings.TrimSuffix(s.Text, "\n") }

// Failf fails a command with a line of text.
func Failf(code int, format string, args ...any) error {
	return &Status{code, fmt.Sprintf(format, args...) + "\n"}
}
