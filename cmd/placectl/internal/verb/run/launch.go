package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/keyed"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/hook"
	"github.com/placectl/placectl/internal/keeper"
	"github.com/placectl/placectl/internal/launch"
	"github.com/placectl/placectl/internal/text"
	"github.com/urfave/cli/v2"
)

// After its commit, cycle --launch makes passes: on this host by itself, on others through placectl
// work over ssh. A missed pass loses nothing: the next pass finds the same work.

// passTime bounds a pass on another host, including the connection.
const passTime = time.Minute

// makePasses makes a pass on each host that has something to do. It goes on after failures and
// returns them all.
func makePasses(r *session.Run) error {
	here, _, err := r.AttemptsRunner("")
	if err != nil {
		return err
	}
	hosts, database, err := passHosts(r, here.Host)
	if err != nil {
		return err
	}
	err = here.NewPasses().Once(r.Ctx)
	if len(hosts) == 0 {
		return err
	}
	return errors.Join(err, passesOn(r, r.Ctx, here, hosts, database))
}

// passesOn makes passes on other hosts over ssh.
func passesOn(r *session.Run, ctx context.Context, here *keeper.Runner, hosts []string, database string) error {
	ssh, err := launch.FindSSH()
	if err != nil {
		return err
	}
	made := ssh.Each(ctx, hosts, passTime, func(host string) []string {
		words := []string{"placectl", "--db", database, "work", "--once", "-q", "--host", host}
		if !r.Now.IsZero() {
			words = append(words, "--now", r.Now.Format(time.RFC3339))
		}
		return words
	})
	failed := slices.Clone(made)
	refuse, note := here.GiveUp(hosts, made, r.Instant())
	for i, why := range refuse {
		if note[i] != "" {
			failed = append(failed, r.Dispatched(hosts[i], os.Getuid()).Unreached(note[i]))
		}
		if why != "" {
			view, err := r.Dispatched(hosts[i], os.Getuid()).Look(ctx)
			if err == nil {
				err = here.RefuseAll(ctx, view.Unclaimed, why)
			}
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// passHosts returns the other hosts that have something to do, in order, and the name by which they
// reach the database.
func passHosts(r *session.Run, here string) (hosts []string, database string, err error) {
	d := r.Dispatched(here, os.Getuid())
	busy := make(map[string]bool)
	err = r.View(func(tx *engine.Tx) error {
		settings, err := tx.Config().Settings()
		if err != nil {
			return err
		}
		database = settings.LaunchDB
		return d.BusyHosts(tx, busy)
	})
	for host := range maps.Keys(busy) {
		if engine.SameHost(host, here) {
			delete(busy, host)
		}
	}
	return slices.Sorted(maps.Keys(busy)), cmp.Or(database, r.LaunchDB(here)), err
}

// siteHook hands the events to the site's program.
func siteHook(r *session.Run) *hook.Hook {
	own := *r     // its notes must not mix with those of other work,
	own.Rec = nil // nor get into a kept answer, which is complete by now
	return &hook.Hook{Database: r.DatabasePath(), Update: own.UpdateOnce, Distrusts: own.DistrustsOpened,
		Note: own.Notef, Warn: own.Loudf}
}

// runHook runs the site's program. Its failures are noted, and affect nothing else.
func runHook(r *session.Run) {
	if err := siteHook(r).Run(r.Ctx); err != nil {
		r.Notef("the hook: %v", err)
	}
}

// Jobs are handed to the site's launcher after the commit, with the database closed. The hand-over
// claims the attempt, and happens once. So if a cycle is killed between its commit and a launch, a
// started job is never launched. That is better than launching it twice. You find such a job by
// its missing launch event, and put it back with placectl requeue.

// maxFailures is the number of failed launches in a row after which a job is held.
const maxFailures = 3

// launcher reads --exec, nil without it.
func launcher(r *session.Run, c *cli.Context) (*launch.Program, error) {
	l := &launch.Program{Timeout: time.Minute}
	if c.IsSet("exec-timeout") {
		var err error
		if l.Timeout, err = r.Duration(c, "exec-timeout"); err != nil {
			return nil, err
		}
		if l.Timeout <= 0 || !c.IsSet("exec") {
			return nil, usage.Errorf("--exec-timeout needs --exec, and must be longer than 0")
		}
	}
	if !c.IsSet("exec") {
		return nil, nil
	}
	words, err := text.SplitWords(c.String("exec"))
	if err == nil && len(words) == 0 {
		err = errors.New("it is empty")
	}
	if err != nil {
		return nil, usage.Errorf("--exec: %s is not a command: %w", text.Quoted(c.String("exec")), err)
	}
	path, err := launch.Find(words[0])
	if err != nil {
		return nil, usage.Errorf("--exec: %w", err)
	}
	l.Words = append([]string{path}, words[1:]...)
	return l, nil
}

// launchAll runs the launcher for each job and records the result. A kept answer gets the
// result, too. stopped are the jobs that it is told to stop. failed is an earlier failure of the cycle.
func launchAll(r *session.Run, launcher *launch.Program, told []launch.Notice, stopped []*engine.Job, key string,
	failed error) error {
	done := make([]launch.Done, len(told))
	if err := addRuns(r, told); err == nil {
		done = launcher.All(r.Ctx, r.DatabasePath(), told)
	} else {
		for i := range done {
			done[i].Err = err
		}
	}
	for i := range done {
		if done[i].Err == nil {
			r.Debugf("job %d: launched%s", told[i].Job, done[i].Said)
		}
	}
	return noteLaunches(r, told, done, stopped, key, failed)
}

// toldUnder returns those of the notices whose jobs are claimed under the cycle's nonce. It reads
// the file, because the outcome of the commit may be unknown.
func toldUnder(r *session.Run, nonce engine.Nonce, told []launch.Notice) ([]launch.Notice, error) {
	err := r.View(func(tx *engine.Tx) error {
		told = slices.DeleteFunc(slices.Clone(told), func(n launch.Notice) bool {
			a, err := tx.Attempts().Get(n.Job, 0)
			return err != nil || n.Event == launch.Start && a.Nonce != nonce
		})
		return nil
	})
	return told, err
}

// launchKept launches the jobs that a kept answer names: all of them after the commit that keeps
// it. If the commit's outcome was unknown, or the process ended before it recorded the launches,
// the same key leads here again. Then it launches those that still hold their nodes.
func launchKept(r *session.Run, c *cli.Context, launcher *launch.Program, stopped []*engine.Job) error {
	told := r.Kept.Notices()
	err := r.View(func(tx *engine.Tx) error {
		told = slices.DeleteFunc(told, func(n launch.Notice) bool {
			j, err := tx.Jobs().Get(n.Job)
			return n.Event == launch.Start && (err != nil || j.State != engine.JobRunning || j.Start.Unix() != n.Start)
		})
		return nil
	})
	if err != nil {
		return err
	}
	return launchAll(r, launcher, told, stopped, c.String(verbs.Key), nil)
}

// noteLaunches records successful launches, puts back the jobs whose launch failed, and has the next cycle
// repeat the stops that failed. It prints the successful ones.
func noteLaunches(r *session.Run, told []launch.Notice, done []launch.Done, toStop []*engine.Job, key string,
	earlier error) error {
	if len(told) == 0 {
		return earlier
	}
	db, err := r.Open()
	if err != nil {
		return err
	}
	var failed []error
	var answer *keyed.Recording
	err = r.Write(db, true, func(tx *engine.Tx) error {
		failed, answer = nil, new(keyed.Recording)
		var stopped, launched []*engine.Job
		for i, n := range told {
			what := "stop"
			if n.Event == launch.Start {
				what = "launch"
				if err := tx.Attempts().LaunchEnded(n.Job, done[i].Err, maxFailures); err != nil {
					return err
				}
			}
			if at := slices.IndexFunc(toStop,
				func(j *engine.Job) bool { return j.ID == n.Job }); n.Event == launch.Stop && at >= 0 &&
				done[i].Err != nil {
				if err := tx.Attempts().StopAgain(toStop[at]); err != nil {
					return err
				}
			}
			if done[i].Err != nil {
				failed = append(failed, fmt.Errorf("job %d: the %s failed: %w", n.Job, what, done[i].Err))
				continue
			}
			switch j, err := tx.Jobs().Get(n.Job); {
			case errors.Is(err, engine.ErrNotFound): // the launcher has archived it
			case err != nil:
				return err
			case n.Event == launch.Start:
				launched = append(launched, j)
			default:
				stopped = append(stopped, j)
			}
		}
		recorded := *r
		recorded.Rec = answer
		if err := printLaunched(&recorded, tx, stopped, launched); err != nil || key == "" {
			return err
		}
		kept, err := r.Kept.Launched(answer.Parts[0], errors.Join(failed...)).Encode()
		if err != nil {
			return err
		}
		return tx.Amend(key, kept)
	})
	failure := errors.Join(earlier, err, errors.Join(failed...))
	if err != nil {
		return failure
	}
	return r.Failing("jobs", failure, func() error { return r.Repeat(answer) })
}
