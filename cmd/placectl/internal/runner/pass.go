package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/launch"
	"github.com/placectl/placectl/store"
	"golang.org/x/sys/unix"
)

// Passes makes passes: any number of processes may, at once.
type Passes struct {
	*Runner
	After func(*View) // called behind each pass; may be nil
	// Cycle makes a cycle; nil: passes find what others have started.
	Cycle     func() (Cycled, error)
	Startable func() (Startable, error) // for Cycle: what it would see now
	Due       time.Time                 // when something begins or ends by the clock, the zero time for never

	started   map[Key]*launch.Detached // supervisors that have not ended
	children  chan os.Signal           // tells that one may have ended
	seen      string                   // the state of the database that the last pass saw
	again     bool                     // it has left something for the next one
	startable Startable                // what the last cycle saw
	behind    string                   // the state of the database when it had ended
	cycled    time.Time                // when it ended
	took      time.Duration            // how long it took
	turned    time.Time                // when the last turn ended
}

// Startable changes with each commit that may let something start or stop. A claim, a beat and
// a cycle leave it as it is.
type Startable struct {
	Epoch   uint32 // a restored database counts anew
	Commits uint64
}

// Cycled is what a cycle says to the process that looks after the queue.
type Cycled struct {
	Startable Startable // as it was when the cycle began
	Due       time.Time // when something begins or ends by the clock, the zero time for never
}

// NewPasses is for passes by this process.
func (r *Runner) NewPasses() *Passes {
	p := &Passes{Runner: r, started: make(map[Key]*launch.Detached), children: make(chan os.Signal, 1)}
	signal.Notify(p.children, unix.SIGCHLD)
	return p
}

// Once makes a pass: on this host it settles what supervisors have left behind that are no
// more, delivers results, tells attempts to stop that are to, and starts a supervisor for
// each attempt that nobody has claimed. It goes on after failures and returns them all.
func (p *Passes) Once(ctx context.Context) error {
	p.forget()
	view, err := p.DB.Look(ctx)
	if err != nil {
		return err
	}
	p.dueBy(view.Next)
	err = p.pass(ctx, view)
	if p.After != nil {
		p.After(view)
	}
	return err
}

// pass does what there is to be done.
func (p *Passes) pass(ctx context.Context, view *View) error {
	self, err := Self(p.Host)
	if err != nil {
		return err
	}
	if view.none() && !p.hasState() {
		return nil
	}
	s, err := openState(p.StateDir, p.ID, p.Epoch)
	if err != nil { // supervisors refuse
		return errors.Join(err, p.start(view.Unclaimed, nil))
	}
	defer s.close()
	failed := []error{p.begun(ctx, s, self.Boot)}
	busy, nonces, err := p.settleAll(ctx, s, self)
	failed = append(failed, err)
	for _, h := range view.Held {
		if !nonces[h.Nonce] && !busy[h.Key] {
			failed = append(failed, p.settleLost(ctx, h, self))
		}
	}
	failed = append(failed, p.tellHeld(view, s), p.startFit(ctx, s, view, busy))
	return errors.Join(failed...)
}

// begun calls Started where no pass of ours has since this host was started.
func (p *Passes) begun(ctx context.Context, s *state, boot string) error {
	if p.Started == nil {
		return nil
	}
	f, err := s.epoch.OpenFile(beatFile, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	was := make([]byte, len(boot))
	if n, _ := f.ReadAt(was, bootAt); string(was[:n]) == boot {
		return nil
	}
	if err := p.Started(ctx); err != nil {
		return err
	}
	_, err = f.WriteAt([]byte(boot), bootAt)
	return err
}

// none reports whether there is nothing to be done.
func (v *View) none() bool { return len(v.Unclaimed) == 0 && len(v.Held) == 0 }

// hasState reports whether anything of the database lies on this host: who has never
// executed anything leaves no directories behind.
func (p *Passes) hasState() bool {
	dirs, err := filepath.Glob(p.StateDir + "/" + p.ID + ".*")
	return err != nil || len(dirs) > 0
}

// settleAll settles the directories of all epochs. It returns whom a directory of the
// present one stands for still, and the nonces of all that are left.
func (p *Passes) settleAll(ctx context.Context, s *state, self store.Process) (busy map[Key]bool, nonces map[store.Nonce]bool, err error) {
	busy, nonces = make(map[Key]bool), make(map[store.Nonce]bool)
	names, err := s.epochs(p.ID)
	if err != nil {
		return nil, nil, err
	}
	p.again = false
	var failed []error
	for _, name := range names {
		epoch, err := s.top.OpenRoot(name)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		in := &state{s.top, epoch, s.top.Name() + "/" + name}
		present := name == p.ID+"."+p.Epoch
		failed = append(failed, p.settleEpoch(ctx, in, self, present, busy, nonces))
		epoch.Close()
		if !present {
			s.removeEpoch(name)
		}
	}
	return busy, nonces, errors.Join(failed...)
}

func (p *Passes) settleEpoch(ctx context.Context, s *state, self store.Process, present bool, busy map[Key]bool, nonces map[store.Nonce]bool) error {
	keys, err := s.attempts()
	failed := []error{err}
	for _, k := range keys {
		d, err := s.lockDir(k, false)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if present {
			busy[k] = true
		}
		if err != nil {
			if errors.Is(err, errHeld) {
				if n, ok := s.nonce(k); ok {
					nonces[n] = true
				}
			} else {
				failed = append(failed, err)
			}
			continue
		}
		if j, err := d.journal(); err == nil && j != nil {
			nonces[j.Nonce] = true
		} else if err == nil {
			delete(busy, k)
		}
		adopt, err := p.settle(ctx, d, self)
		d.close()
		if err != nil {
			p.again = true
			failed = append(failed, fmt.Errorf("%s: %w", k, err))
		}
		if adopt {
			failed = append(failed, p.detach(k, "--adopt", strings.TrimPrefix(filepath.Base(s.path), p.ID+"."), k.String()))
		}
	}
	return errors.Join(failed...)
}

// nonce is that of a directory that somebody else has locked.
func (s *state) nonce(k Key) (store.Nonce, bool) {
	root, err := s.epoch.OpenRoot(k.String())
	if err != nil {
		return store.Nonce{}, false
	}
	defer root.Close()
	j, err := (&dir{Key: k, root: root}).journal()
	if err != nil || j == nil {
		return store.Nonce{}, false
	}
	return j.Nonce, true
}

// removeEpoch removes the directory of an epoch that is over, once no attempt is left.
func (s *state) removeEpoch(name string) {
	own := []string{beatFile, healthFile, unreachedFile}
	list, err := fs.ReadDir(s.top.FS(), name)
	if err != nil || slices.ContainsFunc(list, func(e fs.DirEntry) bool { return !slices.Contains(own, e.Name()) }) {
		return
	}
	for _, file := range own {
		s.top.Remove(name + "/" + file) //nolint:errcheck // the directory stays then
	}
	s.top.Remove(name) //nolint:errcheck // it was needed after all
}

// start starts supervisors for attempts, less those whose directory is somebody's.
func (p *Passes) start(attempts []Key, busy map[Key]bool) error {
	var failed []error
	for _, k := range attempts {
		if !busy[k] {
			failed = append(failed, p.detach(k, k.String()))
		}
	}
	return errors.Join(failed...)
}

// detach starts a supervisor, unless one of ours is at it.
func (p *Passes) detach(k Key, args ...string) error {
	if p.started[k] != nil {
		p.again = true
		return nil
	}
	p.at("starting")
	d, err := launch.Detach(p.Words("supervise", args...), os.Environ())
	if err != nil {
		return fmt.Errorf("%s: %w", k, err)
	}
	p.started[k] = d
	return nil
}

// forget forgets the supervisors that have ended.
func (p *Passes) forget() {
	for k, d := range p.started {
		if d.Ended() {
			delete(p.started, k)
		}
	}
}

// isDue reports whether something begins by the clock by now.
func (p *Passes) isDue() bool { return !p.Due.IsZero() && !time.Now().Before(p.Due) }

// Wakes tell when passes may have something to do.
type Wakes struct {
	Changed <-chan struct{} // the database may have; nil where the kernel does not tell
	Rung    <-chan struct{} // a command wants the database looked at; nil for none
	Every   time.Duration   // the state of the database is compared so often as well; 0: never
}

// Times of passes that are made one after the other.
const (
	lookAgain   = 5 * time.Second        // between two though nothing has changed: attempts can be left behind without that
	tryAgain    = 200 * time.Millisecond // after one that has left something to do
	leastPause  = 20 * time.Millisecond  // between two turns
	mostPause   = 350 * time.Millisecond
	cycleAgain  = 10 * time.Second // after one, if the database has changed, though nothing may start for that
	pauseFactor = 5                // as often as the last cycle took, within those bounds
)

// Turn makes a pass, behind a cycle if something may start or is due. One of several changes
// that come close together is answered at once, the others together.
func (p *Passes) Turn(ctx context.Context) {
	if !sleep(ctx, time.Until(p.turned.Add(leastPause))) {
		return
	}
	defer func() { p.turned = time.Now() }()
	stamp := p.Stamp()
	if p.Cycle != nil && p.mayCycle(stamp) {
		if !sleep(ctx, time.Until(p.cycled.Add(pauseBehind(p.took)))) {
			return
		}
		stamp = p.cycle()
	}
	if err := p.Once(ctx); err != nil {
		p.notef("%v", err)
	}
	p.seen = stamp
}

// mayCycle reports whether a cycle may find something to do. Some of it hangs on time alone, or
// on processes: so one is made after a while of other changes, too.
func (p *Passes) mayCycle(stamp string) bool {
	switch {
	case p.cycled.IsZero() || p.isDue():
		return true
	case stamp != p.behind && time.Since(p.cycled) >= cycleAgain:
		return true
	case stamp == p.seen:
		return false
	}
	return !p.isStartable(p.startable)
}

// pauseBehind is the pause between a cycle that took so long and the next.
func pauseBehind(took time.Duration) time.Duration {
	return min(max(pauseFactor*took, leastPause), mostPause)
}

// cycle makes a cycle. It returns a state of the database that it has seen: that which it has left
// behind, unless something has come meanwhile that may start.
func (p *Passes) cycle() (seen string) {
	began, before := time.Now(), p.Stamp()
	is, err := p.Cycle()
	if err != nil {
		p.notef("%v", err)
	}
	p.took = time.Since(began)
	if seen = p.Stamp(); !p.isStartable(is.Startable) {
		seen = before
	}
	p.startable, p.Due = is.Startable, is.Due
	p.behind, p.cycled = seen, time.Now()
	return seen
}

// isStartable reports whether a cycle would still see what another one has seen.
func (p *Passes) isStartable(was Startable) bool {
	is, err := p.Startable()
	return err == nil && is == was
}

// dueBy notes that something begins or ends by the clock, which another process may have planned.
func (p *Passes) dueBy(next time.Time) {
	if p.Cycle != nil && !next.IsZero() && (p.Due.IsZero() || next.Before(p.Due)) {
		p.Due = next
	}
}

// Wait waits until there may be something to do, and reports whether the database has
// changed, or a command or an attempt has said that there is.
func (p *Passes) Wait(ctx context.Context, w Wakes) (called bool) {
	most := lookAgain
	if p.again {
		most = tryAgain
	}
	if !p.Due.IsZero() {
		most = min(most, max(time.Until(p.Due), 0))
	}
	late := time.NewTimer(most)
	defer late.Stop()
	var look <-chan time.Time
	if w.Every > 0 {
		ticks := time.NewTicker(w.Every)
		defer ticks.Stop()
		look = ticks.C
	}
	for {
		select {
		case <-ctx.Done():
			return false
		case <-late.C:
			return false
		case <-w.Rung:
			return true
		case <-p.children:
			if len(p.started) > 0 {
				return true
			}
		case <-w.Changed:
			if p.Stamp() != p.seen {
				return true
			}
		case <-look:
			if p.Stamp() != p.seen {
				return true
			}
		}
	}
}

// Work makes passes until the context ends.
func (p *Passes) Work(ctx context.Context, w Wakes) error {
	s, err := openState(p.StateDir, p.ID, p.Epoch)
	if err != nil {
		return err
	}
	defer s.close()
	go p.keepBeat(ctx, s)
	for ctx.Err() == nil {
		p.Turn(ctx)
		p.Wait(ctx, w)
	}
	return ctx.Err()
}
