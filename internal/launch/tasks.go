package launch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// Task is one of several programs that run side by side.
type Task struct {
	Words, Env []string
	Own        bool      // the program is this one, whatever file has its name now
	In         io.Reader // nil: no input
	Feed       bool      // it reads Tasks.In, along with all other such tasks
	Out, Err   io.Writer
}

// Ended says how a task has ended.
type Ended struct {
	Status int // exit status, 128 plus the signal if a signal ended it
	Signal syscall.Signal
	Err    error // why it could not be started
}

// Tasks are programs that run together.
type Tasks struct {
	List     []*Task
	In       io.Reader // for the tasks with Feed
	Together bool      // if one fails, terminate the others, and kill them a little later
	Terminal bool      // Ctrl-C at the terminal interrupts them already
}

// termWithin is how long tasks may take to end after SIGTERM.
const termWithin = 2 * time.Second

// Run starts the tasks, waits for all of them, and returns how each ended. It passes signals sent to
// us on to them.
func (ts *Tasks) Run() []Ended {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1,
		syscall.SIGUSR2)
	defer signal.Stop(signals)
	type end struct {
		i int
		Ended
	}
	ends := make(chan end, len(ts.List))
	commands := make([]*exec.Cmd, len(ts.List))
	var fed []io.WriteCloser
	for i, t := range ts.List {
		cmd, in, err := t.start()
		if err != nil {
			ends <- end{i, Ended{Err: err}}
			continue
		}
		if commands[i] = cmd; in != nil {
			fed = append(fed, in)
		}
		go func() { ends <- end{i, endOf(cmd.Wait())} }()
	}
	if len(fed) > 0 {
		go feed(ts.In, fed)
	}
	out := make([]Ended, len(ts.List))
	tell := func(sig os.Signal) {
		for _, cmd := range commands {
			if cmd != nil {
				cmd.Process.Signal(sig) //nolint:errcheck // it may have ended
			}
		}
	}
	var kill <-chan time.Time
	for left := len(ts.List); left > 0; {
		select {
		case e := <-ends:
			out[e.i], commands[e.i] = e.Ended, nil
			left--
			if ts.Together && kill == nil && (e.Err != nil || e.Status != 0) {
				tell(syscall.SIGTERM)
				kill = time.After(termWithin)
			}
		case sig := <-signals:
			if fromTerminal := sig == syscall.SIGINT || sig == syscall.SIGQUIT; !fromTerminal || !ts.Terminal {
				tell(sig)
			}
		case <-kill:
			tell(syscall.SIGKILL)
		}
	}
	return out
}

// start starts a task. in is the pipe for the task's input.
func (t *Task) start() (cmd *exec.Cmd, in io.WriteCloser, err error) {
	program := Itself()
	if !t.Own {
		if program, err = lookIn(SearchPath(t.Env), t.Words[0]); err != nil {
			return nil, nil, &Error{t.Words[0], err}
		}
	}
	cmd = exec.Command(program, t.Words[1:]...)
	cmd.Args[0], cmd.Env = t.Words[0], t.Env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = t.In, t.Out, t.Err
	if t.Feed {
		cmd.Stdin = nil
		if in, err = cmd.StdinPipe(); err != nil {
			return nil, nil, err
		}
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, &Error{t.Words[0], err}
	}
	return cmd, in, nil
}

// feed copies its input to all writers. It skips those whose task has ended.
func feed(from io.Reader, to []io.WriteCloser) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		for i, w := range to {
			if w == nil || n == 0 {
				continue
			}
			if _, err := w.Write(buf[:n]); err != nil {
				to[i] = nil
			}
		}
		if err != nil {
			break
		}
	}
	for _, w := range to {
		if w != nil {
			w.Close()
		}
	}
}

// endOf returns how a command has ended.
func endOf(err error) Ended {
	var failed *exec.ExitError
	switch {
	case err == nil:
		return Ended{}
	case !errors.As(err, &failed):
		return Ended{Status: 1, Err: fmt.Errorf("its output could not be forwarded: %w", err)}
	}
	if s, ok := failed.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return Ended{Status: 128 + int(s.Signal()), Signal: s.Signal()}
	}
	return Ended{Status: failed.ExitCode()}
}
