package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/hook"
	"github.com/placectl/placectl/cmd/placectl/internal/launch"
	attempts "github.com/placectl/placectl/cmd/placectl/internal/runner"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

// cycle --launch has passes made when its commit is there: on this host by itself, on the
// others by placectl work over ssh. A pass that is not made loses nothing: whatever makes
// the next one finds the same.

// passTime is how long a pass on another host may take, the way there counted.
const passTime = time.Minute

// makePasses has a pass made on each host where there is something to do. It goes on after
// failures, and returns them all.
func (r *runner) makePasses() error {
	here, _, err := r.attemptsRunner("")
	if err != nil {
		return err
	}
	hosts, database, err := r.passHosts(here.Host)
	if err != nil {
		return err
	}
	err = here.NewPasses().Once(r.ctx)
	if len(hosts) == 0 {
		return err
	}
	return errors.Join(err, r.passesOn(r.ctx, here, hosts, database))
}

// passesOn has a pass made on each of some other hosts, over ssh.
func (r *runner) passesOn(ctx context.Context, here *attempts.Runner, hosts []string, database string) error {
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
	refuse, note := here.GiveUp(hosts, made, r.now())
	for i, why := range refuse {
		if note[i] != "" {
			failed = append(failed, r.dispatched(hosts[i], os.Getuid()).Unreached(note[i]))
		}
		if why != "" {
			view, err := r.dispatched(hosts[i], os.Getuid()).Look(ctx)
			if err == nil {
				err = here.RefuseAll(ctx, view.Unclaimed, why)
			}
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// passHosts are the hosts but this one where there is something to do, in order, and how
// the database is called there.
func (r *runner) passHosts(here string) (hosts []string, database string, err error) {
	d := r.dispatched(here, os.Getuid())
	busy := make(map[string]bool)
	err = r.view(func(tx *store.Tx) error {
		settings, err := tx.Settings()
		if err != nil {
			return err
		}
		database = settings.LaunchDB
		return d.BusyHosts(tx, busy)
	})
	for host := range maps.Keys(busy) {
		if store.SameHost(host, here) {
			delete(busy, host)
		}
	}
	return slices.Sorted(maps.Keys(busy)), cmp.Or(database, r.launchDB(here)), err
}

// launchDB is how other hosts find the database where nobody has said it: at its path on a
// file system that they share, by its own name where it is kept in a log, else over ssh.
func (r *runner) launchDB(here string) string {
	path := r.databasePath()
	if store.IsLog(path) || store.NetworkFileSystem(filepath.Dir(path)) != "" {
		return path
	}
	return "ssh://" + here + path
}

// hook hands the events to the site's program.
func (r *runner) hook() *hook.Hook {
	own := *r     // what is noted beside other work may not get among its notes,
	own.rec = nil // nor into an answer that is kept, which is there by now
	loud := own
	loud.Quiet = false
	return &hook.Hook{Database: r.databasePath(), Update: own.updateOnce, Distrusts: own.distrustsOpened, Note: own.notef, Warn: loud.notef}
}

// runHook runs it. What goes wrong with it is noted, and goes wrong with nothing else.
func (r *runner) runHook() {
	if err := r.hook().Run(r.ctx); err != nil {
		r.notef("the hook: %v", err)
	}
}

// Jobs are handed to the site's launcher after the commit, with the database
// closed. Being told is the claim of an attempt, and whoever is told of a job is told
// once: a cycle that is killed between its
// commit and a launch has started a job that nobody launched, and that is better
// than one that is launched twice. Such a job is found by its events (it has no
// event launch), and put back with placectl requeue.

// maxFailures is after how many failed launches in a row a job is held.
const maxFailures = 3

// launcher reads --exec, nil without it.
func (r *runner) launcher(c *cli.Context) (*launch.Program, error) {
	l := &launch.Program{Timeout: time.Minute}
	if c.IsSet("exec-timeout") {
		var err error
		if l.Timeout, err = r.duration(c, "exec-timeout"); err != nil {
			return nil, err
		}
		if l.Timeout <= 0 || !c.IsSet("exec") {
			return nil, usagef("--exec-timeout goes with --exec, and is longer than 0")
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
		return nil, usagef("--exec: %s is no command: %w", text.Quoted(c.String("exec")), err)
	}
	path, err := launch.Find(words[0])
	if err != nil {
		return nil, usagef("--exec: %w", err)
	}
	l.Words = append([]string{path}, words[1:]...)
	return l, nil
}

// launchAll runs the launcher for each job and notes how that went.
// What came of it is added to an answer that is kept.
func (r *runner) launchAll(launcher *launch.Program, told []launch.Notice, key string) error {
	done := launcher.All(r.ctx, r.databasePath(), told)
	for i := range done {
		if done[i].Err == nil {
			r.debugf("job %d: launched%s", told[i].Job, done[i].Said)
		}
	}
	return r.noteLaunches(told, done, key)
}

// drawNonce draws what tells this process from all others that launch.
func drawNonce() (n store.Nonce) {
	rand.Read(n[:])
	return n
}

// toldUnder is, of those whom a cycle was to tell its launcher of, all that are claimed
// under its nonce: where the outcome of its commit is not known the file says it.
func (r *runner) toldUnder(nonce store.Nonce, told []launch.Notice) ([]launch.Notice, error) {
	err := r.view(func(tx *store.Tx) error {
		told = slices.DeleteFunc(slices.Clone(told), func(n launch.Notice) bool {
			a, err := tx.Attempt(n.Job, 0)
			return err != nil || n.Event == launch.Start && a.Nonce != nonce
		})
		return nil
	})
	return told, err
}

// launchKept launches those whom an answer that is kept says to launch: all of them after
// the commit that keeps it. When that commit's outcome was not known, or the process
// ended before it had noted the launches, the same key comes here again: those who have
// not been taken off their nodes since are launched then.
func (r *runner) launchKept(c *cli.Context, launcher *launch.Program) error {
	told := r.kept.Notices()
	err := r.view(func(tx *store.Tx) error {
		told = slices.DeleteFunc(told, func(n launch.Notice) bool {
			j, err := tx.Job(n.Job)
			return n.Event == launch.Start && (err != nil || j.State != store.JobRunning || j.Start.Unix() != n.Start)
		})
		return nil
	})
	if err != nil {
		return err
	}
	return r.launchAll(launcher, told, c.String(verbs.Key))
}

// databasePath is the name of the database for programs that run elsewhere.
func (r *runner) databasePath() string {
	if r.overSSH() || store.IsLog(r.DB) {
		return r.DB
	}
	if path, err := filepath.Abs(r.DB); err == nil {
		return path
	}
	return r.DB
}

// noteLaunches writes down which launches have succeeded, and puts those jobs back
// whose launch has failed.
func (r *runner) noteLaunches(told []launch.Notice, done []launch.Done, key string) error {
	if len(told) == 0 {
		return nil
	}
	db, err := r.open()
	if err != nil {
		return err
	}
	var failed []error
	err = r.write(db, true, func(tx *store.Tx) error {
		failed = nil
		for i, n := range told {
			what := "stop"
			if n.Event == launch.Start {
				what = "launch"
				if err := tx.LaunchEnded(n.Job, done[i].Err, maxFailures); err != nil {
					return err
				}
			}
			if done[i].Err != nil {
				failed = append(failed, fmt.Errorf("job %d: the %s failed: %w", n.Job, what, done[i].Err))
			}
		}
		if key == "" {
			return nil
		}
		r.kept.Launched(errors.Join(failed...))
		answer, err := r.kept.Encode()
		if err != nil {
			return err
		}
		return tx.Amend(key, answer)
	})
	return errors.Join(err, errors.Join(failed...))
}
