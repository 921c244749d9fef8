package runner

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// Site is where a runner is at work.
type Site struct {
	Host      string // this one's name
	User      string // our name, "" if it is not known
	StateDir  string // DefaultState, or what the setting state_dir says
	ID, Epoch string // of the database
	Database  string // its absolute path, or a URL: what jobs find as PLACECTL_DB

	// Words are the name and the arguments with which this program does a verb on this
	// database: keep.
	Words func(verb string, args ...string) []string

	// IdentityOf is the id of the database that lies at a path, "" for none.
	IdentityOf func(path string) string
}

// Runner executes attempts of the jobs of a database on this host.
type Runner struct {
	Site
	DB Database

	// Stamp tells states of the database apart without opening it.
	Stamp func() string
	// Beat sends the heartbeat of this host to the database, every BeatEvery; it may be nil.
	Beat      func(context.Context) error
	BeatEvery time.Duration
	// Trust allows programs that the database names, even if other users can write it.
	Trust bool
	// Started is called by the first pass after this host was started, before it starts a keeper;
	// it may be nil.
	Started func(context.Context) error
	// Idle is how long a keeper stays that has nothing to do; 0 for ten seconds.
	Idle time.Duration
	// Summon starts a process that looks after the queue, if there is none, in a way that it
	// outlives the job; may be nil.
	Summon func() error
	// Note reports details that appear nowhere else.
	Note func(format string, args ...any)

	step func(string) // tests die here
}

// at marks a step, for tests.
func (r *Runner) at(step string) {
	if r.step != nil {
		r.step(step)
	}
}

// intent is what a journal says of this database in a life of the host.
func (r *Runner) intent(boot string) intent {
	i := intent{Nonce: drawNonce(), Database: r.Database, Boot: boot}
	if s, ok := statFile(r.Database); ok {
		i.Device, i.Inode = s.Dev, s.Ino
	}
	return i
}

func statFile(path string) (*syscall.Stat_t, bool) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, false
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	return s, ok
}

// usersOwn reports whether something has failed because its user has too much of it: other
// hosts, and other users here, need not have that.
func usersOwn(err error) bool {
	return errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EAGAIN)
}

// sleep waits, and reports whether it was not cut short.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
