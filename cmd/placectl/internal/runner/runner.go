package runner

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/placectl/placectl/store"
)

// Site is where a runner is at work.
type Site struct {
	Host      string // this one's name
	User      string // our name, "" where it is not known
	StateDir  string // DefaultState, or what the setting state_dir says
	ID, Epoch string // of the database
	Database  string // its absolute path, or a URL: what jobs find as PLACECTL_DB

	// Words are the name and the arguments with which this program does a verb on this
	// database: supervise 12.1.
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
	// Beat tells the database that this host's attempts are looked after, BeatEvery so
	// often; nil: nobody is told.
	Beat      func(context.Context) error
	BeatEvery time.Duration
	// Trust says that programs are run which the database names, whoever may have written
	// it.
	Trust bool
	// Started is called by the first pass after this host was started, before it starts any
	// supervisor; nil: nothing is to be done then.
	Started func(context.Context) error
	// Turn lets a supervisor go on with another attempt; may be nil.
	Turn Turn
	// Summon starts a process that looks after the queue, if there is none, in a way that it
	// outlives the job; may be nil.
	Summon func() error
	// Note says what nobody else would hear of.
	Note func(format string, args ...any)

	step func(string) // tests die here
}

// at marks a step, for tests.
func (r *Runner) at(step string) {
	if r.step != nil {
		r.step(step)
	}
}

// patience is how long a supervisor tries to reach the database before it executes
// anything.
const patience = 30 * time.Second

// intent is what a journal says of this database.
func (r *Runner) intent() intent {
	i := intent{Nonce: drawNonce(), Database: r.Database}
	i.Boot, _ = bootID() // Self, which is asked before each claim, says what is wrong
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

// Supervise executes an attempt, if nobody else does, and reports how it ended. It returns
// without an error where somebody else is at it or was, and where the database does not
// want it any more.
func (r *Runner) Supervise(ctx context.Context, k Key) error {
	s, err := openState(r.StateDir, r.ID, r.Epoch)
	if err != nil {
		return r.refuse(ctx, k, err)
	}
	defer s.close()
	d, err := s.lockDir(k, true)
	switch {
	case errors.Is(err, errHeld):
		return nil
	case err != nil:
		return r.refuse(ctx, k, err)
	}
	r.at("locked")
	i := r.intent()
	journal, err := d.begin(i)
	if err != nil {
		defer d.close()
		if errors.Is(err, fs.ErrExist) {
			return nil // a pass settles it
		}
		d.remove() //nolint:errcheck // nothing was done
		return r.refuse(ctx, k, err)
	}
	r.at("journal")
	e := &execution{Runner: r, dir: d, nonce: i.Nonce, journal: journal, state: s}
	if e.order, err = r.claim(ctx, k, i.Nonce); err != nil {
		defer e.close()
		if settled(err) || errors.Is(err, store.ErrNotPermitted) {
			return errors.Join(err, d.remove())
		}
		return err // perhaps it was claimed: a pass finds out
	}
	r.at("claimed")
	go r.keepBeat(ctx, s)
	for e != nil {
		result := e.run(ctx)
		next, failed := r.deliver(ctx, d, result, e.until, e.turn(result))
		err = errors.Join(err, failed)
		e.close()
		if e = next; e != nil {
			d = e.dir
		}
	}
	return err
}

// claim claims an attempt for this process, and tries again while nobody knows whether it
// has.
func (r *Runner) claim(ctx context.Context, k Key, n store.Nonce) (*Order, error) {
	self, err := Self(r.Host)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		order, err := r.DB.Claim(ctx, store.Claim{Job: k.Job, Attempt: k.Number, By: store.BySupervisor, Nonce: n, Process: self})
		if settled(err) || errors.Is(err, store.ErrNotPermitted) { // a report that is not permitted is tried again, though: it may be the only one
			return order, err
		}
		if !sleep(ctx, wait) {
			return nil, err
		}
	}
}

// refuse reports that this host cannot execute an attempt, which nobody has claimed. The
// nonce is for the report alone.
func (r *Runner) refuse(ctx context.Context, k Key, why error) error {
	result := k.result(store.Nonce{}, store.OutcomeRefused)
	result.Why, result.Blame = why.Error(), store.BlameNode
	var state *errState
	if errors.As(why, &state) && state.others || usersOwn(why) {
		result.Blame = store.BlameNobody
	}
	result.Nonce = drawNonce()
	return errors.Join(why, r.tell(ctx, result, nil))
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
