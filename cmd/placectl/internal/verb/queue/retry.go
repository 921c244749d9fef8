package queue

import (
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/listing"
	"github.com/placectl/placectl/cmd/placectl/internal/request"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/urfave/cli/v2"
)

// Retry declares the verb retry.
func Retry() *session.Verb {
	return &session.Verb{
		Name:     "retry",
		Category: "Queue",
		Usage:    "submit ended jobs again",
		May:      engine.Anybody,
		Args:     []verbs.Arg{{Name: "JOB", Kind: verbs.KindJob, Many: true}},
		Description: "Each becomes a new job with the same request, command, script, directory and environment; " +
			"retry_of names the old one. Jobs of an array form an array again, with the same indices. The new jobs " +
			"keep no begin, no dependencies, no deadline that has passed and no throttle. Limits apply as at " +
			"submission. You sign what you retry: another user's job then waits for that user's placectl unhold.",
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "failed", Usage: "only failed jobs without a waiting, running or finished retry"},
			&cli.StringFlag{Name: "walltime", Aliases: []string{"t"}, Usage: "give them at most `D` (as before)"}},
			request.Size()...),
		Access:   verbs.Writes,
		Brief:    true,
		Statuses: map[int]string{exit.NotNow: "a limit on waiting jobs", exit.Never: "can never run"},
		Example:  "placectl retry 12\nplacectl retry 40 --failed -m 8gb",
		Run:      retry,
	}
}

func retry(r *session.Run, c *cli.Context) error {
	change, err := retriedWith(r, c)
	if err != nil {
		return err
	}
	return r.Update(c, func(tx *engine.Tx) error {
		due := func(*engine.Job) bool { return true }
		if c.Bool("failed") {
			var err error
			if due, err = failedStill(tx); err != nil {
				return err
			}
		}
		var ids []uint64
		err := r.Names(tx).Each(c.Args().Slice(), func(j *engine.Job, _ bool) error {
			if due(j) {
				ids = append(ids, j.ID)
			}
			return nil
		})
		if err != nil {
			return err
		}
		jobs, err := tx.Jobs().Retry(ids, r.Sign)
		if err != nil {
			return err
		}
		for i := range jobs {
			if change == nil {
				break
			}
			if jobs[i], err = tx.Jobs().Alter(jobs[i].ID, *change); err != nil {
				return err
			}
		}
		if len(jobs) == 0 {
			r.Notef("nothing to retry: no job has failed, or each has been retried")
		}
		each := func() error {
			p := r.MadeJobs(tx, false,
				"job state retry_of name array* index* select place walltime submit reason* reason_code*")
			for _, j := range jobs {
				p.Print(j)
			}
			return p.Close()
		}
		return r.Either(session.IsTable, func() error {
			return listing.PrintFolded(r.Printer, tx, jobs, "state name select place walltime submit", each)
		}, each)
	})
}

// failedStill returns whether a job has failed, and no retry of it waits, runs or has finished.
func failedStill(tx *engine.Tx) (func(*engine.Job) bool, error) {
	again := make(map[uint64]bool)
	err := tx.Jobs().Each(func(j *engine.Job) error {
		if j.RetryOf != 0 && (j.State.Live() || j.State == engine.JobFinished) {
			again[j.RetryOf] = true
		}
		return nil
	})
	return func(j *engine.Job) bool { return j.State == engine.JobFailed && !again[j.ID] }, err
}

// retriedWith returns how the new jobs differ from the old ones, nil if they do not.
func retriedWith(r *session.Run, c *cli.Context) (*engine.Alteration, error) {
	given := slices.DeleteFunc(slices.Clone(r.Inv.Flags), func(g verbs.Given) bool {
		return !slices.Contains([]string{"walltime", "cpus", "gpus", "mem"}, g.Name())
	})
	if len(given) == 0 {
		return nil, nil
	}
	var sub engine.Submission
	sizes, err := request.Sizes(c)
	if err != nil {
		return nil, err
	}
	sub.Select = strings.Join(sizes, ",")
	if c.IsSet("walltime") {
		if sub.Walltime, err = r.Duration(c, "walltime"); err != nil {
			return nil, err
		}
	}
	change, err := Alteration(r, c, &sub, given)
	return &change, err
}
