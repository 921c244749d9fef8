package main

import (
	"cmp"
	"errors"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/launch"
	attempts "github.com/placectl/placectl/cmd/placectl/internal/runner"
	"github.com/placectl/placectl/store"
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
	failed := []error{here.NewPasses().Once(r.ctx)}
	if len(hosts) == 0 {
		return failed[0]
	}
	ssh, err := launch.FindSSH()
	if err != nil {
		return errors.Join(failed[0], err)
	}
	return errors.Join(append(failed, ssh.Each(r.ctx, hosts, passTime, func(host string) []string {
		words := []string{"placectl", "--db", database, "work", "--once", "-q", "--host", host}
		if !r.Now.IsZero() {
			words = append(words, "--now", r.Now.Format(time.RFC3339))
		}
		return words
	})...)...)
}

// passHosts are the hosts but this one where there is something to do, in order, and how
// the database is called there.
func (r *runner) passHosts(here string) (hosts []string, database string, err error) {
	d := &attemptsDB{r, here, os.Getuid()}
	busy := make(map[string]bool)
	err = r.view(func(tx *store.Tx) error {
		settings, err := tx.Settings()
		if err != nil {
			return err
		}
		database = settings.LaunchDB
		return d.busyHosts(tx, busy)
	})
	for host := range maps.Keys(busy) {
		if sameHost(host, here) {
			delete(busy, host)
		}
	}
	return slices.Sorted(maps.Keys(busy)), cmp.Or(database, r.launchDB(here)), err
}

// launchDB is how other hosts find the database where nobody has said it: at its path on a
// file system that they share, else over ssh.
func (r *runner) launchDB(here string) string {
	path := r.databasePath()
	if attempts.NetworkFileSystem(path) != "" {
		return path
	}
	return "ssh://" + here + path
}

// busyHosts collects the hosts where a pass of our user has something to do: to start
// attempts, to stop some, or to settle those whose end is over.
func (d *attemptsDB) busyHosts(tx *store.Tx, busy map[string]bool) error {
	err := tx.Unclaimed(func(j *store.Job) error {
		if !forPasses(j) {
			return nil
		}
		mine, err := d.mine(tx, j)
		if err != nil || !mine {
			return err
		}
		host, err := tx.HostOf(j)
		busy[host] = true
		return err
	})
	if err != nil {
		return err
	}
	return tx.ClaimedOn("", func(j *store.Job, a *store.Attempt) error {
		if a.By != store.BySupervisor || a.State != store.AttemptEnding && j.End.After(tx.Now()) {
			return nil
		}
		mine, err := d.mine(tx, j)
		if mine {
			busy[a.Host] = true
		}
		return err
	})
}
