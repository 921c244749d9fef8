package run

import (
	"context"
	"errors"

	"github.com/placectl/placectl/cmd/placectl/internal/remote"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/keeper"
	"github.com/placectl/placectl/internal/work"
	"github.com/urfave/cli/v2"
)

// Work declares the verb work.
func Work() *session.Verb {
	return &session.Verb{
		Name:     "work",
		Category: "Queue",
		Usage:    "execute the commands of jobs on this host",
		May:      engine.Anybody,
		Description: "Executes the jobs of your user whose first node is this host, until interrupted; running jobs " +
			"then go on.\n" +
			"--once makes one pass, for example from cron. Any number of passes may run at once. The first one " +
			"sets launch\n" +
			"to work.\n\n" +
			"If there is no keeper, a pass starts one: one process for all jobs of its user and database here. " +
			"The keeper\n" +
			"executes attempts, stops cancelled ones, cleans up after keepers that were killed, and delivers " +
			"reports that\n" +
			"failed. Without --once, work makes a pass whenever the database changes. Any number of work --cycle " +
			"may run at\n" +
			"once.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "once", Usage: "make one pass and return"},
			&cli.BoolFlag{Name: "cycle", Usage: "make a cycle before each pass"},
			&cli.StringFlag{Name: "host", Usage: "name `H` of this host (the system's)"},
		},
		Access:  verbs.Writes,
		Thinks:  true,
		Unkeyed: true,
		Alone:   true,
		Stays:   "it makes passes itself",
		Example: "placectl work --once --cycle\n* * * * * placectl --db /srv/cluster.db work --once -q     # " +
			"in a crontab",
		Run: makeWork,
	}
}

func makeWork(r *session.Run, c *cli.Context) error {
	if c.Bool("cycle") && r.OverSSH() {
		return usage.Errorf("--cycle is for the database's host: use cycle --launch there, or work --cycle")
	}
	runner, way, err := r.AttemptsRunner(c.String("host"))
	if err != nil {
		return err
	}
	if way != engine.LaunchWork || c.Bool(verbs.DryRun) {
		if err := launchByWork(r, c, runner); err != nil || c.Bool(verbs.DryRun) {
			return err
		}
	}
	passes := runner.NewPasses()
	passes.Idle = forecasts(r)
	if c.Bool("cycle") {
		passes.Cycle = func() (keeper.Cycled, error) { return workCycle(r, c, func(*engine.Tx) error { return nil }) }
	}
	if !c.Bool("once") {
		return keepWorking(r, c, passes)
	}
	passes.After = func(v *keeper.View) {
		if v.Hooked {
			runHook(r)
		}
	}
	if passes.Cycle != nil {
		if _, err := passes.Cycle(); err != nil {
			return err
		}
	}
	return passes.Once(r.Ctx)
}

// keepWorking makes passes until it is interrupted. If it also makes cycles it replaces the
// attendant, and commands ring for it, or for another one beside which it works.
func keepWorking(r *session.Run, c *cli.Context, passes *keeper.Passes) error {
	var seat *work.Seat
	if c.Bool("cycle") {
		place, err := attendHere(r)
		if err != nil {
			return err
		}
		seat = &work.Seat{Place: place, Clock: r.Env.Clock, Note: r.Notef, Detail: r.Debugf}
	}
	switch err := work.Serve(r.Ctx, passes, wakes(r), seat, siteHook(r)); {
	case errors.Is(err, context.Canceled):
		return nil
	case errors.Is(err, engine.ErrCopy):
		return r.View(engine.Executing)
	default:
		return err
	}
}

// launchByWork makes passes launch the database's jobs.
func launchByWork(r *session.Run, c *cli.Context, runner *keeper.Runner) error {
	if lies, is := runner.DB.(*remote.Database); is {
		_, err := lies.Ask(r.Ctx, remote.AskLaunch, remote.Question{})
		return err
	}
	return r.Update(c, func(tx *engine.Tx) error { return tx.Attempts().LaunchBy(engine.LaunchWork) })
}

// forecasts keeps expected starts up to date beside the passes.
func forecasts(r *session.Run) (idle func()) {
	return work.Forecasts(r.Ctx, func() (*engine.DB, error) {
		if r.OverSSH() {
			return nil, errors.ErrUnsupported
		}
		return r.Open()
	}, r.Debugf)
}

// workCycle makes a cycle, unless check fails in its transaction. It prints no answer.
func workCycle(r *session.Run, c *cli.Context, check func(*engine.Tx) error) (cycled keeper.Cycled, err error) {
	err = r.Update(c, func(tx *engine.Tx) (err error) {
		cycled, err = work.Cycle(tx, r.EndAttended, check)
		return err
	})
	return cycled, err
}
