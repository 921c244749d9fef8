package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/placectl/placectl/internal/text"
)

// SSH is the program ssh found on PATH. It asks no questions, and gives up a host that does not
// answer.
type SSH struct {
	path string
	env  []string // nil: our own
}

// FindSSH finds ssh on our PATH. Its error is an *Error.
func FindSSH() (*SSH, error) {
	path, err := Find("ssh")
	if err != nil {
		return nil, err
	}
	return &SSH{path: path}, nil
}

// FindSSHIn finds ssh on the PATH of env, and runs it with env.
func FindSSHIn(env []string) (*SSH, error) {
	path, err := lookIn(SearchPath(env), "ssh")
	if err != nil {
		return nil, &Error{"ssh", err}
	}
	return &SSH{path, env}, nil
}

// Unreached says that ssh has not reached a host, or has lost the connection.
type Unreached struct {
	Host string
	Why  string // ssh's own message, "" for none
}

func (e *Unreached) Error() string {
	if e.Why == "" {
		return e.Host + " was not reached by ssh"
	}
	return e.Host + " was not reached by ssh: " + e.Why
}

// Refused says that a command on a host has ended with a status other than 0.
type Refused struct {
	Host   string
	Status int    // as a shell reports it: 127 if there is no such program
	Why    string // the last line of its output
}

func (e *Refused) Error() string {
	return fmt.Sprintf("%s: exit status %d: %s", e.Host, e.Status, e.Why)
}

// SSHLost is the exit status of ssh for its own failures.
const SSHLost = 255

// args returns the arguments of ssh to run words in a shell on a host.
func (s *SSH) args(host string, words []string) []string {
	return []string{"-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=15", "--", host,
		text.ShellLine(words)}
}

// Run runs words on a host with our streams, and returns their exit status. If the connection fails
// it returns an *Unreached, and how far the command got is unknown.
func (s *SSH) Run(ctx context.Context, host string, words []string, in io.Reader, out, complaint io.Writer) (status int,
	err error) {
	cmd := exec.CommandContext(ctx, s.path, s.args(host, words)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = in, out, complaint, s.env
	cmd.WaitDelay = time.Second // processes started there may hold the streams open
	err = cmd.Run()
	switch {
	case errors.Is(err, exec.ErrWaitDelay):
		return 0, nil
	case ctx.Err() != nil:
		return 0, ctx.Err()
	}
	status, err = exitStatus(err)
	if err == nil && status == SSHLost {
		err = &Unreached{Host: host}
	}
	return status, err
}

// maxHosts is the number of concurrent connections.
const maxHosts = 32

// NoProgram is a shell's exit status for a program that it does not find.
const NoProgram = 127

// Each runs words on several hosts at a time, and returns an error for each host, nil for status 0.
// Each host may take up to limit.
func (s *SSH) Each(ctx context.Context, hosts []string, limit time.Duration, words func(host string) []string) []error {
	failed := make([]error, len(hosts))
	var running group
	slots := make(chan struct{}, maxHosts)
	for i, host := range hosts {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			failed[i] = s.one(ctx, host, limit, words(host))
		})
	}
	running.Wait()
	return failed
}

func (s *SSH) one(ctx context.Context, host string, limit time.Duration, words []string) error {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var said bytes.Buffer
	status, err := s.Run(limited, host, words, nil, &said, &said)
	last := strings.TrimPrefix(strings.TrimPrefix(lastLine(said.String()), ": "), "ssh: ")
	var lost *Unreached
	switch {
	case errors.As(err, &lost):
		lost.Why = last
		return lost
	case err != nil && limited.Err() != nil && ctx.Err() == nil:
		return &Unreached{host, (&timeoutError{limit}).Error()}
	case err != nil:
		return err
	case status != 0:
		return &Refused{host, status, last}
	}
	return nil
}
