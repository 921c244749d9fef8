package main

import (
	"context"
	"errors"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/attend"
	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/hook"
	"github.com/placectl/placectl/cmd/placectl/internal/launch"
	"github.com/placectl/placectl/cmd/placectl/internal/remote"
	attempts "github.com/placectl/placectl/cmd/placectl/internal/runner"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func workVerb() *verb {
	return &verb{
		Name:     "work",
		Category: "Queue",
		Usage:    "execute the commands of jobs on this host, each attempt once",
		May:      store.Anybody,
		Description: "A pass starts a supervisor for each attempt whose first node is this host and that nobody executes, settles\n" +
			"what supervisors have left behind that were killed, delivers what could not be reported, and stops what was\n" +
			"cancelled. Without --once passes are made whenever the database has changed, until it is interrupted; what is\n" +
			"executed goes on then. No process has to stay up: passes can come from cron, and any number\n" +
			"may be made at once. A pass executes the jobs of its own user. With the first one the setting launch is work.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "once", Usage: "make one pass and return"},
			&cli.BoolFlag{Name: "cycle", Usage: "make a cycle before each pass"},
			&cli.StringFlag{Name: "host", Usage: "this host's name is `H` (what the system says)"},
		},
		Access:  verbs.Writes,
		Thinks:  true,
		Unkeyed: true,
		Alone:   true,
		Stays:   "it makes passes itself",
		Example: "placectl work --once --cycle\n* * * * * placectl --db /srv/cluster.db work --once -q     # in a crontab",
		Run:     (*runner).work,
	}
}

// workEvery is how often it is looked whether the database has changed, where the kernel
// does not tell.
const workEvery = 200 * time.Millisecond

// networkEvery is the same of a network file system: this host's commands ring a bell, and those of
// others may wait for so long.
const networkEvery = 10 * time.Second

func (r *runner) work(c *cli.Context) error {
	if c.Bool("cycle") && r.overSSH() {
		return usagef("--cycle is for where the database lies: cycle --launch there, or work --cycle")
	}
	runner, way, err := r.attemptsRunner(c.String("host"))
	if err != nil {
		return err
	}
	if way != store.LaunchWork || c.Bool(verbs.DryRun) {
		if err := r.launchByWork(c, runner); err != nil || c.Bool(verbs.DryRun) {
			return err
		}
	}
	passes := runner.NewPasses()
	if c.Bool("cycle") {
		passes.Startable = r.startable
		passes.Cycle = func() (attempts.Cycled, error) { return r.workCycle(c, func(*store.Tx) error { return nil }) }
	}
	if !c.Bool("once") {
		return r.keepWorking(c, passes)
	}
	passes.After = func(v *attempts.View) {
		if v.Hooked {
			r.runHook()
		}
	}
	if passes.Cycle != nil {
		if _, err := passes.Cycle(); err != nil {
			return err
		}
	}
	return passes.Once(r.ctx)
}

// keepWorking makes passes until it is interrupted. One that makes cycles takes the place of
// the attendant: commands ring for it.
func (r *runner) keepWorking(c *cli.Context, passes *attempts.Passes) error {
	wakes := r.wakes()
	if c.Bool("cycle") {
		place, err := r.attendHere()
		if err != nil {
			return err
		}
		lock, err := r.takeOver(place)
		if err != nil {
			return err
		}
		defer lock.Close()
		if wakes.Rung, err = r.hold(lock); err != nil {
			return err
		}
	}
	beside := &hook.Beside{Hook: *r.hook()}
	defer beside.End()
	var here attend.Presence
	defer here.Close()
	here.Keep(passes.ID, passes.Epoch)
	passes.After = func(v *attempts.View) {
		here.Keep(passes.ID, passes.Epoch)
		if v.Hooked {
			beside.Start(r.ctx)
		}
	}
	if err := passes.Work(r.ctx, wakes); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// launchByWork says that the database's jobs are launched by passes.
func (r *runner) launchByWork(c *cli.Context, runner *attempts.Runner) error {
	if lies, is := runner.DB.(*remote.Database); is {
		_, err := lies.Ask(r.ctx, remote.AskLaunch, remote.Question{})
		return err
	}
	return r.update(c, func(tx *store.Tx) error { return tx.LaunchBy(store.LaunchWork) })
}

// startable is what a cycle would see now of the changes that may let something start or stop.
func (r *runner) startable() (is attempts.Startable, err error) {
	err = r.view(func(tx *store.Tx) error {
		is, err = startableOf(tx)
		return err
	})
	return is, err
}

func startableOf(tx *store.Tx) (attempts.Startable, error) {
	is, err := tx.Identity()
	return attempts.Startable{Epoch: is.Epoch, Commits: tx.Startable()}, err
}

// workCycle makes a cycle, unless a check in its transaction fails. Its answer is not printed:
// passes find what it has started.
func (r *runner) workCycle(c *cli.Context, check func(*store.Tx) error) (cycled attempts.Cycled, err error) {
	err = r.update(c, func(tx *store.Tx) (err error) {
		cycled.Startable, err = startableOf(tx)
		if err := errors.Join(err, check(tx), r.endAttended(tx)); err != nil {
			return err
		}
		report, err := tx.Cycle(store.CycleSpec{By: store.BySupervisor})
		if err == nil {
			cycled.Due = report.Next
		}
		return err
	})
	return cycled, err
}

func superviseVerb() *verb {
	return &verb{
		Name:     "supervise",
		Category: "Queue",
		Hidden:   true,
		Usage:    "execute an attempt of a job here, and report how it ended",
		May:      store.Anybody,
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
	runner.Summon = func() error { return r.summon(launch.ForkBeside) }
	if c.IsSet("adopt") {
		err = runner.Adopt(r.ctx, c.String("adopt"), k)
	} else {
		err = runner.Supervise(r.ctx, k)
	}
	if left := r.summon(launch.Fork); left != nil {
		r.debugf("the queue is not looked after: %v", left)
	}
	return err
}

// summon has an attendant started if there is something to do, and rings for the one that is
// there.
func (r *runner) summon(fork launch.Forks) error {
	err := r.view(func(tx *store.Tx) error { return r.noteLeaving(tx, true) })
	l := r.leaving
	r.leaving = nil
	if err != nil || l == nil {
		return err
	}
	return l.Leave(true, r.env.now(), attempts.Look, func(lock *attend.Lock) error { return r.startAttendant(l, lock, fork) })
}

// claimable fails where an attempt is not one that waits for somebody to execute it.
func claimable(tx *store.Tx, k attempts.Key) error {
	a, err := tx.Attempt(k.Job, k.Number)
	if err == nil && a.State != store.AttemptStarted {
		err = &store.Conflict{What: "attempt " + k.String(), Why: "it is " + a.State.String()}
	}
	return err
}
