package place

import (
	"math"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// Extend declares the verb extend.
func Extend() *session.Verb {
	return &session.Verb{
		Name:     "extend",
		Category: "Placing",
		Usage:    "change the walltime of a job",
		May:      engine.Anybody,
		Args:     []verbs.Arg{{Name: "JOB", Kind: verbs.KindJob}},
		Description: "The walltime counts from the job's start; +1h adds an hour. It is refused if another job or " +
			"reservation takes one of the nodes before the new end.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "walltime", Aliases: []string{"t"}, Required: true,
				Usage: "walltime `D` from the start, or +D more"},
		},
		Access:  verbs.Writes,
		Brief:   true,
		Example: "placectl extend 12 -t 4h\nplacectl extend 12 -t +30m",
		Run:     extend,
	}
}

func extend(r *session.Run, c *cli.Context) error {
	value, more := strings.CutPrefix(c.String("walltime"), "+")
	d, err := text.ParseDuration(value)
	if err != nil {
		return usage.Errorf("--walltime: %w", err)
	}
	return r.Update(c, func(tx *engine.Tx) error {
		walltime := d.Truncate(time.Second)
		id, err := r.Names(tx).One(c.Args().First())
		if err != nil {
			return err
		}
		if more {
			old, err := tx.Jobs().Get(id)
			if err != nil {
				return err
			}
			if walltime += old.Walltime; walltime < 0 {
				walltime = math.MaxInt64 // too long, so it is refused
			}
		}
		job, err := tx.Jobs().Extend(id, walltime)
		if err != nil {
			return err
		}
		p := r.Jobs(tx, true, "job state start end walltime nodes")
		p.Print(job)
		return p.Close()
	})
}
