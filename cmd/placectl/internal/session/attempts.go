package session

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/remote"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/internal/detect"
	"github.com/placectl/placectl/internal/dispatch"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/keeper"
	"github.com/placectl/placectl/internal/work"
)

// AttemptsRunner returns a runner that executes attempts of this database's jobs on host, or on
// the system's own host name if host is "". It also returns the setting launch.
func (r *Run) AttemptsRunner(host string) (runner *keeper.Runner, launch string, err error) {
	me, err := r.Me()
	if err != nil {
		return nil, "", err
	}
	if host == "" || engine.SameHost(host, me.Host) {
		// Passes must find what earlier passes wrote, whichever process made them.
		host = me.Host
	}
	site := keeper.Site{Host: host, User: me.Name, Database: r.DatabasePath(), IdentityOf: r.identityOf,
		Account: work.Account, Program: keeper.OwnFile()}
	site.Words = func(verb string, args ...string) []string {
		words := []string{"placectl", verb, "--db", site.Database, "--host", host}
		if !r.Now.IsZero() {
			words = append(words, "--now", r.Now.Format(time.RFC3339))
		}
		return append(words, args...)
	}
	a := &keeper.Runner{Site: site, Stamp: r.attemptsStamp, Note: r.Notef, Trust: r.Getenv("PLACECTL_TRUST") == "1"}
	if !r.OverSSH() {
		is, err := r.Site()
		if err != nil {
			return nil, "", err
		}
		is.InReach(a, r.Dispatched(host, os.Getuid()), !engine.IsLog(r.DB) && r.Now.IsZero())
		return a, is.Launch, nil
	}
	lies, err := r.RemoteDatabase(host)
	if err != nil {
		return nil, "", err
	}
	said, err := lies.Ask(r.Ctx, remote.AskSite, remote.Question{})
	if err != nil {
		return nil, "", err
	}
	lies.ID, a.DB, a.Stamp = said.ID, lies, sshStamp
	is := said.Site
	is.KeptAt(&a.Site)
	is.Beat(a, func(ctx context.Context, boot string) error {
		_, err := lies.Ask(ctx, remote.AskBeat, remote.Question{User: me.Name, Boot: boot})
		return err
	})
	is.Compare(a, func(ctx context.Context, m *detect.Machine) ([]engine.Lack, error) {
		said, err := lies.Ask(ctx, remote.AskLacks, remote.Question{Found: m.Found()})
		if err != nil {
			return nil, err
		}
		return said.Lacks, nil
	})
	return a, is.Launch, nil
}

// Dispatched returns the database as seen by processes that execute a user's attempts on a host.
func (r *Run) Dispatched(host string, uid int) *dispatch.DB {
	d := &dispatch.DB{View: r.ViewOnce, Update: r.UpdateOnce, Path: r.DB, Host: host, UID: uid, Environ: r.whole,
		Distrusts: r.DistrustsOpened}
	if engine.Others(r.DB) != "" {
		d.Verify = r.Verify
	}
	return d
}

// ViewOnce reads the database and prints no answer. Several calls may run at once.
func (r *Run) ViewOnce(fn func(*engine.Tx) error) error {
	db, err := r.Open()
	if err != nil {
		return err
	}
	return r.dropped(db, db.View(fn))
}

// UpdateOnce changes the database and prints no answer.
func (r *Run) UpdateOnce(fn func(*engine.Tx) error) error {
	db, err := r.Open()
	if err != nil {
		return err
	}
	return r.dropped(db, r.Commit(db, true, fn))
}

// Site returns what a host must know about the database.
func (r *Run) Site() (is work.Site, err error) {
	err = r.View(func(tx *engine.Tx) (err error) {
		if !r.Dry {
			err = engine.Executing(tx)
		}
		if err != nil {
			return err
		}
		is, err = work.SiteOf(tx)
		return err
	})
	return is, err
}

// EndAttended ends the jobs of killed runs on this host. It reports whether other runs are left. If
// one of those is killed the database does not change, so the caller must look again.
func (r *Run) EndAttended(tx *engine.Tx) (others bool, err error) {
	host, err := os.Hostname()
	if err != nil {
		return false, err
	}
	if why, err := tx.Copy(); err != nil || why != "" {
		return false, err
	}
	site := keeper.Site{Host: host, Database: r.DatabasePath(), IdentityOf: r.identityOf, Program: keeper.OwnFile()}
	is, err := work.SiteOf(tx)
	if err != nil || is.ID == "" {
		return false, err
	}
	is.KeptAt(&site)
	ended, more, committed, err := (&keeper.Runner{Site: site}).EndAttended(tx)
	r.committed = committed
	for _, j := range ended {
		r.Notef("job %d %s: %s", j.ID, j.State.Is(), j.Reason)
	}
	return more > 0, err
}

// RemoteDatabase returns the database for a host that cannot see its file.
func (r *Run) RemoteDatabase(us string) (*remote.Database, error) {
	host, path, err := engine.SplitURL(r.DB)
	if err != nil {
		return nil, usage.Errorf("--db: %w", err)
	}
	return &remote.Database{Host: host, Path: path, Us: us, Now: r.Now}, nil
}

// sshStamp changes every ten seconds, so that a database on another host is read that often.
func sshStamp() string { return fmt.Sprint(time.Now().Unix() / 10) }

// identityOf returns the id of the database at a path, or "" if there is none.
func (r *Run) identityOf(path string) (id string) {
	db, err := r.OpenNamed(path)
	if err != nil {
		return ""
	}
	err = db.View(func(tx *engine.Tx) error {
		is, err := tx.Identity()
		id = is.ID
		return err
	})
	if err != nil {
		return ""
	}
	return id
}

// attemptsStamp returns a text that changes with the state of the database.
func (r *Run) attemptsStamp() string {
	if engine.IsLog(r.DB) {
		return fmt.Sprint(r.logStamp())
	}
	return work.Stamp(r.DB)
}

// LaunchDB returns the default name by which other hosts reach the database: its path on a shared
// file system, its own name if a log holds it, and otherwise a URL for ssh.
func (r *Run) LaunchDB(here string) string {
	path := r.DatabasePath()
	if engine.IsLog(path) || engine.NetworkFileSystem(filepath.Dir(path)) != "" {
		return path
	}
	return "ssh://" + here + path
}

// DrawNonce draws a random number that tells this process from all others that launch.
func DrawNonce() (n engine.Nonce) {
	rand.Read(n[:])
	return n
}

// DatabasePath returns the name of the database for programs that run elsewhere.
func (r *Run) DatabasePath() string {
	if r.OverSSH() || engine.IsLog(r.DB) {
		return r.DB
	}
	if path, err := filepath.Abs(r.DB); err == nil {
		return path
	}
	return r.DB
}
