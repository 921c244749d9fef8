package queue

import (
	"fmt"
	"slices"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// Wait declares the verb wait.
func Wait() *session.Verb {
	return &session.Verb{
		Name:     "wait",
		Category: "Queue",
		Usage:    "wait until jobs have ended, or started",
		May:      engine.Anybody,
		Args:     []verbs.Arg{{Name: "JOB", Kind: verbs.KindJob, Optional: true, Many: true}},
		Description: "Without JOB it waits for all your jobs that have not ended when it begins. Jobs that failed " +
			"within the last hour count, too, unless this terminal or script has been told of it by wait, run or " +
			"logs -f, or you cancelled or retried them. A name means all of your jobs that had not ended when the " +
			"last of that name was submitted. Inside a job it waits for the jobs that this job has submitted, but " +
			"not for those that wait for this one.\n\nIt holds no lock while waiting. The exit status is 0 if all " +
			"succeeded, and with --for started if all have started. It is 1 if one failed, was cancelled, or ended " +
			"without starting, and 3 if it timed out. -q prints nothing if all succeeded, else a line for each job " +
			"that did not. Otherwise an array is one line.",
		Flags: []cli.Flag{
			verbs.Choice(&cli.StringFlag{Name: "for", Value: "ended", Usage: "state to wait for, `WHAT`"}, "started",
				"ended"),
			&cli.StringFlag{Name: "timeout", Aliases: []string{"wait"}, Usage: "timeout `D`"},
		},
		Access: verbs.Reads, Waits: true,
		Revives: true,
		Alone:   true,
		Statuses: map[int]string{exit.OK: "all succeeded, or started", exit.Failed: "one failed",
			exit.NotNow: "timed out"},
		Example: "placectl wait $job && ./use-the-results\nplacectl wait 40 --for started --timeout 1h",
		Run:     waitVerb,
	}
}

func waitVerb(r *session.Run, c *cli.Context) error {
	state, err := verbs.Chosen(c, "for")
	if err != nil {
		return err
	}
	started := state == "started"
	deadline := time.Time{}
	if c.IsSet("timeout") {
		d, err := r.Duration(c, "timeout")
		if err != nil {
			return err
		}
		deadline = r.Env.Clock().Add(d)
	}
	words := c.Args().Slice()
	if err := r.View(func(tx *engine.Tx) (err error) {
		if len(words) > 0 {
			words, err = awaitedNumbers(r, tx, words)
			return err
		}
		words, err = untold(r, tx)
		return err
	}); err != nil {
		return err
	}
	a, err := await(r, words, started, deadline)
	if err != nil {
		return err
	}
	if a.late != nil && !r.Audience().Document {
		return a.late
	}
	if a.bad, err = judged(r, a.jobs, c.NArg() == 0); err != nil {
		return err
	}
	if a.begun = started; started { // how it went on does not matter, whether it had ended when this looked or not
		for _, j := range a.jobs {
			if !j.Start.IsZero() {
				delete(a.bad, j.ID)
			}
		}
	}
	return a.print(r)
}

// awaited are jobs that were waited for.
type awaited struct {
	jobs  []*engine.Job
	late  error // says which had not got there at the deadline, nil if all had
	bad   badly
	begun bool // it was their start that was waited for
}

// await waits until jobs have started or ended, or the deadline. A zero deadline is none.
func await(r *session.Run, words []string, started bool, deadline time.Time) (*awaited, error) {
	var stuck obstacle
	for {
		seen, read := r.FileStamp(), r.Env.Clock()
		jobs, next, err := waitedFor(r, words, started, &stuck)
		if err != nil {
			return nil, err
		}
		left := slices.DeleteFunc(slices.Clone(jobs), func(j *engine.Job) bool { return reached(j, started) })
		if len(left) == 0 {
			return &awaited{jobs: jobs}, nil
		}
		if !deadline.IsZero() && !r.Env.Clock().Before(deadline) {
			not := "ended"
			if started {
				not = "started"
			}
			return &awaited{jobs: jobs, late: fmt.Errorf("%w: %d of %s not %s, first job %d, which is %s",
				exit.ErrNotYet, len(left), text.Plural(len(jobs), "job"), not, left[0].ID, left[0].State)}, nil
		}
		stuck.say(r)
		end := read.Add(time.Minute)
		if !deadline.IsZero() && deadline.Before(end) {
			end = deadline
		}
		if err := r.WaitForChange(seen, end, next); err != nil {
			return nil, err
		}
		// While the last of them goes on, the others are read again only every other second.
		for again := read.Add(2 * time.Second); !started && r.Env.Clock().Before(again) &&
			goesOn(r, left[len(left)-1].ID); {
			if again.After(end) {
				again = end
			}
			if err := r.WaitForChange(r.FileStamp(), again, next); err != nil {
				return nil, err
			}
		}
	}
}

// goesOn reports whether a job exists and has not ended.
func goesOn(r *session.Run, id uint64) (is bool) {
	err := r.View(func(tx *engine.Tx) error {
		j, err := tx.Jobs().Get(id)
		is = err == nil && j.State.Live()
		return err
	})
	return is && err == nil
}

// reached reports whether a job has reached the awaited state.
func reached(j *engine.Job, started bool) bool {
	return !j.State.Live() || started && j.State == engine.JobRunning
}

// waitedFor returns the jobs as they are now, and when the clock will next start one. It finds out what keeps them from
// starting.
func waitedFor(r *session.Run, words []string, started bool, stuck *obstacle) (jobs []*engine.Job, next time.Time,
	err error) {
	err = r.View(func(tx *engine.Tx) error {
		jobs, next = nil, time.Time{}
		err := r.SeveralNames(tx).Each(words, func(j *engine.Job, _ bool) error {
			jobs = append(jobs, j)
			if started && j.State == engine.JobReserved && (next.IsZero() || j.Start.Before(next)) {
				next = j.Start
			}
			return nil
		})
		if err != nil {
			return err
		}
		return stuck.find(r, tx, jobs)
	})
	return jobs, next, err
}

// err says what is wrong with the jobs, nil if all got there in time and none ended badly.
func (a *awaited) err() error {
	if a.late != nil {
		return a.late
	}
	return a.bad.err(a.jobs)
}

// tell keeps that this session knows how the jobs have ended, if that is what the exit status says.
func (a *awaited) tell(r *session.Run) {
	if a.late != nil {
		return
	}
	r.Told(slices.DeleteFunc(slices.Clone(a.jobs), func(j *engine.Job) bool {
		return j.State.Live() || a.begun && !a.bad[j.ID]
	})...)
}

// print prints how the jobs are, and fails with err.
func (a *awaited) print(r *session.Run) error {
	a.tell(r)
	return r.Failing("jobs", a.err(), func() error { return printWaited(r, a.jobs, a.bad) })
}
