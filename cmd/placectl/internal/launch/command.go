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

// Command is the command of a job that runs here: it gets our input, our output and
// the signals that we get.
type Command struct {
	Program  string   // its file
	Words    []string // its name and arguments
	In       io.Reader
	Out, Err io.Writer
	Terminal bool          // Ctrl-C at the terminal interrupts both of us: do not send it twice
	Ended    func() bool   // asked each second: is it to terminate, since its job is no more?
	Began    func(pid int) // called once it runs; nil for nothing
}

// grace is how long a command that was told to terminate may take.
const grace = 10 * time.Second

// Run runs the command of a job until it ends, and returns its exit status as a shell
// gives it. The error says that it could not be started, or what else is wrong.
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
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return 0, &Error{c.Words[0], err}
	}
	if c.Began != nil {
		c.Began(cmd.Process.Pid)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	return c.attend(cmd.Process, signals, ended)
}

// attend passes signals on to the command, and ends it when its job has ended, until
// it has ended.
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
			process.Kill() //nolint:errcheck // it may have ended
		case <-look.C:
			if kill == nil && c.Ended() {
				process.Signal(syscall.SIGTERM) //nolint:errcheck // it may have ended
				kill = time.After(grace)
			}
		}
	}
}

// exitStatus is a command's exit status as a shell gives it.
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
