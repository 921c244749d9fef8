package keeper

import (
	"cmp"
	"context"
	"sync"
	"syscall"
	"time"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/gate"
)

// attendance follows an attempt from its claim, or from its takeover from another keeper, until
// nothing of it is left. It acts when there is news. In between it has no goroutine and no stack,
// because there may be thousands of attendances.
type attendance struct {
	*keeper
	slot  *slot
	turn  int    // the turn that claimed it
	order *Order // nil after a takeover
	retry retry  // of its report, once it was put off
	begun *begun
	group *cgroup // nil for none

	mu    sync.Mutex
	news  news
	acts  bool        // a goroutine acts on the news, or will
	alarm *time.Timer // calls wake when something is due

	told     int                // the pipe that its warden writes to; -1 for none, or closed
	launched *gate.Order        // for parsing the warden's reports
	before   []gate.Said        // the reports to an earlier keeper
	warden   int                // the warden's process number, 0 if unknown
	foreign  bool               // its warden was killed, so nothing reports on the command
	failed   error              // why the command was not executed
	pid      int                // of the command, 0 before it begins
	ready    time.Duration      // when a script has had the time to set a trap for the signal before the end
	born     uint64             // when it was started, if its warden was killed
	use      engine.ResourceUse // as reported by the warden

	word     *Held         // the database's latest answer, if not yet acted on
	lost     bool          // the database must be asked whether the job has gone on
	hangs    time.Duration // when to give up if the command has not begun
	gaveUp   bool
	looks    time.Duration  // when to read its memory next; 0: never
	signaled bool           // the signal before the end has been sent
	stopped  engine.Outcome // why it was told to terminate; engine.OutcomeNone: it was not
	killAt   time.Duration  // when to kill the processes that are left; 0: not yet known
	until    time.Duration  // when they were first due to be killed
	pause    time.Duration  // between two attempts to kill
	why      string

	over     bool // the command has ended
	empty    bool // the warden reports that nothing of it is left
	known    bool // how it ended is known
	status   syscall.WaitStatus
	leftover int

	sent   int // how many of the requested signals it has sent here
	result *engine.Result
}

// news is what an attendance has not yet acted on.
type news struct {
	any   bool        // it should act
	held  *Held       // the database's latest answer
	lost  bool        // the database no longer lists the attempt
	said  []gate.Said // the warden's reports
	gone  bool        // the warden has ended
	ended *ending     // the end of a command whose warden was killed
}

// hear adds to the news, and makes the attendance act.
func (a *attendance) hear(add func(*news)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	add(&a.news)
	if a.news.any = true; !a.acts {
		a.acts = true
		go a.act()
	}
}

// tell passes on the database's latest answer, which replaces earlier ones.
func (a *attendance) tell(h Held) { a.hear(func(n *news) { n.held = &h }) }

// wake makes the attendance look at the clock.
func (a *attendance) wake() { a.hear(func(*news) {}) }

// attend begins to follow the attempt.
func (a *attendance) attend() {
	a.hangs = bootClock() + openFor
	if a.begun.Polled && a.begun.Memory > 0 {
		a.looks = bootClock() + lookAtMemoryEvery
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.alarm = time.AfterFunc(openFor, a.wake)
	a.news.said, a.before, a.news.any = a.before, nil, true
	go a.act()
	if a.told >= 0 {
		a.ears.add(a.told, a)
	}
	if a.foreign {
		a.awaitForeign()
	}
}

// act acts until there is no more news, or until nothing of the attempt is left. Then it hands the
// attempt to the keeper, and is never called again.
func (a *attendance) act() {
	a.acting.RLock()
	defer a.acting.RUnlock()
	for !a.isLeft() {
		a.mu.Lock()
		n := a.news
		a.news = news{}
		if a.acts = n.any; !n.any {
			a.mu.Unlock()
			return
		}
		a.mu.Unlock()
		if result := a.see(&n); result != nil {
			a.alarm.Stop()
			a.group.remove()
			a.finish(result)
			return
		}
	}
}

// isLeft reports whether this process executes no more: the next keeper follows the attempt.
func (a *attendance) isLeft() bool {
	if a.keeper.left.Err() == nil {
		return false
	}
	a.alarm.Stop()
	return true
}

// see acts on news and on the clock. It returns the attempt's result once nothing of it is left.
func (a *attendance) see(n *news) *engine.Result {
	ctx := context.Background()
	for _, s := range n.said {
		a.note(s)
	}
	if n.gone {
		if a.told = -1; !a.empty {
			if a.pid == 0 {
				return a.unbegun()
			}
			a.foreign = true // its warden was killed
			a.awaitForeign()
		}
	}
	if e := n.ended; e != nil && !a.over {
		a.over, a.known, a.status = true, e.known, e.status
	}
	if n.held != nil {
		a.word = n.held
	}
	if a.lost = a.lost || n.lost; a.lost && a.pid != 0 {
		if a.lost = false; a.stopped == engine.OutcomeNone && !a.over {
			a.ask(ctx) // another file may be at the database's path for a moment
		}
	}
	if h := a.word; h != nil && (a.pid != 0 || a.over) { // before the command begins there is nothing to stop
		a.word = nil
		a.hearHeld(ctx, *h)
	}
	for {
		if a.over && !a.left() {
			if a.told >= 0 { // the warden is about to end
				return nil
			}
			if a.until == 0 {
				a.until = cmp.Or(a.killAt, bootClock()+a.begun.Grace)
			}
			return a.outcome()
		}
		if a.over && a.killAt == 0 {
			a.dismiss()
		}
		if wait := a.next() - bootClock(); wait > 0 {
			if a.over && a.foreign {
				wait = min(wait, a.untilLook())
			}
			a.alarm.Reset(wait)
			return nil
		}
		a.due(ctx)
	}
}

// untilLook returns the pause before the next look whether processes are left, if no warden reports
// that. It grows with the time waited, because a look reads the environment of every process.
func (a *attendance) untilLook() time.Duration {
	dismissed := a.killAt - a.begun.Grace
	return max((bootClock()-dismissed)/10, 100*time.Millisecond)
}

// note records a report of the warden.
func (a *attendance) note(s gate.Said) {
	switch {
	case s.Warden != 0:
		a.warden = s.Warden
		a.at("warden")
	case s.Begins != 0:
		a.pid, a.ready = s.Begins, bootClock()+beginsIn
		a.at("executed")
		a.begun.confined(a.group)
	case s.Failed != nil:
		a.failed = s.Failed
	case s.Ended:
		a.over, a.known, a.status, a.empty = true, true, s.Status, s.Empty
		a.use.CPUUser, a.use.CPUSystem, a.use.MaxRSS = s.User, s.System, s.MaxRSS
	}
}

// awaitForeign waits for the command whose warden was killed.
func (a *attendance) awaitForeign() {
	if a.over {
		return
	}
	s, err := statOf(a.pid)
	if err != nil || !tokensOf(a.slot.nonce).hasCommand(a.pid) {
		a.over = true
		return
	}
	pid := a.pid
	a.born = s.born
	go func() {
		e := awaitOther(pid, s.born)
		a.hear(func(n *news) { n.ended = &e })
	}()
}

// giveUp ends an attempt that has not begun for long: the gate hangs, or the command's directory cannot
// be entered. What its warden has reported by its end still counts.
func (a *attendance) giveUp() {
	a.gaveUp, a.hangs = true, bootClock()+openFor
	if a.warden == 0 {
		if err := a.gate.Renew(); err != nil {
			a.notef("%v", err)
		}
		return
	}
	sweep(func(fn func(pid int)) {
		eachDescendant(a.warden, fn)
		fn(a.warden)
	})
}

// left reports whether processes of the attempt are left. The warden knows that of all its
// descendants, and misses none. A scan of /proc misses those whose parents end meanwhile.
func (a *attendance) left() bool {
	if !a.foreign {
		return !a.empty || len(a.group.tasks()) > 0
	}
	return some(a.eachTask())
}

// dismiss tells processes that the command has left behind to terminate.
func (a *attendance) dismiss() {
	a.leftover = len(a.tasks())
	a.killAt = bootClock() + a.begun.Grace
	a.until = a.killAt
	a.signal(syscall.SIGTERM)
}

// hearHeld follows the database's answer on the attempt.
func (a *attendance) hearHeld(ctx context.Context, h Held) {
	was := a.begun.End
	if a.begun.End = bootClock() + h.Left; h.Ending {
		if h.Left == 0 && h.Process.PID == 0 {
			a.begun.End = was // the answer says only that it must stop
		}
		a.stop(engine.OutcomeStopped, "")
		if a.begun.End < was-time.Second && a.killAt != 0 {
			// The rule that stops the job may have a grace of its own. A job that is told late still
			// gets a second, if its own grace is that long.
			a.killAt = max(a.begun.End, bootClock()+min(a.begun.Grace, time.Second))
		}
	}
	if len(h.Signals) > 0 {
		a.sendSignals(ctx, &h)
	}
}

// beginsIn is how long a command runs before it gets the signal before its end, however early that is due:
// without it the signal ends a script whose first line would set a trap for it.
const beginsIn = time.Second

// next returns when there is next something to do, by the boot clock.
func (a *attendance) next() (at time.Duration) {
	switch {
	case a.pid == 0 && !a.over:
		return a.hangs
	case a.killAt != 0:
		at = a.killAt
	case a.begun.Signal != 0 && !a.signaled && a.begun.Before > 0:
		at = min(a.begun.End, max(a.begun.End-a.begun.Before, a.ready))
	default:
		at = a.begun.End
	}
	if a.looks != 0 {
		at = min(at, a.looks)
	}
	return at
}

// due does everything that is due.
func (a *attendance) due(ctx context.Context) {
	now := bootClock()
	if a.pid == 0 && !a.over {
		a.giveUp()
		return
	}
	if a.looks != 0 && now >= a.looks {
		a.looks = now + lookAtMemoryEvery
		a.lookAtMemory()
		return
	}
	if a.killAt != 0 {
		if a.pause == 0 {
			a.until = a.killAt
		}
		a.group.kill()
		a.pause = pauseAfter(sweep(a.eachTask()), a.pause)
		a.killAt = bootClock() + a.pause
		return
	}
	a.ask(ctx)
	switch now = bootClock(); {
	case a.killAt != 0 || now < a.next():
	case now >= a.begun.End:
		a.stop(engine.OutcomeWalltime, "its walltime was over")
	default:
		a.signaled = true
		if sig := syscall.Signal(a.begun.Signal); a.begun.First {
			syscall.Kill(a.pid, sig) //nolint:errcheck // it may have ended
		} else {
			a.asked(sig)
		}
	}
}

// askFor bounds how long the database may take to say whether the end was postponed.
const askFor = 10 * time.Second

// ask asks the database for the end, which may have been postponed. If the database does not answer,
// the last known end counts.
func (a *attendance) ask(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	h, err := a.DB.Held(ctx, a.slot.Key, a.slot.nonce, a.slot.epoch())
	if Settled(err) && err != nil {
		a.stop(engine.OutcomeStopped, "the job has gone on without it")
		return
	}
	if err != nil {
		a.notef("%s: %v", a.slot.Key, err)
		return
	}
	h.Signals = nil // the next look sends them
	a.hearHeld(ctx, *h)
}

// stop tells the command to terminate. After the grace, remaining processes are killed. If the command has ended and
// its warden has yet to say so, as after this process or the warden was stopped, its own end counts.
func (a *attendance) stop(why engine.Outcome, text string) {
	if a.killAt != 0 || a.over {
		return
	}
	if !Lives(a.pid, a.born) {
		a.dismiss()
		return
	}
	a.stopped, a.why = why, text
	a.killAt = bootClock() + a.begun.Grace
	a.slot.add(&line{Stopping: &stopping{why, text, a.killAt}}) //nolint:errcheck // the line only serves a later keeper
	a.signal(syscall.SIGTERM)
}
