package main

import (
	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/remote"
	attempts "github.com/placectl/placectl/cmd/placectl/internal/runner"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func superviseVerb() *verb {
	return &verb{
		Name:     "supervise",
		Category: "Queue",
		Usage:    "execute an attempt of a job here, and report how it ended",
		Args:     []verbs.Arg{{Name: "JOB.ATTEMPT", Kind: verbs.KindCommand}},
		Description: "work and cycle --launch start it, one detached process for each attempt: it claims the attempt, executes the\n" +
			"command with what the job carries, ends it at its walltime or when somebody wants it to stop, and reports.\n" +
			"Any number may be started: one of them executes. Where another one is at it or was, nothing is done.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "host", Usage: "this host's name is `H` (what the system says)"},
			&cli.StringFlag{Name: "adopt", Usage: "go on with a command whose supervisor was killed, and that was begun under the `EPOCH` of the database"},
			&cli.BoolFlag{Name: remote.ThroughFlag, Hidden: true},
		},
		Access:   verbs.Writes,
		Unkeyed:  true,
		Alone:    true,
		Statuses: []int{exit.Conflict},
		Example:  "placectl supervise 12.1",
		Run:      (*runner).supervise,
	}
}

func (r *runner) supervise(c *cli.Context) error {
	k, err := attempts.ParseKey(c.Args().First())
	if err != nil {
		return usage.Errorf("%w", err)
	}
	if c.Bool(verbs.DryRun) {
		return r.view(func(tx *store.Tx) error { return claimable(tx, k) })
	}
	runner, _, err := r.attemptsRunner(c.String("host"))
	if err != nil {
		return err
	}
	if r.overSSH() && !c.Bool(remote.ThroughFlag) {
		args := []string{k.String()}
		if c.IsSet("adopt") {
			args = append(args, "--adopt", c.String("adopt"))
		}
		return runner.DB.(*remote.Database).Lend(r.ctx, runner.Words("supervise", append([]string{"--" + remote.ThroughFlag}, args...)...), r.environ())
	}
	if c.IsSet("adopt") {
		return runner.Adopt(r.ctx, c.String("adopt"), k)
	}
	return runner.Supervise(r.ctx, k)
}

// claimable fails where an attempt is not one that waits for somebody to execute it.
func claimable(tx *store.Tx, k attempts.Key) error {
	a, err := tx.Attempt(k.Job, k.Number)
	if err == nil && a.State != store.AttemptStarted {
		err = &store.Conflict{What: "attempt " + k.String(), Why: "it is " + a.State.String()}
	}
	return err
}
