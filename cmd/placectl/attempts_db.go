package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/payload"
	"github.com/placectl/placectl/cmd/placectl/internal/remote"
	attempts "github.com/placectl/placectl/cmd/placectl/internal/runner"
	"github.com/placectl/placectl/store"
)

// attemptsDB is the database as those who execute attempts ask it.
type attemptsDB struct {
	r    *runner
	host string
	uid  int // whose attempts
}

// attemptsRunner executes attempts of this database's jobs on this host, which has that
// name, "" for what the system says. It also returns how the jobs are launched.
func (r *runner) attemptsRunner(host string) (runner *attempts.Runner, launch string, err error) {
	me, err := payload.Process{Environ: r.environ}.Owner()
	if err != nil {
		return nil, "", err
	}
	if host == "" || sameHost(host, me.Host) {
		// What passes write down they are to find again, whoever has made them.
		host = me.Host
	}
	site := attempts.Site{Host: host, User: me.Name, Database: r.databasePath(), IdentityOf: r.identityOf}
	site.Words = func(verb string, args ...string) []string {
		if verb == attempts.GateVerb {
			return []string{"placectl", verb}
		}
		words := []string{"placectl", verb, "--db", site.Database, "--host", host}
		if !r.Now.IsZero() {
			words = append(words, "--now", r.Now.Format(time.RFC3339))
		}
		return append(words, args...)
	}
	var db attempts.Database
	var is *remote.Answer
	stamp := r.attemptsStamp
	if r.overSSH() {
		lies, err := r.remoteDatabase(host)
		if err != nil {
			return nil, "", err
		}
		if r.inv.Has(remote.ThroughFlag) {
			lies.Through = remote.NewThrough()
		}
		db, stamp = lies, sshStamp
		is, err = lies.Ask(r.ctx, remote.AskSite, remote.Question{})
		if err != nil {
			return nil, "", err
		}
	} else {
		file := &attemptsDB{r, host, os.Getuid()}
		db = file
		if is, err = file.site(); err != nil {
			return nil, "", err
		}
	}
	is.KeptAt(&site)
	return &attempts.Runner{Site: site, DB: db, Stamp: stamp, Note: r.notef}, is.Launch, nil
}

// site is what a host has to know of the database.
func (d *attemptsDB) site() (*remote.Answer, error) {
	var a *remote.Answer
	err := d.r.view(func(tx *store.Tx) (err error) {
		a, err = siteOf(tx)
		return err
	})
	if err == nil && a.ID == "" {
		err = &store.Conflict{What: "the database", Why: "it is of an older format, and nothing has been written to it since: any verb that writes does"}
	}
	return a, err
}

// siteOf is what a database says of itself to a host that executes its jobs.
func siteOf(tx *store.Tx) (*remote.Answer, error) {
	id, err := tx.Identity()
	if err != nil {
		return nil, err
	}
	settings, err := tx.Settings()
	if err != nil {
		return nil, err
	}
	return &remote.Answer{ID: id.ID, Epoch: fmt.Sprintf("%08x", id.Epoch), StateDir: settings.StateDir, Launch: settings.Launch}, nil
}

// endAttended ends the jobs of runs on this host that were killed.
func (r *runner) endAttended(tx *store.Tx) error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	site := attempts.Site{Host: host}
	is, err := siteOf(tx)
	if err != nil || is.ID == "" {
		return err
	}
	is.KeptAt(&site)
	ended, err := (&attempts.Runner{Site: site}).EndAttended(tx)
	for _, j := range ended {
		r.notef("job %d is %s: %s", j.ID, j.State, j.Reason)
	}
	return err
}

// remoteDatabase is the database as a host asks it that does not see its file.
func (r *runner) remoteDatabase(us string) (*remote.Database, error) {
	host, path, err := store.SplitURL(r.DB)
	if err != nil {
		return nil, usagef("--db: %w", err)
	}
	return &remote.Database{Host: host, Path: path, Us: us, Now: r.Now}, nil
}

// sshStamp has a database on another host looked at every ten seconds.
func sshStamp() string { return fmt.Sprint(time.Now().Unix() / 10) }

// identityOf is the id of a database at a path, "" for none.
func (r *runner) identityOf(path string) (id string) {
	db, err := store.Open(path, r.storeOptions())
	if err != nil {
		return ""
	}
	defer db.Close()
	err = db.View(func(tx *store.Tx) error {
		is, err := tx.Identity()
		id = is.ID
		return err
	})
	if err != nil {
		return ""
	}
	return id
}

// attemptsStamp tells states of the file apart. One that was just written to may be written
// to again before the clock of files has gone on.
func (r *runner) attemptsStamp() string {
	info, err := os.Stat(r.DB)
	if err != nil {
		return ""
	}
	stamp := fmt.Sprint(info.ModTime().UnixNano(), info.Size())
	if age := time.Since(info.ModTime()); age >= 0 && age < 20*time.Millisecond {
		stamp += fmt.Sprint(" ", time.Now().UnixNano())
	}
	return stamp
}

// update changes the database. What the function sets outside it has to set anew each time
// that it runs.
func (d *attemptsDB) update(fn func(*store.Tx) error) error {
	db, err := d.r.open()
	if err != nil {
		return err
	}
	defer db.Close()
	return d.r.commit(db, true, fn)
}

// Claim claims an attempt, and says what is to be executed.
func (d *attemptsDB) Claim(_ context.Context, c store.Claim) (order *attempts.Order, err error) {
	err = d.update(func(tx *store.Tx) error {
		granted, err := tx.Claim(c)
		if err != nil {
			return err
		}
		order, err = d.r.order(tx, granted)
		return err
	})
	return order, err
}

// Report says how an attempt has ended.
func (d *attemptsDB) Report(_ context.Context, r *store.Result) error {
	return d.update(func(tx *store.Tx) error {
		_, err := tx.Report(*r)
		return err
	})
}

// Look is what there is to be done on this host for this user.
func (d *attemptsDB) Look(context.Context) (*attempts.View, error) {
	var view *attempts.View
	err := d.r.view(func(tx *store.Tx) error {
		view = new(attempts.View)
		err := tx.Unclaimed(func(j *store.Job) error {
			ours, err := d.executes(tx, j)
			if ours {
				view.Unclaimed = append(view.Unclaimed, attempts.Key{Job: j.ID, Number: max(j.Attempt, 1)})
			}
			return err
		})
		if err != nil {
			return err
		}
		return tx.ClaimedOn(d.host, func(j *store.Job, a *store.Attempt) error {
			if a.By != store.BySupervisor {
				return nil
			}
			mine, err := d.mine(tx, j)
			if mine {
				view.Held = append(view.Held, attempts.Held{Key: attempts.Key{Job: a.Job, Number: a.Number}, Nonce: a.Nonce, Process: a.Process,
					Ending: a.State == store.AttemptEnding, Left: j.End.Sub(tx.Now())})
			}
			return err
		})
	})
	return view, err
}

// executes reports whether an attempt that nobody has claimed is to be executed by us.
func (d *attemptsDB) executes(tx *store.Tx, j *store.Job) (bool, error) {
	if !forPasses(j) {
		return false, nil
	}
	host, err := tx.HostOf(j)
	if err != nil || !sameHost(host, d.host) {
		return false, err
	}
	return d.mine(tx, j)
}

// forPasses reports whether a job has something to be executed, and waits for a pass.
func forPasses(j *store.Job) bool {
	return !j.Attended && !j.Launched && (len(j.Command) > 0 || j.Payload != (store.PayloadKey{}))
}

// mine reports whether a job is to run as our user: its submitter's, or the owner's of the
// file where nobody knows that.
func (d *attemptsDB) mine(tx *store.Tx, j *store.Job) (bool, error) {
	p, err := tx.Payload(j.ID)
	if err != nil {
		return false, err
	}
	if p != nil && p.Owner != nil {
		return int(p.Owner.UID) == d.uid, nil
	}
	return fileOwner(d.r.DB) == d.uid, nil
}

// sameHost compares names of hosts, of which either may be without its domain.
func sameHost(a, b string) bool {
	shortA, domainA, _ := strings.Cut(a, ".")
	shortB, domainB, _ := strings.Cut(b, ".")
	return strings.EqualFold(shortA, shortB) && (domainA == "" || domainB == "" || strings.EqualFold(domainA, domainB))
}

// clusterName is the file's name, for SLURM_CLUSTER_NAME.
func (r *runner) clusterName() string {
	return strings.TrimSuffix(filepath.Base(r.DB), ".db")
}
