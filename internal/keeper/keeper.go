package keeper

import (
	"context"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/gate"
	"golang.org/x/sys/unix"
)

// keeper executes this user's attempts from a database on this host, any number at once.
type keeper struct {
	*Runner
	state *state
	lock  *os.File
	self  engine.Process
	gate  gate.Gate
	opens chan opening // to the goroutines that open files for commands
	ears  *ears

	parent func() (string, error) // of control groups; computed once

	slots     []*slot // by number; nil if not open
	most      int     // the most attempts at once
	running   map[engine.Nonce]*attendance
	adopted   map[engine.Nonce]*attendance // those of running that this process has not claimed yet
	others    []*state                     // earlier epochs with adopted attempts
	locks     []*os.File                   // the locks of those epochs
	beside    bool                         // another file of this database executes attempts, or may
	unsettled []func() error               // retries for attempts that could not be taken over
	ended     chan *attendance
	left      context.Context // over when this process executes no more
	over      context.CancelFunc
	acting    sync.RWMutex // read-locked by goroutines that use slots

	untold    []*attendance // whose results the database has not accepted yet
	doubtful  []Again       // claims with an unknown outcome
	looking   bool          // there may be something to claim
	careful   bool          // reports are repeated alone, because a turn failed
	repeats   bool          // the last turn was for a report that was put off
	wait      time.Duration // the last pause before a retry
	again     time.Time     // when to retry
	since     time.Time     // since when the database has not accepted reports, the zero time if it has
	health    []string      // the program to ask before claiming anything
	distrusts bool          // that program must not run
	outdated  bool          // the database has a newer format
	seen      string        // the state of the database at the last look
	alive     time.Time     // when there was last something to do
	turns     int           // turns made so far
	turned    time.Time     // when the last turn ended
	took      time.Duration // how long the last turn took
}

// idleFor is how long a keeper stays without anything to do.
const idleFor = 10 * time.Second

// filesOfAttempt is the most files that an attempt has open. Two of them are directories that are
// emptied when it ends, while the next one begins. filesBesides are the keeper's other files.
const (
	filesOfAttempt = 6
	filesBesides   = 64
)

// Keep executes attempts until none is left for a while. It returns at once if another process does
// so. inherited is a file that this process was started with and that may be the lock, nil for none.
func (r *Runner) Keep(ctx context.Context, g gate.Gate, inherited *os.File) error {
	defer g.Close()
	if err := Executes(); err != nil {
		return err
	}
	self, err := Self(r.Host)
	if err != nil {
		return err
	}
	ears, err := newEars()
	if err != nil {
		return err
	}
	defer ears.close()
	k := &keeper{Runner: r, self: self, most: 1 << 20, gate: g, ears: ears, opens: make(chan opening),
		parent: sync.OnceValues(groupParent), running: make(map[engine.Nonce]*attendance),
		adopted: make(map[engine.Nonce]*attendance), ended: make(chan *attendance, 64)}
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
		k.left, k.over = context.WithCancel(context.Background())
		k.at("locked")
		noteKeeper(k.lock, self, k.Database)
		err := k.keep(ctx)
		removed := k.isRemoved() || k.outdated
		k.leave()
		// No change is overlooked: a process that found the lock taken had committed before this.
		if err != nil || removed || k.Stamp() == k.seen {
			return err
		}
		if view, err := k.DB.Look(ctx); err != nil || !view.calls() {
			return nil //nolint:nilerr // the next pass reports it, too
		}
	}
}

// keep runs the keeper's loop.
func (k *keeper) keep(ctx context.Context) error {
	bell, err := k.state.hangBell(bellName(k.Host))
	if err != nil {
		return err
	}
	defer bell.Close()
	rung := ring(bell)
	beat, stop := context.WithCancel(ctx)
	defer stop()
	k.keepBeat(beat, k.state)
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
		if k.careful && k.again.IsZero() {
			continue
		}
		var late <-chan time.Time
		if at := k.due(); !at.IsZero() {
			late = time.After(time.Until(at))
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
				k.summonAll()
			}
			k.look(ctx, true)
		case <-every.C:
			k.settleAgain()
			if trimmed != k.turns && time.Since(k.turned) > trimAfter {
				trimmed = k.turns
				k.trim()
			}
			k.look(ctx, false)
			// the host has slept, or the clock was set
			if now := bootClock() - time.Duration(time.Now().UnixNano()); now > slept+time.Second {
				for _, a := range k.running {
					a.wake()
				}
				slept = now
			}
		case <-idle:
		case <-late:
		case <-ctx.Done():
			return ctx.Err()
		}
		if len(k.running) > 0 || len(k.untold) > 0 {
			k.alive = time.Now()
		}
	}
}

// collect takes a and all other attempts that have ended by now.
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
	return (k.looking || slices.ContainsFunc(k.untold, func(a *attendance) bool { return !a.isPostponed() })) &&
		!k.isRemoved()
}

// isHealthy reports whether the site's program has recently found the host healthy, or is not asked.
func (k *keeper) isHealthy() bool {
	return len(k.health) == 0 || k.distrusts || k.wasHealthy(k.state, k.health)
}

// execute executes a claimed attempt.
func (k *keeper) execute(sl *slot, o *Order) {
	a := &attendance{keeper: k, slot: sl, turn: k.turns, order: o, told: -1, acts: true}
	k.running[sl.nonce] = a
	k.alive = time.Now()
	k.acting.RLock()
	go a.run()
}

// refuseLater queues the refusal of an attempt for which this host has no slot.
func (k *keeper) refuseLater(key Key, why error) {
	r := refusedFor(key, why)
	r.Epoch = k.Epoch
	k.untold = append(k.untold, &attendance{keeper: k, slot: &slot{Key: key}, result: r})
}

// summon starts an attendant of a database if none runs.
func (k *keeper) summon(database string) {
	if k.Summon == nil {
		return
	}
	if err := k.Summon(database); err != nil {
		k.notef("there is no queue runner: %v", err)
	}
}

func (r *Runner) notef(format string, args ...any) {
	if r.Note != nil {
		r.Note(format, args...)
	}
}
