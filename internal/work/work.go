// Package work composes what runs the queue of a database on this host: it executes jobs, makes cycles, plays
// forecasts, and hands events to the site's program. The command and package runner use it.
package work

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/placectl/placectl/internal/attend"
	"github.com/placectl/placectl/internal/detect"
	"github.com/placectl/placectl/internal/dispatch"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/environ"
	"github.com/placectl/placectl/internal/keeper"
	"github.com/placectl/placectl/internal/launch"
	"github.com/placectl/placectl/internal/people"
	"github.com/placectl/placectl/internal/signing"
)

// Site is what a host must know about a database to execute its jobs.
type Site struct {
	ID, Epoch, StateDir, Launch string
	LostAfter                   time.Duration
	Detect                      string // the setting detect
}

// SiteOf returns what a database tells the hosts that execute its jobs.
func SiteOf(tx *engine.Tx) (s Site, err error) {
	id, err := tx.Identity()
	if err != nil {
		return s, err
	}
	settings, err := tx.Config().Settings()
	if err != nil {
		return s, err
	}
	return Site{ID: id.ID, Epoch: dispatch.EpochOf(id), StateDir: settings.StateDir, Launch: settings.Launch,
		LostAfter: settings.LostAfter, Detect: settings.Detect}, nil
}

// KeptAt sets where a site keeps what belongs to the database.
func (s *Site) KeptAt(site *keeper.Site) {
	site.ID, site.Epoch, site.StateDir = s.ID, s.Epoch, cmp.Or(s.StateDir, keeper.DefaultState(os.Getuid()))
}

// PlaceOf returns the place of the process that runs the queue for this user. stateDir is the setting state_dir, "" for
// the default, and path the database's absolute path.
func PlaceOf(stateDir, path string) attend.Place {
	return attend.At(cmp.Or(stateDir, keeper.DefaultState(os.Getuid())), path)
}

// Beat makes a runner send heartbeats, if the database wants them.
func (s *Site) Beat(r *keeper.Runner, send func(ctx context.Context, boot string) error) {
	if s.LostAfter <= 0 {
		return
	}
	r.BeatEvery = s.LostAfter / engine.BeatsWithin
	r.Beat = func(ctx context.Context) error {
		self, err := keeper.Self(r.Host)
		if err == nil {
			err = send(ctx, self.Boot)
		}
		return err
	}
}

// Compare makes a runner say which devices of the database this host lacks, if the database wants that.
func (s *Site) Compare(r *keeper.Runner, ask func(context.Context, *detect.Machine) ([]engine.Lack, error)) {
	if s.Detect == "off" {
		return
	}
	r.Started = func(ctx context.Context) error {
		m := detect.Look(detect.Here(func(words ...string) (string, error) {
			return launch.Output(ctx, 5*time.Second, words...)
		}), true)
		lacks, err := ask(ctx, m)
		for _, l := range lacks {
			r.Note("%s", l.String())
		}
		return err
	}
}

// InReach makes a runner execute the jobs of a database whose file this process opens, or whose log. If cycles is set,
// a turn of the keeper makes a cycle while a process of this user runs the queue here.
func (s *Site) InReach(r *keeper.Runner, d *dispatch.DB, cycles bool) {
	d.ID, d.Epoch = s.ID, s.Epoch
	if cycles {
		d.Cycles = func(tx *engine.Tx) (bool, error) { return queueIsRun(tx, r.Database) }
	}
	s.KeptAt(&r.Site)
	r.DB = d
	s.Beat(r, func(_ context.Context, boot string) error { return d.Beat(r.User, boot) })
	s.Compare(r, func(_ context.Context, m *detect.Machine) (lacks []engine.Lack, err error) {
		err = d.Update(func(tx *engine.Tx) error {
			lacks, err = tx.Devices().Detected(r.Host, m.Found())
			return err
		})
		return lacks, err
	})
}

// queueIsRun reports whether a process of this user runs the queue here: an attendant, or work --cycle.
func queueIsRun(tx *engine.Tx, database string) (bool, error) {
	settings, err := tx.Config().Settings()
	if err != nil {
		return false, err
	}
	is := PlaceOf(settings.StateDir, database).Read()
	lives, stopped := keeper.Look(is.PID, is.Born)
	return is.PID != 0 && lives && !stopped, nil
}

// Stamp returns a text that changes with the state of a file.
func Stamp(path string) string {
	state, err := engine.StateOfFile(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(state)
}

// Account returns the variables that describe the user of this process.
func Account() []string {
	uid := uint32(os.Getuid())
	name, home := people.System.Login(uid)
	if name == engine.UnnamedUser(uid) {
		name = ""
	}
	return environ.Account(name, home, people.System.Shell(uid))
}

// KeyPath returns the path of this user's key: below home, the home directory of the environment, unless only that of
// passwd has one, which cron and containers may not tell us.
func KeyPath(home string) string {
	other := PasswdKey()
	if own := signing.Path(cmp.Or(home, people.System.Home(uint32(os.Getuid())))); signing.Exists(own) ||
		!signing.Exists(other) {
		return own
	}
	return other
}

// PasswdKey returns where the processes that run the queue look for this user's key.
func PasswdKey() string { return signing.Path(people.System.Home(uint32(os.Getuid()))) }

// How often to check whether the database has changed if the kernel does not tell: on a network file system less often,
// because each look asks the server. This host's commands ring a bell, and those of others may wait that long.
const (
	workEvery    = 200 * time.Millisecond
	networkEvery = 10 * time.Second
)

// Wakes uses the kernel's notifications, until ctx ends, if the kernel sees all changes of a file. Otherwise it polls
// its state.
func Wakes(ctx context.Context, path string) keeper.Wakes {
	switch dir := filepath.Dir(path); {
	case engine.NetworkFileSystem(dir) != "":
		return keeper.Wakes{Every: networkEvery}
	case engine.Notifies(dir):
		if changed, err := attend.Watch(ctx, path); err == nil { // the kernel may be out of watches
			return keeper.Wakes{Changed: changed}
		}
	}
	return keeper.Wakes{Every: workEvery}
}
