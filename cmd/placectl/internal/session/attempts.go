package session

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/detect"
	"github.com/placectl/placectl/cmd/placectl/internal/dispatch"
	"github.com/placectl/placectl/cmd/placectl/internal/launch"
	"github.com/placectl/placectl/cmd/placectl/internal/remote"
	attempts "github.com/placectl/placectl/cmd/placectl/internal/runner"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/store"
)

// AttemptsRunner returns a runner that executes attempts of this database's jobs on host, or on
// the system's own host name if host is "". It also returns the setting launch.
func (r *Run) AttemptsRunner(host string) (runner *attempts.Runner, launch string, err error) {
	me, err := r.Me()
	if err != nil {
		return nil, "", err
	}
	if host == "" || store.SameHost(host, me.Host) {
		// Passes must find what earlier passes wrote, whichever process made them.
		host = me.Host
	}
	site := attempts.Site{Host: host, User: me.Name, Database: r.DatabasePath(), IdentityOf: r.identityOf,
		Account: account}
	site.Words = func(verb string, args ...string) []string {
		words := []string{"placectl", verb, "--db", site.Database, "--host", host}
		if !r.Now.IsZero() {
			words = append(words, "--now", r.Now.Format(time.RFC3339))
		}
		return append(words, args...)
	}
	var db attempts.Database
	var is *remote.Answer
	var beat func(context.Context) error
	stamp := r.attemptsStamp
	if r.OverSSH() {
		lies, err := r.RemoteDatabase(host)
		if err != nil {
			return nil, "", err
		}
		db, stamp = lies, sshStamp
		beat = func(ctx context.Context) error {
			self, err := attempts.Self(host)
			if err == nil {
				_, err = lies.Ask(ctx, remote.AskBeat, remote.Question{User: me.Name, Boot: self.Boot})
			}
			return err
		}
		is, err = lies.Ask(r.Ctx, remote.AskSite, remote.Question{})
		if err != nil {
			return nil, "", err
		}
		lies.ID = is.ID
	} else {
		file := r.Dispatched(host, os.Getuid())
		db = file
		beat = func(context.Context) error {
			self, err := attempts.Self(host)
			if err == nil {
				err = file.Beat(me.Name, self.Boot)
			}
			return err
		}
		if is, err = r.Site(); err != nil {
			return nil, "", err
		}
		file.ID, file.Epoch = is.ID, is.Epoch
		if !store.IsLog(r.DB) && r.Now.IsZero() {
			file.Cycles = r.queueIsRun
		}
	}
	is.KeptAt(&site)
	a := &attempts.Runner{Site: site, DB: db, Stamp: stamp, Note: r.Notef, Trust: r.Getenv("PLACECTL_TRUST") == "1"}
	if is.LostAfter > 0 {
		a.Beat, a.BeatEvery = beat, is.LostAfter/store.BeatsWithin
	}
	if is.Detect != "off" {
		a.Started = func(ctx context.Context) error { return r.compareDevices(ctx, host, db) }
	}
	return a, is.Launch, nil
}

// queueIsRun reports whether a process of this user runs the queue here: an attendant, or
// work --cycle.
func (r *Run) queueIsRun(tx *store.Tx) (bool, error) {
	settings, err := tx.Config().Settings()
	if err != nil {
		return false, err
	}
	is := r.AttendPlace(settings.StateDir).Read()
	lives, stopped := attempts.Look(is.PID, is.Born)
	return is.PID != 0 && lives && !stopped, nil
}

// compareDevices says which devices of the database this host lacks.
func (r *Run) compareDevices(ctx context.Context, host string, db attempts.Database) error {
	m := detect.Look(
		detect.Here(func(words ...string) (string, error) { return launch.Output(ctx, 5*time.Second, words...) }), true)
	var lacks []store.Lack
	if lies, is := db.(*remote.Database); is {
		a, err := lies.Ask(ctx, remote.AskLacks, remote.Question{Found: m.Found()})
		if err != nil {
			return err
		}
		lacks = a.Lacks
	} else {
		err := r.UpdateOnce(func(tx *store.Tx) (err error) {
			lacks, err = tx.Devices().Detected(host, m.Found())
			return err
		})
		if err != nil {
			return err
		}
	}
	for _, l := range lacks {
		r.Notef("%s", l.String())
	}
	return nil
}

// Dispatched returns the database as seen by processes that execute a user's attempts on a host.
func (r *Run) Dispatched(host string, uid int) *dispatch.DB {
	d := &dispatch.DB{View: r.ViewOnce, Update: r.UpdateOnce, Path: r.DB, Host: host, UID: uid, Environ: r.whole,
		Distrusts: r.DistrustsOpened}
	if store.Others(r.DB) != "" {
		d.Verify = r.Verify
	}
	return d
}

// ViewOnce reads the database and prints no answer. Several calls may run at once.
func (r *Run) ViewOnce(fn func(*store.Tx) error) error {
	db, err := r.Open()
	if err != nil {
		return err
	}
	defer r.Done(db)
	return db.View(fn)
}

// UpdateOnce changes the database and prints no answer.
func (r *Run) UpdateOnce(fn func(*store.Tx) error) error {
	db, err := r.Open()
	if err != nil {
		return err
	}
	defer r.Done(db)
	return r.Commit(db, true, fn)
}

// Site returns what a host must know about the database.
func (r *Run) Site() (*remote.Answer, error) {
	var a *remote.Answer
	err := r.View(func(tx *store.Tx) (err error) {
		if !r.Dry {
			err = store.Executing(tx)
		}
		if err != nil {
			return err
		}
		a, err = siteOf(tx)
		return err
	})
	return a, err
}

// siteOf returns what a database tells the hosts that execute its jobs.
func siteOf(tx *store.Tx) (*remote.Answer, error) {
	id, err := tx.Identity()
	if err != nil {
		return nil, err
	}
	settings, err := tx.Config().Settings()
	if err != nil {
		return nil, err
	}
	return &remote.Answer{ID: id.ID, Epoch: dispatch.EpochOf(id), StateDir: settings.StateDir, Launch: settings.Launch,
		LostAfter: settings.LostAfter, Detect: settings.Detect}, nil
}

// EndAttended ends the jobs of killed runs on this host. It reports whether other runs are left. If
// one of those is killed the database does not change, so the caller must look again.
func (r *Run) EndAttended(tx *store.Tx) (others bool, err error) {
	host, err := os.Hostname()
	if err != nil {
		return false, err
	}
	if why, err := tx.Copy(); err != nil || why != "" {
		return false, err
	}
	site := attempts.Site{Host: host}
	is, err := siteOf(tx)
	if err != nil || is.ID == "" {
		return false, err
	}
	is.KeptAt(&site)
	ended, more, committed, err := (&attempts.Runner{Site: site}).EndAttended(tx)
	r.committed = committed
	for _, j := range ended {
		r.Notef("job %d is %s: %s", j.ID, j.State, j.Reason)
	}
	return more > 0, err
}

// RemoteDatabase returns the database for a host that cannot see its file.
func (r *Run) RemoteDatabase(us string) (*remote.Database, error) {
	host, path, err := store.SplitURL(r.DB)
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
	defer r.Done(db)
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

// attemptsStamp returns a text that changes with the state of the database.
func (r *Run) attemptsStamp() string {
	if store.IsLog(r.DB) {
		return fmt.Sprint(r.logStamp())
	}
	state, err := store.StateOfFile(r.DB)
	if err != nil {
		return ""
	}
	return fmt.Sprint(state)
}

// LaunchDB returns the default name by which other hosts reach the database: its path on a shared
// file system, its own name if a log holds it, and otherwise a URL for ssh.
func (r *Run) LaunchDB(here string) string {
	path := r.DatabasePath()
	if store.IsLog(path) || store.NetworkFileSystem(filepath.Dir(path)) != "" {
		return path
	}
	return "ssh://" + here + path
}

// DrawNonce draws a random number that tells this process from all others that launch.
func DrawNonce() (n store.Nonce) {
	rand.Read(n[:])
	return n
}

// DatabasePath returns the name of the database for programs that run elsewhere.
func (r *Run) DatabasePath() string {
	if r.OverSSH() || store.IsLog(r.DB) {
		return r.DB
	}
	if path, err := filepath.Abs(r.DB); err == nil {
		return path
	}
	return r.DB
}
