package queue

import (
	"fmt"
	"strconv"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/payload"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// Signal declares the verb signal.
func Signal() *session.Verb {
	return &session.Verb{
		Name:     "signal",
		Category: "Queue",
		Usage:    "send a signal to the processes of running jobs",
		May:      store.Anybody,
		Args:     []verbs.Arg{{Name: "JOB", Kind: verbs.KindJob, Many: true}, {Name: "SIGNAL"}},
		Description: "SIGNAL is a name or a number: USR1, SIGTERM, 10. It reaches the job's processes on all its nodes, from any\n" +
			"host and terminal. STOP, CONT and signals that usually end a process go to every process. Others, such as\n" +
			"USR1, go to the processes that handle them, or to the job's command if none does. After STOP the job shows as\n" +
			"paused until CONT: it keeps its nodes, and its walltime runs on. The verb returns once the signal is\n" +
			"delivered. If that takes longer than --timeout, the status is 7; the signal still arrives when its node is\n" +
			"reached.",
		Flags:   []cli.Flag{&cli.StringFlag{Name: "timeout", Value: "10s", Usage: "wait up to `D` for delivery; 0 does not wait"}},
		Access:  verbs.Writes,
		Brief:   true,
		Example: "placectl signal 12 USR1\nplacectl signal 12 '40[]' STOP\nplacectl signal 12 CONT",
		Run:     signal,
	}
}

// SentTo is an attempt that was sent a signal, and the number of that signal.
type SentTo struct {
	Job     uint64
	Attempt int
	Number  int
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
	deadline := r.Env.Clock().Add(patience)
	if r.Tx == nil && !c.Bool(verbs.DryRun) {
		if err := awaitClaims(r, words[:len(words)-1], deadline); err != nil {
			return err
		}
	}
	var sent []SentTo
	err = r.Update(c, func(tx *store.Tx) error {
		sent = nil
		var jobs []*store.Job
		err := eachJobNamed(tx, words[:len(words)-1], func(j *store.Job, several bool) error {
			if !several || j.State == store.JobRunning {
				jobs = append(jobs, j)
			}
			return nil
		})
		if err != nil {
			return err
		}
		return changeEach(r, tx, jobs, func(tx *store.Tx, id uint64) (*store.Job, error) {
			a, number, err := tx.Attempts().Signal(id, sig)
			if err != nil {
				return nil, err
			}
			sent = append(sent, SentTo{Job: id, Attempt: a.Number, Number: number})
			return tx.Jobs().Get(id)
		})
	})
	if err != nil || r.Tx != nil || c.Bool(verbs.DryRun) || patience == 0 {
		return err
	}
	r.Leave() // the attendant delivers to other hosts
	return AwaitDelivery(r, sent, deadline, c.String("timeout"))
}

// awaitClaims waits until jobs that have just started are executed, because only then they take a signal.
func awaitClaims(r *session.Run, words []string, deadline time.Time) error {
	for r.Env.Clock().Before(deadline) {
		seen, starting := r.FileStamp(), false
		err := r.View(func(tx *store.Tx) error {
			starting = false
			return eachJobNamed(tx, words, func(j *store.Job, _ bool) error {
				starting = starting || j.Starting()
				return nil
			})
		})
		if err != nil || !starting {
			return nil //nolint:nilerr // the change fails for the same reason, unless its key knows the answer
		}
		if err := r.WaitForChange(seen, deadline, time.Time{}); err != nil {
			return err
		}
	}
	return nil
}

// AwaitDelivery waits until signals are delivered.
func AwaitDelivery(r *session.Run, sent []SentTo, deadline time.Time, patience string) error {
	for {
		seen := r.FileStamp()
		var left []string
		err := r.View(func(tx *store.Tx) error {
			left = nil
			for _, s := range sent {
				a, err := tx.Attempts().Get(s.Job, s.Attempt)
				if err != nil {
					return err
				}
				if a.Sent < s.Number && a.State != store.AttemptEnded {
					left = append(left, fmt.Sprintf("job %d on %s", s.Job, a.Host))
				}
			}
			return nil
		})
		if err != nil || len(left) == 0 {
			return err
		}
		if !r.Env.Clock().Before(deadline) {
			return &store.Conflict{What: left[0], Why: "the signal was not delivered within " + patience + also(len(left)-1)}
		}
		if err := r.WaitForChange(seen, deadline, time.Time{}); err != nil {
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
