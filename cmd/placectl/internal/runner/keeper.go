package runner

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/launch"
	"github.com/placectl/placectl/store"
	"golang.org/x/sys/unix"
)

// keeper executes the attempts of a database on this host for our user: any number at once.
type keeper struct {
	*Runner
	state *state
	lock  *os.File
	self  store.Process
	gate  *launch.Gate
	opens chan opening // to the goroutines that open files for commands
	ears  *ears

	parent func() (string, error) // of control groups; they are looked for once

	slots     []*slot // by number; nil for one that is not open
	most      int     // so many attempts at once
	running   map[store.Nonce]*attendance
	adopted   map[store.Nonce]*attendance // of those, the ones that are not yet claimed for this process
	others    []*state                    // earlier epochs, with attempts that were adopted
	locks     []*os.File                  // of those
	unsettled []func() error              // attempts that could not be taken over
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

// An attempt has so many files open at most, two of them directories that are emptied when it ends,
// while the next one begins. The keeper has so many besides.
const (
	filesOfAttempt = 6
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
		// Nothing is overlooked: a process that found the lock taken had committed before this.
		if err != nil || removed || k.Stamp() == k.seen {
			return err
		}
		if view, err := k.DB.Look(ctx); err != nil || !view.calls() {
			return nil //nolint:nilerr // the next pass says so, too
		}
	}
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
		k.untold = append(k.untold, a)
		select {
		case a = <-k.ended:
		default:
			return
		}
	}
}

// wants reports whether to claim attempts.
func (k *keeper) wants() bool {
	return (k.looking || len(k.untold) > 0) && !k.isRemoved()
}

// isHealthy reports whether the program has said so a short time ago, or is not asked.
func (k *keeper) isHealthy() bool {
	return len(k.health) == 0 || k.distrusts || k.wasHealthy(k.state, k.health)
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
		k.notef("no process runs the queue: %v", err)
	}
}

func (r *Runner) notef(format string, args ...any) {
	if r.Note != nil {
		r.Note(format, args...)
	}
}
