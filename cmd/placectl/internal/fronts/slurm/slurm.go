// Package slurm answers as the commands of Slurm 22.05 do: sbatch, squeue, sacct, scancel,
// scontrol, sinfo. It knows no store, opens no file and looks at no clock: see package fronts.
package slurm

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
)

// version is whose answers these are.
const version = "slurm 22.05.8"

// Commands are the commands that there are.
func Commands() []string { return slices.Sorted(maps.Keys(commands())) }

func commands() map[string]func(*fronts.Call) error {
	return map[string]func(*fronts.Call) error{
		"sbatch": sbatch, "squeue": squeue, "sacct": sacct, "scancel": scancel, "scontrol": scontrol, "sinfo": sinfo,
		"sacctmgr": sacctmgr, "sshare": sshare,
	}
}

// Status ends a command: the text goes to standard error as it is, and the number is the
// exit status.
type Status struct {
	Code int
	Text string
}

func (s *Status) Error() string { return strings.TrimSuffix(s.Text, "\n") }

// failf fails a command with a text, a line of its own.
func failf(code int, format string, args ...any) error {
	return &Status{code, fmt.Sprintf(format, args...) + "\n"}
}

// Run runs a command and returns its exit status. done reports whether the command is one
// of ours.
func Run(c *fronts.Call) (status int, done bool) {
	do, ok := commands()[c.Name]
	if !ok {
		return 0, false
	}
	if len(c.Args) == 1 && (c.Args[0] == "-V" || c.Args[0] == "--version") {
		fmt.Fprintln(c.Stdout, version)
		return 0, true
	}
	err := do(c)
	var s *Status
	switch {
	case err == nil:
		return 0, true
	case errors.As(err, &s):
		fmt.Fprint(c.Stderr, s.Text)
		return s.Code, true
	}
	fmt.Fprintf(c.Stderr, "%s: error: %v\n", c.Name, err)
	return 1, true
}

// options reads the options of a command as getopt_long does.
func options(c *fronts.Call, list string, order fronts.Order) (fronts.Set, []string, error) {
	given, rest, err := fronts.Declare(list).Read(c.Args, order)
	if err != nil {
		return nil, nil, usage(c, 1, err)
	}
	return fronts.SetOf(given), rest, nil
}

// usage is what a command says of options that it does not have.
func usage(c *fronts.Call, code int, err error) error {
	return failf(code, "%s: %v\nTry \"%s --help\" for more information", c.Name, err, c.Name)
}

// saying is an error in the words of Slurm, which begin large.
func saying(format string, args ...any) error { return sentence(fmt.Sprintf(format, args...)) }

type sentence string

func (s sentence) Error() string { return string(s) }
