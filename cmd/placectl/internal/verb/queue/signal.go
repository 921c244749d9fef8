package queue

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/payload"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// Signal declares the verb signal.
func Signal() *session.Verb {
	return &session.Verb{
		Name:     "signal",
		Category: "Queue",
		Usage:    "send a signal to the processes of running jobs",
		May:      engine.Anybody,
		Args:     []verbs.Arg{{Name: "JOB", Kind: verbs.KindJob, Many: true}, {Name: "SIGNAL"}},
		Description: "SIGNAL is a name or a number: USR1, SIGTERM, 10. It reaches the job's processes on all its " +
			"nodes, from any\n" +
			"host and terminal. STOP, CONT and signals that usually end a process go to every process. " +
			"Others, such as\n" +
			"USR1, go to the processes that handle them, or to the job's command if none does. After STOP the " +
			"job shows as\n" +
			"paused until CONT: it keeps its nodes, and its walltime runs on. The verb returns once the signal is\n" +
			"delivered. If that takes longer than --timeout, the status is 7; the signal still arrives when " +
			"its node is\n" +
			"reached.",
		Flags: []cli.Flag{&cli.StringFlag{Name: "timeout", Value: "10s",
			Usage: "wait up to `D` for delivery; 0 does not wait"}},
		Access: verbs.Writes, Waits: true,
		Brief:   true,
		Example: "placectl signal 12 USR1\nplacectl signal 12 40 STOP\nplacectl signal 12 CONT",
		Run:     signal,
	}
}

func signal(r *session.Run, c *cli.Context) error {
	words := c.Args().Slice()
	name := words[len(words)-1]
	sig := payload.SignalNumber(name)
	if sig == 0 {
		return usage.Errorf("%s is not a signal such as USR1 or TERM", text.Quoted(name))
	}
	patience, err := r.Duration(c, "timeout")
	if err != nil {
		return err
	}
	if r.Tx != nil && c.IsSet("timeout") && patience > 0 {
		return usage.Errorf("the signal is delivered after the transaction: --timeout cannot wait for that")
	}
	if r.Tx != nil || c.Bool(verbs.DryRun) {
		patience = 0
	}
	signals := NewSignals(r, patience)
	return signals.Deliver(func() error {
		return r.Update(c, func(tx *engine.Tx) error {
			return signals.Within(func() error {
				runs := func(j *engine.Job) bool { return j.State == engine.JobRunning }
				jobs, _, err := liveNamed(r.Names(tx), words[:len(words)-1], runs)
				if err != nil {
					return err
				}
				return changeEach(r, tx, jobs, func(tx *engine.Tx, id uint64) (*engine.Job, error) {
					if err := signals.Send(tx, id, sig); err != nil {
						return nil, err
					}
					return tx.Jobs().Get(id)
				})
			})
		})
	})
}

// Signals sends signals in a transaction and waits until they are delivered. A job that has just
// started takes none before it is executed, so a transaction that finds one is repeated.
type Signals struct {
	r        *session.Run
	patience time.Duration // 0: wait for nothing
	deadline time.Time
	starting bool // the transaction found such a job
	sent     []sentTo
}

// sentTo is a signal that waits for delivery: the number-th of an attempt.
type sentTo struct {
	job     uint64
	attempt int
	number  int
}

// NewSignals makes Signals that waits for patience at most.
func NewSignals(r *session.Run, patience time.Duration) *Signals {
	return &Signals{r: r, patience: patience, deadline: r.Env.Clock().Add(patience)}
}

var errStarting = errors.New("the job's command has not begun yet")

// Within runs the body of a transaction that may call Send.
func (s *Signals) Within(fn func() error) error {
	s.starting, s.sent = false, nil
	if err := fn(); !s.starting {
		return err
	}
	return errStarting
}

// Send sends a signal to a running job.
func (s *Signals) Send(tx *engine.Tx, id uint64, sig int) error {
	if j, err := tx.Jobs().Get(id); err == nil && j.Starting() && s.r.Env.Clock().Before(s.deadline) {
		s.starting = true
		return errStarting
	}
	a, number, err := tx.Attempts().Signal(id, sig)
	if err == nil {
		s.sent = append(s.sent, sentTo{id, a.Number, number})
	}
	return err
}

// Deliver makes a change, again while one of its jobs is starting, and waits until its signals
// are delivered.
func (s *Signals) Deliver(change func() error) error {
	for {
		seen := s.r.FileStamp()
		err := change()
		if err == nil {
			break
		}
		if !errors.Is(err, errStarting) {
			return err
		}
		if err := s.r.WaitForChange(seen, s.deadline, time.Time{}); err != nil {
			return err
		}
	}
	if len(s.sent) == 0 || s.patience == 0 {
		return nil
	}
	s.r.Leave() // the attendant delivers to other hosts
	return s.await()
}

// await waits until the signals are delivered.
func (s *Signals) await() error {
	for {
		seen := s.r.FileStamp()
		var left []string
		err := s.r.View(func(tx *engine.Tx) error {
			left = nil
			for _, sent := range s.sent {
				a, err := tx.Attempts().Get(sent.job, sent.attempt)
				if err != nil {
					return err
				}
				if a.Sent < sent.number && a.State != engine.AttemptEnded {
					left = append(left, fmt.Sprintf("job %d on %s", sent.job, a.Host))
				}
			}
			return nil
		})
		if err != nil || len(left) == 0 {
			return err
		}
		if !s.r.Env.Clock().Before(s.deadline) {
			return &engine.Conflict{What: left[0], Why: "the signal was not delivered within " + text.FormatDuration(
				s.patience) + also(len(left)-1)}
		}
		if err := s.r.WaitForChange(seen, s.deadline, time.Time{}); err != nil {
			return err
		}
	}
}

// also mentions how many more jobs there are.
func also(more int) string {
	if more == 0 {
		return ""
	}
	return ", nor to " + strconv.Itoa(more) + " more"
}
