package run

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/attend"
	"github.com/placectl/placectl/internal/dispatch"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/hook"
	"github.com/placectl/placectl/internal/keeper"
	"github.com/placectl/placectl/internal/launch"
	"github.com/placectl/placectl/internal/work"
	"github.com/urfave/cli/v2"
	"golang.org/x/sys/unix"
)

// Attend declares the verb attend.
func Attend() *session.Verb {
	return &session.Verb{
		Name:     "attend",
		Category: "Queue",
		Hidden:   true,
		Usage:    "run the queue until it is empty",
		May:      engine.Anybody,
		Description: "If start is auto, commands that change the queue start it, at most one for each user on a " +
			"host. It runs\n" +
			"cycles, starts its user's jobs here and over ssh, and ends after 10 s with nothing left to do. If " +
			"one already\n" +
			"runs, it does nothing.",
		Access:   verbs.Writes,
		Thinks:   true,
		Unkeyed:  true,
		Alone:    true,
		Stays:    "it is the queue runner",
		Statuses: map[int]string{exit.Conflict: ""},
		Example:  "placectl attend",
		Run:      lookAfter,
	}
}

// attendant runs a queue.
type attendant struct {
	*session.Run
	*keeper.Runner
	c       *cli.Context
	place   attend.Place
	passes  *keeper.Passes
	wakes   keeper.Wakes
	hook    *hook.Beside
	here    keeper.Site
	remote  remotePasses
	present attend.Presence
	over    error // why it cannot go on
	done    bool  // no longer wanted
	lock    *attend.Lock
	began   time.Time
	last    time.Time // when there was last something to do
}

// hold notes that this process holds the lock from now on.
func (a *attendant) hold(lock *attend.Lock) (err error) {
	a.lock = lock
	self, err := keeper.Self("")
	if err == nil {
		err = lock.Hold(self.PID, self.Born, a.Env.Clock())
	}
	if err == nil {
		a.wakes.Rung, err = lock.Listen()
	}
	return err
}

// giveUp ends the attendant. If it failed soon after its start, the next one would fail, too, and
// must pause first. A missing database is no failure, and neither is a copy.
func (a *attendant) giveUp(why error) {
	if a.gone() || errors.Is(why, engine.ErrCopy) {
		a.done = true
		return
	}
	if a.over = why; time.Since(a.began) < time.Second {
		a.lock.Fail(why, a.Env.Clock()) //nolint:errcheck // then the next one starts sooner
	}
}

// gone reports whether the database's file is missing.
func (a *attendant) gone() bool {
	_, err := os.Lstat(a.place.Database)
	return errors.Is(err, fs.ErrNotExist) && !engine.IsLog(a.place.Database)
}

// QuietTime is how long an attendant stays after there is nothing left to do.
const QuietTime = 10 * time.Second

func lookAfter(r *session.Run, c *cli.Context) error {
	if c.Bool(verbs.DryRun) {
		return r.View(wanted)
	}
	place, err := attendHere(r)
	if err != nil {
		return err
	}
	lock := place.Inherited(3)
	if lock == nil {
		lock = place.Second().Inherited(3)
	}
	if lock != nil {
		settleDown(r, place)
	} else if lock, err = place.Try(); lock == nil {
		return err
	}
	return attendWith(r, c, place, lock)
}

// attendHere returns the place of the attendant's lock.
func attendHere(r *session.Run) (place attend.Place, err error) {
	err = r.View(func(tx *engine.Tx) error {
		settings, err := tx.Config().Settings()
		if err == nil {
			place = r.AttendPlace(settings.StateDir)
		}
		return err
	})
	return place, err
}

// settleDown removes what this process has inherited from the one that started it.
func settleDown(r *session.Run, place attend.Place) {
	unix.Umask(0o022)
	launch.UseAllCores()
	for _, what := range []int{unix.RLIMIT_NOFILE, unix.RLIMIT_NPROC, unix.RLIMIT_CORE, unix.RLIMIT_STACK,
		unix.RLIMIT_DATA, unix.RLIMIT_FSIZE, unix.RLIMIT_MEMLOCK, unix.RLIMIT_CPU, unix.RLIMIT_AS} {
		var limit unix.Rlimit
		if unix.Getrlimit(what, &limit) == nil && limit.Cur < limit.Max {
			limit.Cur = limit.Max
			unix.Setrlimit(what, &limit) //nolint:errcheck // it is allowed
		}
	}
	if log, err := place.Log(); err == nil {
		launch.Dup(int(log.Fd()), 1) //nolint:errcheck // then its output is lost
		launch.Dup(int(log.Fd()), 2) //nolint:errcheck // as before
		log.Close()
	}
	r.Quiet = false
}

func attendWith(r *session.Run, c *cli.Context, place attend.Place, lock *attend.Lock) error {
	a := &attendant{Run: r, c: c, place: place, wakes: wakes(r), began: time.Now()}
	if err := a.begin(); err != nil {
		a.lock = lock
		a.giveUp(err)
		return errors.Join(a.over, lock.Close())
	}
	ctx, stop := signal.NotifyContext(r.Ctx, unix.SIGTERM, unix.SIGHUP)
	defer stop()
	r.Ctx = ctx
	go a.Runner.KeepBeat(ctx)
	a.last = time.Now()
	err := attend.Attend(lock, attend.Steps[string]{Begin: a.hold, State: a.passes.Stamp, Act: a.act, Wait: a.wait})
	return errors.Join(err, a.over)
}

// sshEvery is how often to check whether a database on another host has changed.
const sshEvery = 200 * time.Millisecond

// wakes uses the kernel's notifications if the kernel sees all changes, and etcd's for a log. Otherwise it polls the
// state of the database.
func wakes(r *session.Run) keeper.Wakes {
	switch {
	case engine.IsLog(r.DB):
		return keeper.Wakes{Changed: r.LogMoves()}
	case r.OverSSH():
	default:
		return work.Wakes(r.Ctx, r.DatabasePath())
	}
	return keeper.Wakes{Every: sshEvery}
}

// begin reads what the attendant needs to know about the database.
func (a *attendant) begin() error {
	runner, _, err := a.AttemptsRunner("")
	if err != nil {
		return err
	}
	a.Runner, a.here = runner, runner.Site
	a.hook = &hook.Beside{Hook: *siteHook(a.Run)}
	a.passes = runner.NewPasses()
	a.passes.Idle = forecasts(a.Run)
	a.passes.Cycle = func() (keeper.Cycled, error) {
		is, err := workCycle(a.Run, a.c, wanted)
		if a.done = errors.Is(err, errDismissed); a.done {
			err = nil
		}
		return is, err
	}
	a.passes.After = func(v *keeper.View) {
		if v.Hooked {
			a.hook.Start(a.Ctx)
		}
	}
	return nil
}

// act makes a cycle and passes. It ends the attendant if the database is gone, or if another
// program has converted it to a newer format.
func (a *attendant) act() {
	if a.done = a.gone(); a.done {
		return
	}
	var id engine.Identity
	err := a.View(func(tx *engine.Tx) (err error) {
		if id, err = tx.Identity(); err != nil {
			return err
		}
		return engine.Executing(tx)
	})
	if errors.Is(err, engine.ErrCopy) {
		a.giveUp(err)
		return
	}
	if errors.Is(err, engine.ErrNewer) {
		a.giveUp(errors.Join(err, a.replaced()))
		return
	}
	if err == nil && (id.ID != a.here.ID || dispatch.EpochOf(id) != a.here.Epoch) {
		if err := a.begin(); err != nil {
			a.giveUp(err)
			return
		}
	}
	a.present.Keep(a.here.ID, a.here.Epoch)
	a.passes.Turn(a.Ctx)
	if agent := a.place.Agent(); agent != "" {
		os.Setenv("SSH_AUTH_SOCK", agent) //nolint:errcheck // ssh works without it, or says why not
	}
	a.remote.start(a.Ctx, a.Run, a.Runner)
}

// anewVariable is set for an attendant that has replaced one of another version.
const anewVariable = "PLACECTL_ANEW"

// replaced executes the program that was installed over this one, and passes the lock on to it.
// It returns if there is no such program, or if this process has itself replaced another.
func (a *attendant) replaced() error {
	if a.Getenv(anewVariable) != "" {
		return nil
	}
	words := slices.Concat([]string{"placectl"}, a.Env.Args)
	env := slices.DeleteFunc(a.Environ(), func(v string) bool { return strings.HasPrefix(v, "SSH_AUTH_SOCK=") })
	return launch.Replace("placectl", words, append(env, anewVariable+"=1"), a.lock.File)
}

// errDismissed says that others run the queue now.
var errDismissed = &engine.Conflict{What: "the queue",
	Why: "it is run by others: start is manual, or jobs are launched by exec"}

// wanted returns errDismissed if others run the queue now.
func wanted(tx *engine.Tx) error {
	settings, err := tx.Config().Settings()
	if err == nil && (settings.Start == engine.StartManual || settings.Launch == engine.LaunchExec) {
		return errDismissed
	}
	return err
}

// wait waits until there may be something to do. It returns false when it is time to leave.
func (a *attendant) wait() bool {
	if a.over != nil || a.done || a.Ctx.Err() != nil {
		return false
	}
	if a.passes.Wait(a.Ctx, a.wakes) {
		a.last = time.Now()
		return true
	}
	if a.Ctx.Err() != nil {
		return false
	}
	if time.Since(a.last) < QuietTime {
		return true
	}
	busy, err := a.busy()
	if err != nil {
		a.giveUp(err)
		return false
	}
	if busy {
		a.last = time.Now().Add(-QuietTime / 2)
	}
	return busy
}

// busy reports whether a job of this user waits or runs.
func (a *attendant) busy() (busy bool, err error) {
	err = a.View(func(tx *engine.Tx) (err error) {
		busy, err = a.Dispatched(a.here.Host, os.Getuid()).Busy(tx)
		return err
	})
	return busy, err
}

// remotePasses makes passes on other hosts while passes here go on.
type remotePasses struct{ done chan struct{} }

// start starts passes on the other hosts that have something to do, unless such passes are still
// running.
func (p *remotePasses) start(ctx context.Context, r *session.Run, here *keeper.Runner) {
	select {
	case <-p.done:
		p.done = nil
	default:
	}
	if p.done != nil {
		return
	}
	hosts, database, err := passHosts(r, here.Host)
	if err != nil || len(hosts) == 0 {
		return
	}
	done := make(chan struct{})
	p.done = done
	go func() {
		defer close(done)
		if err := passesOn(r, ctx, here, hosts, database); err != nil {
			r.Notef("%v", err)
		}
	}()
}
