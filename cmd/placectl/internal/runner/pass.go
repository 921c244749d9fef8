package runner

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
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
	Cycle func() (Cycled, error)
	Due   time.Time // when something begins or ends by the clock, the zero time for never
	Idle  func()    // called when there is nothing to do; it returns at once; may be nil

	keeper    int            // pid of the keeper that this pass started, 0 for none
	children  chan os.Signal // tells that it may have ended
	seen      string         // the state of the database that the last pass saw
	startable Startable      // seen by the last cycle
	behind    string         // the state of the database when it had ended
	cycled    time.Time      // when it ended
	took      time.Duration  // how long it took
	turned    time.Time      // when the last turn ended
	trimmed   time.Time      // the cycle whose memory was given back last: when it ended
}

// Startable changes with each commit that may let something start or stop. A claim, a beat and
// a cycle leave it as it is.
type Startable struct {
	Epoch   uint32 // a restored database counts again
	Commits uint64
}

// Cycled is what a cycle says to the process that looks after the queue.
type Cycled struct {
	Startable Startable // as it was when the cycle began
	Due       time.Time // when something begins or ends by the clock, the zero time for never
}

// NewPasses is for passes by this process.
func (r *Runner) NewPasses() *Passes {
	p := &Passes{Runner: r, children: make(chan os.Signal, 1)}
	signal.Notify(p.children, unix.SIGCHLD)
	return p
}

// Once makes a pass: it has a keeper execute, stop or settle the attempts on this host. It goes on
// after failures and returns them all.
func (p *Passes) Once(ctx context.Context) error {
	view, err := p.DB.Look(ctx)
	if err != nil {
		return err
	}
	return p.seenTo(ctx, view)
}

func (p *Passes) seenTo(ctx context.Context, view *View) error {
	if p.keeper != 0 && launch.HasEnded(p.keeper) {
		p.keeper = 0
	}
	p.dueBy(view.Next)
	err := p.pass(ctx, view)
	if p.After != nil {
		p.After(view)
	}
	return err
}

// pass does the work in view.
func (p *Passes) pass(ctx context.Context, view *View) error {
	self, err := Self(p.Host)
	if err != nil {
		return err
	}
	if view.none() && !p.hasState() {
		return nil
	}
	s, err := openState(p.StateDir, p.ID, p.Epoch)
	if err != nil {
		failed := []error{err}
		for _, k := range view.Unclaimed {
			failed = append(failed, p.refuseUnclaimed(ctx, k, *refusedFor(k, err)))
		}
		return errors.Join(failed...)
	}
	defer s.close()
	return errors.Join(p.begun(ctx, s, self.Boot), p.startFit(ctx, s, view))
}

// haveKept has a keeper look at the database, if there is something for it to do. It starts one if
// there is none.
func (p *Passes) haveKept(s *state, v *View) error {
	self, err := Self(p.Host)
	if err != nil {
		return err
	}
	wanted := v.wants(self)
	lock, err := s.tryLock(keeperName(p.Host))
	if err != nil {
		return err
	}
	if lock == nil { // there is one
		if wanted {
			ringBell(s.epoch, bellName(p.Host))
		}
		return nil
	}
	if !wanted && !s.anyTaken(p.ID, p.Host) {
		s.epoch.Remove(keeperName(p.Host)) //nolint:errcheck // an empty lock file does no harm
		return lock.Close()
	}
	defer lock.Close() // the keeper has it from its first instant on
	p.at("starting")
	p.keeper, err = launch.Detach(p.Words("keep"), os.Environ(), lock)
	return err
}

// wants reports whether there is anything to do for a keeper.
func (v *View) wants(self store.Process) bool {
	return v.calls() || slices.ContainsFunc(v.Held, func(h Held) bool { return lifeOf(h.Process, self) == dead })
}

// calls reports whether there is anything to do for a keeper that has been here before.
func (v *View) calls() bool {
	return len(v.Unclaimed) > 0 || slices.ContainsFunc(v.Held, func(h Held) bool { return h.Ending || len(h.Signals) > 0 })
}

// anyTaken reports whether attempts have slots, in any epoch.
func (s *state) anyTaken(id, host string) bool {
	names, err := s.epochs(id)
	for _, name := range names {
		epoch, err := s.top.OpenRoot(name)
		if err != nil {
			continue
		}
		in := &state{s.top, epoch, ""}
		slots, _ := in.slots(host)
		taken := slices.ContainsFunc(slots, in.isTaken)
		epoch.Close()
		if taken {
			return true
		}
	}
	return err != nil
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

// hasState reports whether anything of the database lies on this host: if nothing was ever executed
// here, there are no directories.
func (p *Passes) hasState() bool {
	dirs, err := filepath.Glob(p.StateDir + "/" + p.ID + ".*")
	return err != nil || len(dirs) > 0
}

// isDue reports whether something begins by the clock by now.
func (p *Passes) isDue() bool { return !p.Due.IsZero() && !time.Now().Before(p.Due) }

// Wakes tell when passes may have something to do.
type Wakes struct {
	Changed <-chan struct{} // the database may have; nil if the kernel does not tell
	Rung    <-chan struct{} // a command wants the database looked at; nil for none
	Every   time.Duration   // the state of the database is compared so often as well; 0: never
}

// Times of passes that are made one after the other.
const (
	lookAgain   = 5 * time.Second       // between two though nothing has changed: attempts can be left behind without that
	leastPause  = 20 * time.Millisecond // between two turns
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
	view, err := p.DB.Look(ctx)
	if p.Cycle != nil && (err != nil || p.mayCycle(stamp, view)) {
		if !sleep(ctx, time.Until(p.cycled.Add(pauseBehind(p.took)))) {
			return
		}
		stamp, view, err = p.cycle(ctx)
	}
	if err == nil {
		err = p.seenTo(ctx, view)
	}
	if err != nil {
		p.notef("%v", err)
	}
	p.seen = stamp
}

// mayCycle reports whether a cycle may find something to do. Some of it hangs on time alone, or
// on processes: so one is made after a while of other changes, too.
func (p *Passes) mayCycle(stamp string, v *View) bool {
	switch {
	case p.cycled.IsZero() || p.isDue():
		return true
	case stamp != p.behind && time.Since(p.cycled) >= cycleAgain:
		return true
	case stamp == p.seen:
		return false
	}
	return v.Startable != p.startable
}

// pauseBehind is the pause between a cycle that took so long and the next.
func pauseBehind(took time.Duration) time.Duration {
	return min(max(pauseFactor*took, leastPause), mostPause)
}

// cycle makes a cycle, and looks at the database. It returns a state of the database that it has
// seen, too: that which it has left behind, unless something has come meanwhile that may start.
func (p *Passes) cycle(ctx context.Context) (seen string, v *View, err error) {
	began, before := time.Now(), p.Stamp()
	is, err := p.Cycle()
	if err != nil {
		p.notef("%v", err)
	}
	p.took, p.cycled = time.Since(began), time.Now()
	seen = p.Stamp()
	if v, err = p.DB.Look(ctx); err != nil || v.Startable != is.Startable {
		seen = before
	}
	p.startable, p.Due, p.behind = is.Startable, is.Due, seen
	return seen, v, err
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
	if !p.Due.IsZero() {
		most = min(most, max(time.Until(p.Due), 0))
	}
	if p.Idle != nil {
		p.Idle()
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
			if p.trimmed != p.cycled && time.Since(p.cycled) > trimAfter {
				p.trimmed = p.cycled
				trim()
			}
			return false
		case <-w.Rung:
			return true
		case <-p.children:
			if p.keeper != 0 {
				return false // it has ended, or was killed
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
