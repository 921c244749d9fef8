package queue

import (
	"github.com/placectl/placectl/cmd/placectl/internal/daily"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/urfave/cli/v2"
)

// historyLength is the number of jobs in a history, unless --last or --since says otherwise.
const historyLength = 20

// History declares the verb history.
func History() *session.Verb {
	return &session.Verb{
		Name:     "history",
		Category: "Queue",
		Usage:    "list ended jobs and what they used",
		May:      engine.Anybody,
		Description: "Lists the last 20 jobs to end, or all since a time, latest first. TOOK is the run time, OF the " +
			"walltime. CPU and MEM are what the processes used, if passes of work executed them. EXIT is the status. " +
			"REASON is why a job failed otherwise, or was cancelled. The setting keep_ended says how long jobs are " +
			"kept; placectl archive moves them into a file.",
		Flags: append(jobFilterFlags(),
			&cli.IntFlag{Name: "last", Usage: "the last `N` jobs to end, at most"},
		),
		Access: verbs.Reads,
		Example: "placectl history\nplacectl history --user ann --since now-7d\nplacectl history --state failed " +
			"--last 5 -o json",
		Run: history,
	}
}

func history(r *session.Run, c *cli.Context) error {
	f, err := jobFilter(r, c)
	if err != nil {
		return err
	}
	if !c.IsSet("state") {
		f.States = daily.Ended()
	}
	for _, s := range f.States {
		if s.Live() {
			return usage.Errorf("--state: jobs that are %s have not ended; see placectl job list", s)
		}
	}
	last := c.Int("last")
	switch {
	case c.IsSet("last") && last < 1:
		return usage.Errorf("--last must be 1 or more")
	case last == 0 && f.Since.IsZero():
		last = historyLength
	}
	return r.View(func(tx *engine.Tx) error {
		return daily.PrintHistory(r.Printer, tx, r.Loc, &f, last, r.Audience().Table)
	})
}
