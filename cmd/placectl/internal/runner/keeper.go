package runner

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/launch"
	"github.com/placectl/placectl/store"
	"golang.org/x/sys/unix"
)

// keeperName is the file that the keeper of a host has locked.
func keeperName(host string) string { return "keeper." + host }

// keeper executes the attempts of a database on this host for our user: any number at once.
type keeper struct {
	*Runner
	state *state
	lock  *os.File
	self  store.Process
	gate  *launch.Gate
	opens chan opening // to those who open files for commands
	ears  *ears

	parent func() (string, error) // of control groups; they are looked for once

	slots     []*slot // by number; nil for one that is not open
	most      int     // so many attempts at once
	running   map[store.Nonce]*attendance
	adopted   map[store.Nonce]*attendance // of those, the ones that are not yet claimed for this process
	others    []*state                    // earlier epochs, with attempts that were adopted
	locks     []*os.File                  // of those
	unsettled []func() error              // what could not be taken over
	ended     chan *attendance

	untold    []*attendance // whose results the database has yet to take
	doubtful  []Again       // claims with an unknown outcome
	looking   bool          // there may be something to claim
	careful   bool          // the last turn failed
	wait      time.Duration // before the next try
	again     time.Time     // when that is
	since     time.Time     // since when the database has not taken something, the zero time if it has
	health    []string      // the program to be asked before anything is claimed
	distrusts bool          // it is not run
	outdated  bool          // the database is of a newer format
	seen      string        // the state of the database that was looked at last
	alive     time.Time     // when there was something to do last
	turns     int           // made so far
	turned    time.Time     // when the last one ended
	took      time.Duration // and how long it took
}

// idleFor is how long a keeper stays that has nothing to do.
const idleFor = 10 * time.Second

// An attempt has so many files open at most, and the keeper so many besides.
const (
	filesOfAttempt = 4
	filesBesides   = 64
)

// Keep executes attempts until none is left for a while. It returns at once if another process
// does. The lock may be one that this process was started with, as a file; nil for none.
func (r *Runner) Keep(ctx context.Context, gate *launch.Gate, inherited *os.File) error {
	self, err := Self(r.Host)
	if err != nil {
		return err
	}
	defer gate.Close()
	ears, err := newEars()
	if err != nil {
		return err
	}
	defer ears.close()
	k := &keeper{Runner: r, self: self, most: 1 << 20, gate: gate, ears: ears, opens: make(chan opening), parent: sync.OnceValues(groupParent), running: make(map[store.Nonce]*attendance), adopted: make(map[store.Nonce]*attendance), ended: make(chan *attendance, 64)}
	var files unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &files) == nil {
		k.most = max(1, int(min(files.Cur, 1<<20)-filesBesides)/filesOfAttempt)
	}
	for {
		if k.state, err = openState(r.StateDir, r.ID, r.Epoch); err != nil {
			return err
		}
		if k.lock = k.state.inherits(inherited, keeperName(k.Host)); k.lock == nil {
			k.lock, err = k.state.tryLock(keeperName(k.Host))
		}
		inherited = nil
		if k.lock == nil {
			k.state.close()
			return err
		}
		k.at("locked")
		err := k.keep(ctx)
		removed := k.isRemoved() || k.outdated
		k.leave()
		// Nothing is overlooked: whoever found the lock taken has committed before this.
		if err != nil || removed || k.Stamp() == k.seen {
			return err
		}
		if view, err := k.DB.Look(ctx); err != nil || !view.calls() {
			return nil //nolint:nilerr // the next pass says so, too
		}
	}
}

// tryLock locks a file that is there under its name; nil if another process has it.
func (s *state) tryLock(name string) (*os.File, error) {
	for {
		f, err := s.epoch.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return nil, err
		}
		if err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			f.Close()
			if errors.Is(err, unix.EWOULDBLOCK) {
				err = nil
			}
			return nil, err
		}
		ours, err := f.Stat()
		named, missing := s.epoch.Lstat(name)
		if err == nil && missing == nil && os.SameFile(ours, named) {
			return f, nil
		}
		f.Close()
		if err = errors.Join(err, missing); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
}

// inherits is a file if it is the one of a name; else nil.
func (s *state) inherits(f *os.File, name string) *os.File {
	if f == nil {
		return nil
	}
	ours, err := f.Stat()
	named, missing := s.epoch.Lstat(name)
	if err != nil || missing != nil || !os.SameFile(ours, named) {
		f.Close()
		return nil
	}
	return f
}

// keep does the work.
func (k *keeper) keep(ctx context.Context) error {
	bell, err := k.state.hangBell(bellName(k.Host))
	if err != nil {
		return err
	}
	defer bell.Close()
	rung := ring(bell)
	beat, stop := context.WithCancel(ctx)
	defer stop()
	go k.keepBeat(beat, k.state)
	if err := k.settleAll(); err != nil {
		k.notef("%v", err)
	}
	k.looking, k.alive = true, time.Now()
	every := time.NewTicker(k.lookEvery())
	defer every.Stop()
	slept := bootClock() - time.Duration(time.Now().UnixNano())
	trimmed := k.turns
	k.look(ctx, true)
	for {
		k.turn(ctx)
		if k.mayLeave() {
			return nil
		}
		var late <-chan time.Time
		if !k.again.IsZero() {
			late = time.After(time.Until(k.again))
		}
		if k.careful && late == nil {
			continue
		}
		var idle <-chan time.Time
		if len(k.running)+len(k.untold) == 0 {
			idle = time.After(max(k.idle()-time.Since(k.alive), 0))
		}
		select {
		case a := <-k.ended:
			k.collect(a)
			k.gather()
		case <-rung:
			if k.state.epoch.Remove(summonFile) == nil {
				k.summon()
			}
			k.look(ctx, true)
		case <-every.C:
			k.settleAgain()
			if trimmed != k.turns && time.Since(k.turned) > trimAfter {
				trimmed = k.turns
				trim()
			}
			k.look(ctx, false)
			if now := bootClock() - time.Duration(time.Now().UnixNano()); now > slept+time.Second { // or the clock was set
				for _, a := range k.running {
					a.wake()
				}
				slept = now
			}
		case <-idle:
		case <-late:
			k.again = time.Time{}
		case <-ctx.Done():
			return ctx.Err()
		}
		if len(k.running) > 0 || len(k.untold) > 0 {
			k.alive = time.Now()
		}
	}
}

// collect takes what has ended by now.
func (k *keeper) collect(a *attendance) {
	for {
		delete(k.running, a.slot.nonce)
		if a.result == nil { // it was unclaimed
			k.giveBack(a.slot)
		} else {
			k.untold = append(k.untold, a)
		}
		select {
		case a = <-k.ended:
		default:
			return
		}
	}
}

// lookEvery is how often the state of the database is compared.
func (k *keeper) lookEvery() time.Duration {
	if strings.HasPrefix(k.Database, store.URLScheme) {
		return 10 * time.Second
	}
	return time.Second
}

// look reads the database, if it has changed or asked is set: whether attempts must stop, and
// whether there are any to claim.
func (k *keeper) look(ctx context.Context, asked bool) {
	stamp := k.Stamp()
	if !asked && stamp == k.seen {
		return
	}
	view, err := k.DB.Look(ctx)
	if err != nil {
		k.notef("%v", err)
		k.outdated = errors.Is(err, store.ErrNewer)
		return
	}
	k.seen, k.health = stamp, view.Health
	for _, h := range view.Held {
		a := k.running[h.Nonce]
		switch {
		case a != nil:
			if h.Ending || len(h.Signals) > 0 {
				a.tell(h)
			}
		case !k.knows(h.Nonce):
			if err := k.settleLost(h); err != nil {
				k.notef("%v", err)
			}
		}
	}
	if len(view.Unclaimed) > 0 {
		k.looking, k.distrusts = true, view.Distrusted != "" && !k.Trust
	}
}

// wants reports whether to claim attempts.
func (k *keeper) wants() bool {
	if !k.looking && len(k.untold) == 0 || k.isRemoved() {
		return false
	}
	return true
}

// isHealthy reports whether the program has said so a short time ago, or is not asked.
func (k *keeper) isHealthy() bool {
	return len(k.health) == 0 || k.distrusts || k.wasHealthy(k.state, k.health)
}

// isRemoved reports whether the state directory was removed: another keeper may be there by now.
func (k *keeper) isRemoved() bool {
	var s unix.Stat_t
	return unix.Fstat(int(k.lock.Fd()), &s) == nil && s.Nlink == 0
}

// isGone reports whether the database was removed, and what lies of it on this host, too: then
// neither this process nor another one has anybody to report to. A file that was moved leaves the
// directory, and whoever passes there reports what lies in it.
func (k *keeper) isGone() bool {
	if !k.isRemoved() || !filepath.IsAbs(k.Database) {
		return false
	}
	_, err := os.Stat(k.Database)
	return errors.Is(err, fs.ErrNotExist)
}

// tellFor is for how long a keeper that executes nothing any more tries to tell what came of its
// attempts. After that it leaves that to the next one.
const tellFor = 10 * time.Minute

// mayLeave reports whether there is nothing left to do.
func (k *keeper) mayLeave() bool {
	switch {
	case k.outdated: // one of a newer version takes over what is executed
		return true
	case len(k.running) > 0:
		return false
	case len(k.untold)+len(k.doubtful)+len(k.unsettled) > 0:
		return k.isGone() || !k.since.IsZero() && time.Since(k.since) > tellFor
	}
	return k.isRemoved() || time.Since(k.alive) > k.idle()
}

func (k *keeper) idle() time.Duration {
	if k.Idle > 0 {
		return k.Idle
	}
	return idleFor
}

// leave releases the lock, and leaves only slots that still have to be settled.
func (k *keeper) leave() {
	for i, sl := range k.slots {
		if sl == nil {
			continue
		}
		if sl.Key == (Key{}) && !sl.broken {
			k.state.epoch.RemoveAll(sl.name) //nolint:errcheck // the next keeper uses it
		}
		sl.close()
		k.slots[i] = nil
	}
	for i, s := range k.others {
		if names, err := s.slots(k.Host); err == nil {
			for _, name := range names {
				if !s.isTaken(name) {
					s.epoch.RemoveAll(name) //nolint:errcheck // the next keeper does
				}
			}
		}
		k.state.removeEpoch(filepath.Base(s.path), k.Host)
		s.epoch.Close()
		k.locks[i].Close()
	}
	k.others, k.locks = nil, nil
	k.state.epoch.Remove(bellName(k.Host))   //nolint:errcheck // as before
	k.state.epoch.Remove(keeperName(k.Host)) //nolint:errcheck // as before
	k.lock.Close()
	k.state.top.Remove(filepath.Base(k.state.path)) //nolint:errcheck // others may have something there
	k.state.close()
}

// take gives an attempt a slot that is free.
func (k *keeper) take(key Key) (*slot, error) {
	n := 0
	for ; n < len(k.slots); n++ {
		if sl := k.slots[n]; sl == nil || sl.Key == (Key{}) && !sl.broken {
			break
		}
	}
	if n == len(k.slots) {
		k.slots = append(k.slots, nil)
	}
	if k.slots[n] == nil {
		sl, err := k.state.openSlot(slotName(k.Host, n))
		if err != nil {
			return nil, err
		}
		k.slots[n] = sl
	}
	i := k.intent(k.self.Boot)
	if err := k.slots[n].give(key, i); err != nil {
		k.giveBack(k.slots[n])
		return nil, err
	}
	return k.slots[n], nil
}

// knows reports whether an attempt has a slot, or a result that has to be reported.
func (k *keeper) knows(n store.Nonce) bool {
	return slices.ContainsFunc(k.slots, func(sl *slot) bool { return sl != nil && sl.nonce == n }) ||
		slices.ContainsFunc(k.untold, func(a *attendance) bool { return a.result.Nonce == n })
}

// giveBack takes a slot back.
func (k *keeper) giveBack(sl *slot) {
	if sl.lines == nil { // it never had one
		return
	}
	if err := sl.free(); err != nil && !sl.isRemoved() {
		k.notef("%s: %v", sl.path, err)
	}
	if sl.isOld() || sl.in != k.state.epoch {
		sl.close()
	}
}

// execute executes a claimed attempt.
func (k *keeper) execute(sl *slot, o *Order) {
	a := &attendance{keeper: k, slot: sl, turn: k.turns, order: o, told: -1, acts: true}
	k.running[sl.nonce] = a
	k.alive = time.Now()
	go a.run()
}

// refuseLater has an attempt refused for which this host has no slot.
func (k *keeper) refuseLater(key Key, why error) {
	r := refusedFor(key, why)
	r.Epoch = k.Epoch
	k.untold = append(k.untold, &attendance{keeper: k, slot: &slot{Key: key}, result: r})
}

// summon has a process started that looks after the queue, if there is none.
func (k *keeper) summon() {
	if k.Summon == nil {
		return
	}
	if err := k.Summon(); err != nil {
		k.notef("the queue is not looked after: %v", err)
	}
}

func (r *Runner) notef(format string, args ...any) {
	if r.Note != nil {
		r.Note(format, args...)
	}
}

// refusedFor is the result of an unclaimed attempt that this host cannot execute. The nonce is for
// the report alone.
func refusedFor(key Key, why error) *store.Result {
	r := key.result(drawNonce(), store.OutcomeRefused)
	r.Why, r.Blame = why.Error(), store.BlameNode
	var state *errState
	if errors.As(why, &state) && state.others || usersOwn(why) {
		r.Blame = store.BlameNobody
	}
	return r
}
