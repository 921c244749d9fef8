package run

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/listing"
	"github.com/placectl/placectl/cmd/placectl/internal/payload"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/joblog"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// Logs declares the verb logs.
func Logs() *session.Verb {
	return &session.Verb{
		Name:     "logs",
		Category: "Queue",
		Usage:    "show the output of jobs",
		May:      engine.Anybody,
		Args:     []verbs.Arg{{Name: "JOB", Kind: verbs.KindJob}},
		Description: "Shows the output of all attempts if they write to one file, else of the last. If it is on the " +
			"host that\n" +
			"executed the job, and not on a shared file system, it is read there over ssh. With -f it waits for " +
			"the job to\n" +
			"start, follows its output over all attempts, and ends when the job has ended. The exit status " +
			"is then the\n" +
			"job's, or 1 if it has none. The jobs of an array come one after the other, each behind a line ==> " +
			"12[3]; the\n" +
			"status is that of the first that failed. On a terminal, control characters are shown, not obeyed, " +
			"unless you give --raw.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "follow", Aliases: []string{"f"}, Usage: "follow the output until the job has ended"},
			&cli.BoolFlag{Name: "err", Usage: "show the error output, if it has its own file"},
			&cli.IntFlag{Name: "tail", Usage: "only the last `N` lines"},
			&cli.IntFlag{Name: "attempt", Usage: "only the output of attempt `N`"},
			&cli.StringFlag{Name: "path", Hidden: true, Usage: "serve file `F` to another host, on its request"},
		},
		Access: verbs.Reads, Waits: true,
		Revives:  true,
		Alone:    true,
		Statuses: map[int]string{exit.NotNow: "not started yet"},
		Example:  "placectl logs 12\nplacectl logs -f '40[3]' --tail 20",
		Run:      logs,
	}
}

// jobLog is a job's log that is being read.
type jobLog struct {
	r    *session.Run
	c    *cli.Context
	to   io.Writer
	job  uint64
	head string  // the line before its output, "" for none
	path string  // of the file being read
	from openLog // nil until the file is open
	said string  // the reason last told why the job waits
}

// openLog is an open log file, here or on another host.
type openLog interface {
	Copy(io.Writer) error // copies the new output
	Rest(io.Writer) error // copies the last output
	Close() error
}

// logState says where the output of a job is at present.
type logState struct {
	job     *engine.Job
	attempt *engine.Attempt // the attempt shown, nil before the first
	path    string
	shared  bool   // the file also has the output of other attempts
	over    bool   // nothing more will be written
	waits   string // why the job waits, "" if it is about to start
	idle    string // why no process will start it, "" if one may
	alone   error  // why no other host may be asked: the database is a copy
}

func logs(r *session.Run, c *cli.Context) error {
	for _, flag := range []string{"tail", "attempt"} {
		if c.IsSet(flag) && c.Int(flag) < 1 {
			return usage.Errorf("--%s must be 1 or more", flag)
		}
	}
	if c.IsSet("path") {
		return serveLog(r, c)
	}
	to := io.Writer(r.Stdout)
	if r.StdoutTTY && !r.Raw {
		to = &joblog.Harmless{To: r.Stdout}
	}
	jobs, several, err := loggedJobs(r, c)
	if err != nil {
		return err
	}
	if several {
		return eachLog(r, c, &lines{to: to}, jobs)
	}
	l := &jobLog{r: r, c: c, to: to, job: jobs[0].ID}
	over, err := l.show()
	if err != nil || over == nil {
		return err
	}
	return jobStatus(over)
}

// show shows a job's output. With --follow it returns the job once it has ended.
func (l *jobLog) show() (over *logState, err error) {
	defer l.close()
	for {
		seen := l.r.FileStamp()
		s, err := l.state()
		if err != nil {
			return nil, err
		}
		if err := l.read(s); err != nil {
			return nil, err
		}
		switch {
		case s.over && l.c.Bool("follow"):
			l.r.Told(s.job)
			l.sayWhy(s)
			return s, nil
		case !l.c.Bool("follow"):
			l.sayWhy(s)
			return nil, nil
		}
		if err := l.follow(seen); err != nil {
			return nil, err
		}
	}
}

// sayWhy says why an attempt ended that did not end by itself, or did not begin: its output does not.
func (l *jobLog) sayWhy(s *logState) {
	if a := s.attempt; a != nil && a.State == engine.AttemptEnded && a.Why != "" {
		l.r.Loudf("job %s, attempt %d: %s", listing.JobName(s.job), a.Number, a.Why)
	}
}

// state finds out where the output is, and whether more will come.
func (l *jobLog) state() (s *logState, err error) {
	err = l.r.View(func(tx *engine.Tx) error {
		id := l.job
		s = new(logState)
		if s.alone = engine.Executing(tx); s.alone != nil && !errors.Is(s.alone, engine.ErrCopy) {
			return s.alone
		}
		if s.job, err = tx.Jobs().Get(id); err != nil {
			return err
		}
		p, err := tx.Jobs().Payload(id)
		switch {
		case err != nil:
			return err
		case p == nil:
			return fmt.Errorf("%w: job %d has no command and writes nothing", engine.ErrNotFound, id)
		}
		if n := l.c.Int("attempt"); n <= s.job.Attempt && s.job.Attempt > 0 {
			if s.attempt, err = tx.Attempts().Get(id, n); err != nil {
				return err
			}
		}
		s.over = !s.job.State.Live()
		if s.waits, err = l.waitsFor(tx, s.job); err != nil {
			return err
		}
		if session.StartsByCycle(s.job) {
			if s.idle, err = l.r.Uncycled(tx, s.job.Submit); err != nil {
				return err
			}
		}
		if s.attempt == nil {
			return nil
		}
		if l.c.IsSet("attempt") {
			s.over = s.over || s.attempt.State == engine.AttemptEnded
		}
		return s.find(tx, p, l.c.Bool("err"))
	})
	return s, err
}

// waitsFor returns the state in which a job waits, and why. A user who follows a log may have to
// wait long for it.
func (l *jobLog) waitsFor(tx *engine.Tx, j *engine.Job) (string, error) {
	if !l.c.Bool("follow") || j.State != engine.JobHeld && j.State != engine.JobQueued {
		return "", nil
	}
	look, err := tx.Ask().Outlook()
	if err != nil {
		return "", err
	}
	p, err := look.Prospect(j)
	switch {
	case err != nil || p.Wait == engine.WaitsTurn:
		return "", err
	case p.Reason == "":
		return j.State.String(), nil
	}
	return j.State.String() + ": " + p.Words(), nil
}

// find finds the attempt's output file.
func (s *logState) find(tx *engine.Tx, p *engine.Payload, errors bool) error {
	nodes, err := tx.Nodes().Names(s.attempt.AllNodes())
	if err != nil {
		return err
	}
	files := payload.Files{Job: s.job, Of: p, Attempt: s.attempt.Number, Node: func() string {
		if len(nodes) == 0 {
			return ""
		}
		return nodes[0]
	}}
	pattern := p.Out
	if s.path = files.Out(); errors && p.Err != "" && files.Err() != s.path {
		s.path, pattern = files.Err(), p.Err
	}
	s.shared = !strings.Contains(strings.ReplaceAll(pattern, "%%", ""), "%t")
	return nil
}

// read shows new output.
func (l *jobLog) read(s *logState) error {
	if s.attempt == nil || s.attempt.State == engine.AttemptStarted {
		return l.nothingYet(s)
	}
	if l.from != nil && l.path != s.path {
		if err := l.from.Rest(l.to); err != nil {
			return err
		}
		l.close()
	}
	if l.from == nil {
		if err := l.open(s); err != nil || l.from == nil {
			return err
		}
	}
	if s.over || !l.c.Bool("follow") {
		return l.from.Rest(l.to)
	}
	return l.from.Copy(l.to)
}

// nothingYet describes a job that has not started.
func (l *jobLog) nothingYet(s *logState) error {
	switch n := l.c.Int("attempt"); {
	case l.c.Bool("follow") && !s.over:
		if said := s.waits + s.idle; said != l.said {
			l.said = said
			if s.waits != "" {
				l.r.Notef("job %d is %s", s.job.ID, s.waits)
			}
			if s.idle != "" {
				l.r.Notef("%s", s.idle)
			}
		}
		return nil
	case s.attempt == nil && n > 0:
		return fmt.Errorf("%w: job %d has not come to attempt %d", engine.ErrNotFound, s.job.ID, n)
	case s.over:
		return fmt.Errorf("%w: job %d %s, and nothing of it was executed", engine.ErrNotFound, s.job.ID,
			s.job.State.Is())
	}
	what := "placectl logs -f waits for it"
	if s.idle != "" {
		what = s.idle
	}
	return fmt.Errorf("%w: job %d %s, and has written nothing; %s", exit.ErrNothingYet, s.job.ID,
		s.job.State.Is(), what)
}

// open opens the file, at the part to show. With --follow it waits for the file.
func (l *jobLog) open(s *logState) error {
	if err := l.heading(); err != nil {
		return err
	}
	if far, err := l.openFar(s); far != nil || err != nil {
		l.path = s.path
		if far != nil {
			l.from = far
		}
		return err
	}
	from, err := joblog.Open(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && l.c.Bool("follow") && !s.over:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("job %d %s, and its output is not there (nothing was written, or the file was removed): "+
			"%s: no such file", s.job.ID, s.job.State.Is(), text.Quoted(s.path))
	case err != nil:
		return err
	}
	l.from, l.path = from, s.path
	return beginLog(l.c, from, s.path, s.job.ID, s.shared)
}

// lookInterval is how often logs -f reads a job while the database's file does not change: the
// clock changes jobs, too.
const lookInterval = 5 * time.Second

// follow shows new output until the database may have news of the job.
func (l *jobLog) follow(seen session.FileStamp) error {
	until := l.r.Env.Clock().Add(lookInterval)
	for l.r.FileStamp() == seen && l.r.Env.Clock().Before(until) {
		if l.from == nil {
			return l.r.WaitForChange(seen, l.r.Env.Clock().Add(session.PollInterval), time.Time{})
		}
		if err := l.from.Copy(l.to); err != nil {
			return err
		}
		if err := l.r.WaitForChange(seen, l.r.Env.Clock().Add(session.PollInterval), time.Time{}); err != nil {
			return err
		}
	}
	return l.r.Ctx.Err()
}

func (l *jobLog) close() {
	if l.from != nil {
		l.from.Close()
		l.from = nil
	}
}

// jobStatus ends the run with the exit status of the job, or of the requested attempt.
func jobStatus(s *logState) error {
	status := s.job.Exit
	switch {
	case s.attempt != nil && s.job.State.Live(), s.attempt != nil && s.attempt.Number < s.job.Attempt:
		status = s.attempt.Exit
		if s.attempt.Outcome != engine.OutcomeExited && status == 0 {
			status = 1
		}
	case s.job.State != engine.JobFinished && status == 0:
		status = 1
	}
	if status == 0 {
		return nil
	}
	if s.job.State == engine.JobCancelled {
		return fmt.Errorf("job %s was cancelled", strconv.FormatUint(s.job.ID, 10))
	}
	return exit.Status(status)
}
