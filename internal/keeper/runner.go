package keeper

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"
)

// Site is where a runner works.
type Site struct {
	Host      string // the name of this host
	User      string // our user's name, "" if unknown
	StateDir  string // DefaultState, or the setting state_dir
	ID, Epoch string // of the database
	Database  string // its absolute path, or a URL: PLACECTL_DB of jobs

	// Account returns the variables that describe our user, for jobs that bring none.
	Account func() []string

	// Words returns the name and the arguments with which this program runs a verb on this
	// database, such as keep.
	Words func(verb string, args ...string) []string

	// Start starts a keeper that holds a lock, in place of a process that runs the verb keep. It may be nil.
	Start func(lock *os.File) error

	// Program tells which processes in jobs get only signals that end them.
	Program Program

	// Guest means that this is a program of others, with its own ways with memory and children.
	Guest bool

	// IdentityOf returns the id of the database at a path, "" for none.
	IdentityOf func(path string) string
}

// Runner executes attempts of a database's jobs on this host.
type Runner struct {
	Site
	DB Database

	// Stamp returns a text that changes with the database's state, without opening it.
	Stamp func() string
	// Beat sends this host's heartbeat to the database, every BeatEvery. It may be nil.
	Beat      func(context.Context) error
	BeatEvery time.Duration
	// Trust allows programs that the database names even if other users can write to it.
	Trust bool
	// Started is called by the first pass after this host was started, before it starts a keeper.
	// It may be nil.
	Started func(context.Context) error
	// Idle is how long a keeper stays without anything to do. 0 means ten seconds.
	Idle time.Duration
	// Summon starts an attendant of a database if none runs, in such a way that it outlives the job. It
	// may be nil.
	Summon func(database string) error
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

// intent returns what a journal records about this database and boot.
func (r *Runner) intent(boot string) intent {
	i := intent{Nonce: drawNonce(), Database: r.Database, Boot: boot}
	if s, ok := statFile(r.Database); ok {
		i.Device, i.Inode = uint64(s.Dev), s.Ino
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

// usersOwn reports whether a failure is due to a limit of the user's. Other hosts, and other users
// here, may not have it.
func usersOwn(err error) bool {
	return errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EAGAIN)
}

// sleep waits, and reports whether it waited the full time.
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

// ErrSystem says that this system executes no jobs.
var ErrSystem = errors.New("jobs are not executed on this system")

// system is the one that this program runs on. Tests set it.
var system = runtime.GOOS

// Executes returns nil if this host can execute jobs, and an ErrSystem if it cannot. To keep what is promised of
// attempts takes what only Linux has: a warden gets the processes that its command leaves behind, and /proc tells
// every process of an attempt.
func Executes() error {
	if system == "linux" {
		return nil
	}
	return &systemError{system}
}

type systemError struct{ system string }

func (e *systemError) Error() string {
	return fmt.Sprintf("jobs are not executed on %s: a Linux host of the cluster does it", e.system)
}

// Is makes errors.Is see what it is.
func (e *systemError) Is(target error) bool { return target == ErrSystem }
