package run

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/attend"
	"github.com/placectl/placectl/cmd/placectl/internal/dispatch"
	"github.com/placectl/placectl/cmd/placectl/internal/hook"
	"github.com/placectl/placectl/cmd/placectl/internal/remote"
	attempts "github.com/placectl/placectl/cmd/placectl/internal/runner"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// Work declares the verb work.
func Work() *session.Verb {
	return &session.Verb{
		Name:     "work",
		Category: "Queue",
		Usage:    "execute the commands of jobs on this host",
		May:      store.Anybody,
		Description: "Executes the jobs of your user whose first node is this host, until interrupted; running jobs " +
			"then go on.\n" +
			"--once makes one pass, for example from cron. Any number of passes may run at once. The first one " +
			"sets launch\n" +
			"to work.\n\n" +
			"If there is no keeper, a pass starts one: one process for all jobs of its user and database here. " +
			"The keeper\n" +
			"executes attempts, stops cancelled ones, settles what killed keepers left behind, and delivers " +
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
		Run: work,
	}
}

// workEvery is how often to check whether the database has changed if the kernel does not tell.
const workEvery = 200 * time.Millisecond

// networkEvery is workEvery on a network file system. This host's commands ring a bell, and those
// of others may wait that long.
const networkEvery = 10 * time.Second

func work(r *session.Run, c *cli.Context) error {
	if c.Bool("cycle") && r.OverSSH() {
		return usage.Errorf("--cycle is for the database's host: use cycle --launch there, or work --cycle")
	}
	runner, way, err := r.AttemptsRunner(c.String("host"))
	if err != nil {
		return err
	}
	if way != store.LaunchWork || c.Bool(verbs.DryRun) {
		if err := launchByWork(r, c, runner); err != nil || c.Bool(verbs.DryRun) {
			return err
		}
	}
	passes := runner.NewPasses()
	passes.Idle = forecasts(r)
	if c.Bool("cycle") {
		passes.Cycle = func() (attempts.Cycled, error) { return workCycle(r, c, func(*store.Tx) error { return nil }) }
	}
	if !c.Bool("once") {
		return keepWorking(r, c, passes)
	}
	passes.After = func(v *attempts.View) {
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
func keepWorking(r *session.Run, c *cli.Context, passes *attempts.Passes) error {
	wakes := wakes(r)
	if c.Bool("cycle") {
		place, err := attendHere(r)
		if err != nil {
			return err
		}
		s := &seat{run: r, place: place, rung: make(chan struct{}, 1)}
		leave, err := s.take(r.Ctx)
		if err != nil {
			return err
		}
		defer leave()
		wakes.Rung = s.rung
	}
	beside := &hook.Beside{Hook: *siteHook(r)}
	defer beside.End()
	var here attend.Presence
	defer here.Close()
	here.Keep(passes.ID, passes.Epoch)
	passes.After = func(v *attempts.View) {
		here.Keep(passes.ID, passes.Epoch)
		if v.Hooked {
			beside.Start(r.Ctx)
		}
	}
	switch err := passes.Work(r.Ctx, wakes); {
	case errors.Is(err, context.Canceled):
		return nil
	case errors.Is(err, store.ErrCopy):
		return r.View(store.Executing)
	default:
		return err
	}
}

// launchByWork makes passes launch the database's jobs.
func launchByWork(r *session.Run, c *cli.Context, runner *attempts.Runner) error {
	if lies, is := runner.DB.(*remote.Database); is {
		_, err := lies.Ask(r.Ctx, remote.AskLaunch, remote.Question{})
		return err
	}
	return r.Update(c, func(tx *store.Tx) error { return tx.Attempts().LaunchBy(store.LaunchWork) })
}

// forecasts keeps expected starts up to date beside the passes, when those have nothing to do.
// A forecast that is running does not delay a pass.
func forecasts(r *session.Run) (idle func()) {
	var busy atomic.Bool
	var next time.Time
	began := time.Now()
	return func() {
		if r.OverSSH() || time.Now().Before(next) || !busy.CompareAndSwap(false, true) {
			return
		}
		next = time.Now().Add(forecastEvery)
		few := time.Since(began) > forecastEvery
		db, err := r.Open()
		if err != nil {
			busy.Store(false)
			return // the next pass reports it
		}
		go func() {
			defer busy.Store(false)
			defer r.Done(db)
			if err := db.Forecast(store.ForecastSpec{Rarely: true, Few: few,
				Done: func() bool { return r.Ctx.Err() != nil }}); err != nil {
				r.Debugf("no starts are expected: %v", err)
			}
		}()
	}
}

// forecastEvery is how often to check whether expected starts are out of date.
const forecastEvery = 30 * time.Second

// runsEvery is how often to check whether runs on this host were killed.
const runsEvery = 5 * time.Second

// workCycle makes a cycle, unless check fails in its transaction. It prints no answer: passes find
// what the cycle has started.
func workCycle(r *session.Run, c *cli.Context, check func(*store.Tx) error) (cycled attempts.Cycled, err error) {
	err = r.Update(c, func(tx *store.Tx) (err error) {
		cycled.Startable, err = dispatch.Startable(tx)
		runs, failed := r.EndAttended(tx)
		if err := errors.Join(err, check(tx), failed); err != nil {
			return err
		}
		report, err := tx.Cycle().Run(store.CycleSpec{By: store.BySupervisor})
		if err == nil {
			cycled.Due = report.Next
		}
		if again := tx.Now().Add(runsEvery); runs && (cycled.Due.IsZero() || again.Before(cycled.Due)) {
			cycled.Due = again
		}
		return err
	})
	return cycled, err
}
