// Package launch starts programs, and is the only package of the command that does:
// a site's launcher for each job (launcher.go), the program of the policy local
// (ranking.go), the command of a job that runs here (command.go), and placectl itself
// (self.go). It knows no verb and no database. It gets words, environments and time
// limits, and returns what became of the program.
package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/placectl/placectl/internal/text"
)

// Error says that a program cannot be started.
type Error struct {
	Name string // as the caller named it
	Err  error
}

func (e *Error) Error() string { return text.Quoted(e.Name) + ": " + e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

// Missing reports whether there is no such program, as opposed to one that cannot be executed.
func (e *Error) Missing() bool {
	return errors.Is(e.Err, exec.ErrNotFound) || errors.Is(e.Err, fs.ErrNotExist)
}

// Find finds a program's file, on PATH unless its name is a path. Its error is an *Error.
func Find(name string) (string, error) {
	path, err := exec.LookPath(name)
	var where *exec.Error
	if errors.As(err, &where) {
		err = where.Err // the outer error repeats the name, and so may the inner one
	}
	var stat *fs.PathError
	if errors.As(err, &stat) {
		err = stat.Err
	}
	if err != nil {
		return "", &Error{name, err}
	}
	return path, nil
}

// Program is a program with its arguments and its time limit.
type Program struct {
	Words   []string
	Timeout time.Duration
	Whole   bool // on a timeout, kill its children, too
}

// run runs the program, with args after its own, until it ends or takes too long. It returns the last
// line of its error messages, or of all its output if out is nil. The error wraps exec.ErrWaitDelay
// if the program has succeeded and left a process running.
func (p *Program) run(ctx context.Context, args, env []string, in io.Reader, out io.Writer) (said string, err error) {
	limited, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	cmd := exec.CommandContext(limited, p.Words[0], append(p.Words[1:len(p.Words):len(p.Words)], args...)...)
	var complaint bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = in, out, &complaint, env
	if out == nil {
		cmd.Stdout = &complaint
	}
	cmd.WaitDelay = time.Second // its children may hold the pipes open
	if p.Whole {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	}
	err = cmd.Run()
	said = lastLine(complaint.String())
	if err == nil {
		return said, nil
	}
	if limited.Err() != nil && ctx.Err() == nil && !errors.Is(err, exec.ErrWaitDelay) {
		return said, &timeoutError{p.Timeout}
	}
	return said, fmt.Errorf("%w%s", err, said)
}

// timeoutError says that a program took too long.
type timeoutError struct{ limit time.Duration }

func (e *timeoutError) Error() string { return "took longer than " + e.limit.String() }

// lastLine returns the last line of a program's error messages.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		text = text[i+1:]
	}
	if text == "" {
		return ""
	}
	return ": " + text
}
