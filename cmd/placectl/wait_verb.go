package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func waitVerb() *verb {
	return &verb{
		Name:     "wait",
		Category: "Queue",
		Usage:    "wait until jobs have ended, or started",
		Args:     []arg{{Name: "JOB", Kind: kindJob, Many: true}},
		Description: "Nothing is locked meanwhile. The exit status is 0 when all have ended well (or started), 1 when one has\n" +
			"failed, was cancelled, or ended without having started, and 3 when the time was over first.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "for", Value: "ended", Usage: "wait until they have `WHAT`: started or ended"},
			&cli.StringFlag{Name: "timeout", Usage: "for no longer than `D`"},
		},
		Access:   reads,
		Alone:    true,
		Statuses: []int{exitNotNow},
		Example:  "placectl wait $job && ./use-the-results\nplacectl wait '40[]' --for started --timeout 1h",
		Run:      (*runner).waitVerb,
	}
}

func (r *runner) waitVerb(c *cli.Context) error {
	started := c.String("for") == "started"
	if !started && c.String("for") != "ended" {
		return usagef("--for: %w", spell.NotOneOf(c.String("for"), []string{"started", "ended"}))
	}
	deadline := time.Time{}
	if c.IsSet("timeout") {
		d, err := r.duration(c, "timeout")
		if err != nil {
			return err
		}
		deadline = r.env.now().Add(d)
	}
	for {
		seen := r.fileStamp()
		jobs, next, err := r.waitedFor(c, started)
		if err != nil {
			return err
		}
		left := slices.DeleteFunc(slices.Clone(jobs), func(j *store.Job) bool { return reached(j, started) })
		if len(left) == 0 {
			return r.waitResult(jobs)
		}
		if !deadline.IsZero() && !r.env.now().Before(deadline) {
			return fmt.Errorf("%w: %d of %s, job %d the first, which is %s", errNotYet, len(left), spell.Plural(len(jobs), "job"), left[0].ID, left[0].State)
		}
		end := deadline
		if end.IsZero() {
			end = r.env.now().Add(time.Hour)
		}
		if err := r.waitForChange(seen, end, next); err != nil {
			return err
		}
	}
}

// errNotYet is a wait that was over before what was waited for.
var errNotYet = errors.New("the time is over, and not all have got there")

// reached reports whether a job has come as far as it is waited for.
func reached(j *store.Job, started bool) bool {
	return !j.State.Live() || started && j.State == store.JobRunning
}

// waitedFor finds the jobs as they are now, and when the clock will next start one.
func (r *runner) waitedFor(c *cli.Context, started bool) (jobs []*store.Job, next time.Time, err error) {
	err = r.view(func(tx *store.Tx) error {
		return eachJobNamed(tx, c, func(j *store.Job, _ bool) error {
			jobs = append(jobs, j)
			if at := time.Unix(j.Start, 0); started && j.State == store.JobReserved && (next.IsZero() || at.Before(next)) {
				next = at
			}
			return nil
		})
	})
	return jobs, next, err
}

// waitResult prints how the jobs came out, and fails when one came out badly.
func (r *runner) waitResult(jobs []*store.Job) error {
	p := r.jobs(nil, false, "job state start end reason")
	bad := 0
	for _, j := range jobs {
		p.print(j)
		if j.State == store.JobFailed || j.State == store.JobCancelled {
			bad++
		}
	}
	if err := p.Close(); err != nil {
		return err
	}
	if bad > 0 {
		return fmt.Errorf("%d of %s failed or were cancelled", bad, spell.Plural(len(jobs), "job"))
	}
	return nil
}
