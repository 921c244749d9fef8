package run

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/joblog"
	"github.com/placectl/placectl/internal/keeper"
	"github.com/placectl/placectl/internal/launch"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// openFar opens the log on the host that holds it. It returns nil if that is this host, or if the
// file is on a shared file system.
func (l *jobLog) openFar(s *logState) (openLog, error) {
	host := s.attempt.Host
	here, err := os.Hostname()
	if err != nil || host == "" || engine.SameHost(host, here) || engine.NetworkFileSystem(filepath.Dir(s.path)) != "" {
		return nil, err
	}
	if self, err := keeper.Self(here); err != nil || s.attempt.Boot == "" || self.Boot == s.attempt.Boot {
		return nil, err // this host under another name, or an unknown one
	}
	ssh, err := launch.FindSSH()
	if err == nil {
		err = s.alone
	}
	if err != nil {
		return nil, fmt.Errorf("job %d has written %s on %s: %w", s.job.ID, text.Quoted(s.path), host, err)
	}
	words := []string{"placectl", "logs", strconv.FormatUint(s.job.ID, 10), "--path", s.path}
	for _, flag := range []string{"tail", "attempt"} {
		if l.c.IsSet(flag) && (flag == "tail" || s.shared) {
			words = append(words, "--"+flag, strconv.Itoa(l.c.Int(flag)))
		}
	}
	far, err := joblog.Fetch(l.to, func(in io.Reader, to io.Writer) error {
		var said bytes.Buffer
		status, err := ssh.Run(l.r.Ctx, host, words, in, to, &said)
		txt := strings.TrimPrefix(strings.TrimSpace(said.String()), "placectl: ")
		var lost *launch.Unreached
		switch {
		case errors.As(err, &lost):
			lost.Why = txt
			return fmt.Errorf("%w: %w", exit.ErrUnreached, lost)
		case err == nil && status == exit.NotFound:
			return fmt.Errorf("%w: on %s: %s", engine.ErrNotFound, host, strings.TrimPrefix(txt, "not found: "))
		case err == nil && status != exit.OK:
			return fmt.Errorf("on %s: %s", host, txt)
		}
		return err
	})
	return far, err
}

// beginLog seeks to where reading begins: the output of one attempt, and its last lines.
func beginLog(c *cli.Context, from *joblog.Log, path string, job uint64, shared bool) error {
	if n := c.Int("attempt"); c.IsSet("attempt") && shared {
		found, err := from.Only(job, n)
		if err == nil && !found {
			err = fmt.Errorf("%w: attempt %d of job %d has written nothing to %s", engine.ErrNotFound, n, job,
				text.Quoted(path))
		}
		if err != nil {
			return err
		}
	}
	if c.IsSet("tail") {
		return from.Tail(c.Int("tail"))
	}
	return nil
}

// serveLog reads a log for another host.
func serveLog(r *session.Run, c *cli.Context) error {
	job, err := strconv.ParseUint(c.Args().First(), 10, 64)
	if err != nil {
		return usage.Errorf("--path is only for other hosts, which name a job by its number")
	}
	path := c.String("path")
	err = joblog.Serve(path, func(from *joblog.Log) error { return beginLog(c, from, path, job, true) }, r.Stdin,
		r.Stdout)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %w", engine.ErrNotFound, err)
	}
	return err
}
