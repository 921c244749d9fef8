package main

import (
	"errors"
	"io/fs"
	"os/exec"

	"github.com/placectl/placectl/cmd/placectl/internal/spell"
)

// The exit statuses of shells, env, nohup and others for a command that there is not,
// or that cannot be executed.
const (
	statusNotExecutable = 126
	statusNoProgram     = 127
)

// programError says that a command cannot be run.
type programError struct {
	name string
	err  error
}

func (e *programError) Error() string { return spell.Quoted(e.name) + ": " + e.err.Error() }

func (e *programError) Unwrap() error { return e.err }

// status is the exit status for it, and the reason.
func (e *programError) status() (int, reason) {
	if errors.Is(e.err, exec.ErrNotFound) || errors.Is(e.err, fs.ErrNotExist) {
		return statusNoProgram, reasonNoCommand
	}
	return statusNotExecutable, reasonNotExecutable
}

// lookProgram finds the file of a command, on PATH where it is no path itself.
func lookProgram(name string) (string, error) {
	path, err := exec.LookPath(name)
	var where *exec.Error
	if errors.As(err, &where) {
		err = where.Err // it says the name again, as does what may be inside
	}
	var stat *fs.PathError
	if errors.As(err, &stat) {
		err = stat.Err
	}
	if err != nil {
		return "", &programError{name, err}
	}
	return path, nil
}
