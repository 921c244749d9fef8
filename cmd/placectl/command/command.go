// Package command is the command placectl: Main is all that its main function calls, here and in other modules.
//
// It starts a run (internal/session) of one of the verbs listed in verbs.go. Each verb, or
// small family of verbs, has a file in a package below internal/verb. A function in it declares the
// verb's arguments, flags, exit statuses, what it does to the database, and its help. What a verb means
// is decided in package store and below.
package command

import (
	"context"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/process"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verb/front"
	"github.com/placectl/placectl/internal/people"
	"golang.org/x/term"
)

// Main runs the process's command line, and ends the process.
func Main() { Run(Env()) }

// Run runs a whole process in an environment, and ends it.
func Run(e session.Env) {
	// The first interrupt asks the verb to stop. The next one has its usual effect, in case the
	// verb does not listen.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop)
	// Writing an answer that nothing reads must fail, but not end the process, which may have a
	// change to report.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	if err := process.CheckPoller(); err != nil {
		os.Exit(session.New(ctx, e, Verbs()).Report(err))
	}
	status := session.New(ctx, e, Verbs()).Outcome()
	if status == exit.Pipe {
		process.DieBy(syscall.SIGPIPE)
	}
	os.Exit(status)
}

// Env returns the environment of this process.
func Env() session.Env {
	return session.Env{
		Args:       front.Args(os.Args),
		Stdin:      os.Stdin,
		Stdout:     os.Stdout,
		Stderr:     os.Stderr,
		Getenv:     os.Getenv,
		Environ:    os.Environ,
		Clock:      time.Now,
		Loc:        time.Local,
		StdoutTTY:  term.IsTerminal(int(os.Stdout.Fd())),
		StderrTTY:  term.IsTerminal(int(os.Stderr.Fd())),
		Width:      terminalWidth,
		Self:       sync.OnceValue(func() string { return people.System.Name(uint32(os.Getuid())) }),
		Namespaced: sync.OnceValue(people.InNamespace),
		Commit:     session.Commit,
	}
}

func terminalWidth() int {
	for _, f := range []*os.File{os.Stdout, os.Stderr} {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w
		}
	}
	w, err := strconv.Atoi(os.Getenv("COLUMNS"))
	if err != nil || w < 0 {
		return 0
	}
	return w
}
