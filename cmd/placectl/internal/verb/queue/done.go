package queue

import (
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/urfave/cli/v2"
)

// Done declares the verb done.
func Done() *session.Verb {
	return &session.Verb{
		Name:        "done",
		Category:    "Queue",
		Usage:       "report that a running job has exited",
		May:         engine.Anybody,
		Args:        []verbs.Arg{{Name: "JOB", Kind: verbs.KindJob, Many: true}},
		Description: "With status 0 the job has finished, else it has failed. Its nodes are freed.",
		Flags: []cli.Flag{&cli.IntFlag{Name: "status", Usage: "exit status `N` (0)"},
			&cli.IntFlag{Name: "attempt",
				Usage: "report the end of attempt `N` ($PLACECTL_ATTEMPT, else the current one)"},
			&cli.BoolFlag{Name: "force", Usage: "report it even if a keeper executes the job"},
			&cli.StringFlag{Name: "reason", Usage: "reason to record, `WHY`"}},
		Access:  verbs.Writes,
		Example: "./simulate; placectl done $PLACECTL_JOB --status $?",
		Run: func(r *session.Run, c *cli.Context) error {
			f := engine.Finished{Attempt: c.Int("attempt"), Status: c.Int("status"), Reason: c.String("reason"),
				Force: c.Bool("force")}
			if c.IsSet("attempt") && f.Attempt < 1 {
				return usage.Errorf("--attempt %d: attempts are numbered from 1", f.Attempt)
			}
			return r.Update(c, func(tx *engine.Tx) error {
				names := r.Names(tx)
				for _, word := range c.Args().Slice() {
					if err := names.NoArray(word); err != nil {
						return err
					}
				}
				jobs, _, err := liveNamed(names, c.Args().Slice(), anyJob)
				if err != nil {
					return err
				}
				return changeEach(r, tx, jobs, func(tx *engine.Tx, id uint64) (*engine.Job, error) {
					f := f
					if own, attempt := r.Within(); own == id && f.Attempt == 0 {
						f.Attempt = attempt
					}
					f.Job = id
					return tx.Attempts().Finish(f)
				})
			})
		},
	}
}
