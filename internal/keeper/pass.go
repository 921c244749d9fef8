package keeper

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"time"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/launch"
	"golang.org/x/sys/unix"
)

// Passes makes passes. Any number of processes may do so at once.
type Passes struct {
	*Runner
	After func(*View) // called after each pass; may be nil
	// Cycle makes a cycle. If it is nil, passes find what others have started.
	Cycle func() (Cycled, error)
	Due   time.Time // when something begins or ends by the clock, the zero time for never
	Idle  func()    // called when there is nothing to do; returns at once; may be nil

	keeper    int            // pid of the keeper that this pass started, 0 for none
	children  chan os.Signal // signals that it may have ended
	seen      string         // the state of the database that the last pass saw
	startable Startable      // as the last cycle saw it
	behind    string         // the state of the database when the last cycle ended
	cycled    time.Time      // when the last cycle ended
	took      time.Duration  // how long the last cycle took
	turned    time.Time      // when the last turn ended
	over      error          // why no pass can do anything any more, as the last turn found
	trimmed   time.Time      // the end of the last cycle after which memory was returned
}

// Startable changes with each commit that may let something start or stop. A claim, a heartbeat and
// a cycle do not change it.
type Startable struct {
	Epoch   uint32 // a restored database counts anew
	Commits uint64
}

// Cycled is what a cycle tells the process that runs the queue.
type Cycled struct {
	Startable Startable // as it was when the cycle began
	Due       time.Time // when something begins or ends by the clock, the zero time for never
}

// NewPasses returns Passes for this process.
func (r *Runner) NewPasses() *Passes {
	p := &Passes{Runner: r, children: make(chan os.Signal, 1)}
	if !p.Guest {
		signal.Notify(p.children, unix.SIGCHLD)
	}
	return p
}

// Once makes a pass: it makes a keeper execute, stop or settle the attempts on this host. It goes on
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
	begun := p.begun(ctx, s, self.Boot)
	started := p.startFit(ctx, s, view) // of what is not in hand, even if that could not be told
	return errors.Join(begun, started)
}

// haveKept makes a keeper look at the database if it has something to do. It starts one if none runs.
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
	if lock == nil { // a keeper runs
		if lock, err = p.answering(s, wanted); lock == nil {
			return err
		}
	}
	if !wanted && !s.anyTaken(p.ID, p.Host) {
		s.tidy(p.Host) // a keeper may have been killed
		return lock.Close()
	}
	defer lock.Close() // the keeper holds it from its first instant
	p.at("starting")
	if p.Start != nil {
		return p.Start(lock)
	}
	p.keeper, err = launch.Detach(p.Words("keep"), os.Environ(), lock)
	return err
}

// wants reports whether a keeper has anything to do.
func (v *View) wants(self engine.Process) bool {
	return v.calls() || slices.ContainsFunc(v.Held, func(h Held) bool { return lifeOf(h.Process, self) == dead })
}

// calls reports whether a keeper that has been here before has anything to do.
func (v *View) calls() bool {
	return len(v.Unclaimed) > 0 || slices.ContainsFunc(v.Held, func(h Held) bool {
		return h.Ending || len(h.Signals) > 0
	})
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

// begun calls Started unless a pass of ours has done so since this host was started.
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

// none reports whether there is nothing to do.
func (v *View) none() bool { return len(v.Unclaimed) == 0 && len(v.Held) == 0 }

// hasState reports whether this host has a state directory for the database. Without one, nothing was
// ever executed here.
func (p *Passes) hasState() bool {
	dirs, err := filepath.Glob(p.StateDir + "/" + p.ID + ".*")
	return err != nil || len(dirs) > 0
}

// isDue reports whether something is due to begin or end by the clock.
func (p *Passes) isDue() bool { return !p.Due.IsZero() && !time.Now().Before(p.Due) }

// Wakes say when passes may have something to do.
type Wakes struct {
	Changed <-chan struct{} // the database may have changed; nil if the kernel does not tell
	Rung    <-chan struct{} // a command asks for a look at the database; nil for none
	Every   time.Duration   // how often to compare the database's state as well; 0: never
}

// Pauses between successive passes.
const (
	lookAgain   = 5 * time.Second       // between passes without any change: attempts can be left behind without one
	leastPause  = 20 * time.Millisecond // between turns
	mostPause   = 350 * time.Millisecond
	cycleAgain  = 10 * time.Second // between cycles after changes that let nothing start
	pauseFactor = 5                // times the duration of the last cycle, within those bounds
)

// Turn makes a pass, after a cycle if something may start or is due. Of several changes close together
// it answers the first at once, and the others together.
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
	if p.over = nil; isOver(err) {
		p.over = err
	} else if err != nil {
		p.notef("%v", err)
	}
	p.seen = stamp
}

// isOver reports whether an error lets no pass do anything any more.
func isOver(err error) bool {
	return errors.Is(err, engine.ErrCopy) || errors.Is(err, engine.ErrClosed)
}

// mayCycle reports whether a cycle may find something to do. Some work depends only on time or on
// processes, so after a while a cycle follows any other change, too.
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

// pauseBehind returns the pause after a cycle that took a given time.
func pauseBehind(took time.Duration) time.Duration {
	return min(max(pauseFactor*took, leastPause), mostPause)
}

// cycle makes a cycle, and looks at the database. seen is a state of the database that it has seen:
// the one it has left behind, unless a change meanwhile may let something start.
func (p *Passes) cycle(ctx context.Context) (seen string, v *View, err error) {
	began, before := time.Now(), p.Stamp()
	is, err := p.Cycle()
	if err != nil && !isOver(err) {
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

// dueBy notes when something begins or ends by the clock, perhaps as planned by another process.
func (p *Passes) dueBy(next time.Time) {
	if p.Cycle != nil && !next.IsZero() && (p.Due.IsZero() || next.Before(p.Due)) {
		p.Due = next
	}
}

// Wait waits until there may be something to do. It reports whether the database has changed, or a
// command or an attempt has called.
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
				p.trim()
			}
			return false
		case <-w.Rung:
			return true
		case <-p.children:
			if p.keeper != 0 {
				return false // the keeper has ended, or was killed
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

// Work makes passes until the context ends, or fails with engine.ErrCopy or engine.ErrClosed.
func (p *Passes) Work(ctx context.Context, w Wakes) error {
	s, err := openState(p.StateDir, p.ID, p.Epoch)
	if err != nil {
		return err
	}
	defer s.close()
	p.keepBeat(ctx, s)
	for ctx.Err() == nil {
		if p.Turn(ctx); p.over != nil {
			return p.over
		}
		p.Wait(ctx, w)
	}
	return ctx.Err()
}
