package launch

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// Command is the command of a job that runs here. It gets our input, our output and the signals sent
// to us.
type Command struct {
	Program  string   // the program's file
	Words    []string // the program's name and arguments
	In       io.Reader
	Out, Err io.Writer
	Terminal bool          // Ctrl-C at the terminal interrupts both processes: do not send it twice
	Ends     func() bool   // asked each second whether the command must end
	Grace    time.Duration // how long it may take to end after SIGTERM
	Began    func(pid int) // called once the command runs

	Signal func(pid int, sig syscall.Signal) // ends the command and what it has started
}

// Run runs a job's command until it ends, and returns its exit status as a shell does. An error
// means that it could not be started, or that something else went wrong.
func (c *Command) Run(database string, n *Notice) (status int, err error) {
	env, remove, err := n.environ(os.Environ(), database)
	if err != nil {
		return 0, err
	}
	defer remove()
	cmd := exec.Command(c.Program, c.Words[1:]...)
	cmd.Args[0] = c.Words[0]
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = c.In, c.Out, c.Err, env
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1,
		syscall.SIGUSR2)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return 0, &Error{c.Words[0], err}
	}
	c.Began(cmd.Process.Pid)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	return c.attend(cmd.Process, signals, ended)
}

// attend passes signals on to the command until it has ended, and ends it when it must.
func (c *Command) attend(process *os.Process, signals <-chan os.Signal, ended <-chan error) (int, error) {
	look := time.NewTicker(time.Second)
	defer look.Stop()
	var kill <-chan time.Time
	for {
		select {
		case err := <-ended:
			return exitStatus(err)
		case sig := <-signals:
			if fromTerminal := sig == syscall.SIGINT || sig == syscall.SIGQUIT; !fromTerminal || !c.Terminal {
				process.Signal(sig) //nolint:errcheck // it may have ended
			}
		case <-kill:
			c.Signal(process.Pid, syscall.SIGKILL)
		case <-look.C:
			if kill == nil && c.Ends() {
				c.Signal(process.Pid, syscall.SIGTERM)
				kill = time.After(c.Grace)
			}
		}
	}
}

// exitStatus returns a command's exit status as a shell does.
func exitStatus(err error) (int, error) {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, nil
	case !errors.As(err, &exit):
		return 0, err
	}
	if s, ok := exit.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return 128 + int(s.Signal()), nil
	}
	return exit.ExitCode(), nil
}
