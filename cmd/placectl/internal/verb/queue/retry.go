package queue

import (
	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/listing"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// Retry declares the verb retry.
func Retry() *session.Verb {
	return &session.Verb{
		Name:     "retry",
		Category: "Queue",
		Usage:    "submit ended jobs again",
		May:      store.Anybody,
		Args:     []verbs.Arg{{Name: "JOB", Kind: verbs.KindJob, Many: true}},
		Description: "Each becomes a new job with the same request, command, script, directory and environment; " +
			"retry_of names the\n" +
			"old one. Jobs of an array form an array again, with the same indices. The new jobs keep no begin, no\n" +
			"dependencies and no deadline that has passed. Limits apply as at submission. You sign what you " +
			"retry: another\n" +
			"user's job then waits for that user's placectl unhold.",
		Flags:    []cli.Flag{&cli.BoolFlag{Name: "failed", Usage: "only the named jobs that failed; none is no error"}},
		Access:   verbs.Writes,
		Brief:    true,
		Statuses: []int{exit.NotNow, exit.Never},
		Example:  "placectl retry 12\nplacectl retry 40 --failed",
		Run:      retry,
	}
}

func retry(r *session.Run, c *cli.Context) error {
	return r.Update(c, func(tx *store.Tx) error {
		var ids []uint64
		err := r.Names(tx).Each(c.Args().Slice(), func(j *store.Job, _ bool) error {
			if !c.Bool("failed") || j.State == store.JobFailed {
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
		if len(jobs) == 0 {
			r.Notef("no job has failed")
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
