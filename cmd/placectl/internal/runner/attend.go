package runner

import (
	"bufio"
	"context"
	"os"
	"syscall"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/launch"
	"github.com/placectl/placectl/store"
	"golang.org/x/sys/unix"
)

// attendance looks after an attempt from its claim on, or from the moment that another keeper's was
// taken over, until nothing of it is left.
type attendance struct {
	*keeper
	slot  *slot
	turn  int    // in which it was claimed
	order *Order // nil for one that was taken over
	begun *begun
	group *cgroup       // nil for none
	held  chan Held     // what the database says of it
	pokes chan struct{} // it is time to look at the clock

	told     *os.File          // nil for one of an older version
	said     chan launch.Said  // what its warden says; closed with that
	launched *launch.Order     // to read what it says
	before   []launch.Said     // what it has said to another keeper
	warden   int               // its process number, 0 for one that is not known
	foreign  bool              // no warden reports on the command: it was killed
	failed   error             // why the command was not executed
	pid      int               // of the command, 0 before it begins
	use      store.ResourceUse // as the warden says

	signaled bool          // the signal before the end was sent
	stopped  store.Outcome // why it was told to terminate; store.OutcomeNone: it was not
	killAt   time.Duration // when those are killed who are left; 0: not yet known
	until    time.Duration // when they were to be killed first
	pause    time.Duration // between two attempts to kill
	why      string

	over     bool // the command has ended
	empty    bool // and the warden says that nothing of it is left
	known    bool // how, is known
	status   syscall.WaitStatus
	leftover int

	sent   int // how many of the signals that it was to send it has sent here
	result *store.Result
}

// tell hands on the database's latest word, replacing earlier ones.
func (a *attendance) tell(h Held) {
	select {
	case <-a.held:
	default:
	}
	a.held <- h // the keeper alone tells
}

// wake has it look at the clock.
func (a *attendance) wake() {
	select {
	case a.pokes <- struct{}{}:
	default:
	}
}

// listen opens the pipe that the warden writes to.
func (a *attendance) listen() (err error) {
	a.told, err = a.slot.root.OpenFile(toldFile, os.O_RDONLY|unix.O_NONBLOCK, 0)
	return err
}

// hear hands on what the warden writes until it is gone.
func (a *attendance) hear(from *os.File, said chan<- launch.Said) {
	defer close(said)
	defer from.Close()
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 256), 4096)
	for lines.Scan() {
		if text, whole := launch.Unsealed(lines.Text()); whole {
			if s, ok := a.launched.Heard(text); ok {
				said <- s
			}
		}
	}
}

// attend waits for the command's end, ends it where it has to end, and everything that it
// left behind.
func (a *attendance) attend() *store.Result {
	ctx := context.Background()
	defer func() {
		if a.until == 0 {
			if a.until = a.killAt; a.until == 0 {
				a.until = bootClock() + a.begun.Grace
			}
		}
	}()
	if a.told != nil {
		a.said = make(chan launch.Said, 1)
		for _, s := range a.before {
			a.note(s)
		}
		go a.hear(a.told, a.said)
	}
	var ended chan ending
	memory := a.memoryTicks()
	defer memory.Stop()
	if a.foreign {
		ended = a.awaitForeign()
	}
	late := time.NewTimer(openFor)
	defer late.Stop()
	alarm := time.NewTimer(max(a.next()-bootClock(), 0))
	defer alarm.Stop()
	for !a.over || a.left() {
		if a.over && a.killAt == 0 {
			a.dismiss()
		}
		held := a.held
		if alarm.Reset(max(a.next()-bootClock(), 0)); a.pid == 0 && !a.over {
			held = nil // there is nothing yet that could be told to stop
			alarm.Stop()
		}
		select {
		case s, more := <-a.said:
			if a.note(s); !more {
				if a.said = nil; !a.empty {
					if a.pid == 0 {
						return a.unbegun()
					}
					a.foreign, ended = true, a.awaitForeign() // its warden was killed
				}
			}
		case e := <-ended:
			if ended = nil; !a.over {
				a.over, a.known, a.status = true, e.known, e.status
			}
		case h := <-held:
			a.hearHeld(ctx, h)
		case <-memory.C:
			a.lookAtMemory()
		case <-a.pokes:
		case <-late.C:
			if a.pid == 0 && !a.over {
				return a.giveUp()
			}
		case <-alarm.C:
			a.due(ctx)
		}
	}
	if a.said != nil { // the warden ends now
		for s := range a.said {
			a.note(s)
		}
	}
	return a.outcome()
}

// note records a report of the warden.
func (a *attendance) note(s launch.Said) {
	switch {
	case s.Warden != 0:
		a.warden = s.Warden
		a.at("warden")
	case s.Begins != 0:
		a.pid = s.Begins
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
func (a *attendance) awaitForeign() chan ending {
	ended := make(chan ending, 1)
	if a.over {
		return nil
	}
	p := a.begun.Process
	if p.PID == 0 {
		p = a.self
		p.PID = a.pid
		s, err := statOf(a.pid)
		if err != nil || !tokensOf(a.slot.nonce).has(a.pid) {
			ended <- ending{pid: a.pid}
			return ended
		}
		p.Born = s.born
	}
	a.begun.Process = p
	go func() { ended <- awaitOther(p) }()
	return ended
}

// unbegun is the result of an attempt whose warden has ended before it has begun the command.
func (a *attendance) unbegun() *store.Result {
	if a.failed != nil {
		return a.notExecuted(a.failed)
	}
	return a.resultOf(store.OutcomeUnbegun)
}

// giveUp ends an attempt that has not begun for long. The gate hangs, or the directory of the
// command cannot be entered.
func (a *attendance) giveUp() *store.Result {
	if a.warden == 0 {
		if err := a.gate.Renew(); err != nil {
			a.notef("%v", err)
		}
	} else {
		sweep(func(fn func(pid int)) {
			eachDescendant(a.warden, fn)
			fn(a.warden)
		})
	}
	for s := range a.said {
		if a.note(s); a.pid != 0 { // it has begun after all
			return a.attendLate()
		}
	}
	return a.refused(errHangs, store.BlameNode)
}

// attendLate goes on with a command that has begun while it was given up: it was killed.
func (a *attendance) attendLate() *store.Result {
	for s := range a.said {
		a.note(s)
	}
	return a.outcome()
}

// left reports whether processes of the attempt are left. Its warden knows it of all that descends
// from it, and misses none: a list of /proc misses those whose parents end meanwhile.
func (a *attendance) left() bool {
	if !a.foreign {
		return !a.empty || len(a.group.tasks()) > 0
	}
	return some(a.eachTask())
}

// dismiss tells the processes to terminate that the command has left behind.
func (a *attendance) dismiss() {
	a.leftover = len(a.tasks())
	a.killAt = bootClock() + a.begun.Grace
	a.until = a.killAt
	a.signal(syscall.SIGTERM)
}

// hearHeld obeys the database's word on the attempt.
func (a *attendance) hearHeld(ctx context.Context, h Held) {
	was := a.begun.End
	if a.begun.End = bootClock() + h.Left; h.Ending {
		if h.Left == 0 && h.Process.PID == 0 {
			a.begun.End = was // only that it has to stop is known
		}
		a.stop(store.OutcomeStopped, "")
		if a.begun.End < was-time.Second && a.killAt != 0 {
			// The rule by which it makes way may have a grace of its own. If the job is told late,
			// it still gets a second, if its own grace is as long.
			a.killAt = max(a.begun.End, bootClock()+min(a.begun.Grace, time.Second))
		}
	}
	if len(h.Signals) > 0 {
		a.sendSignals(ctx, &h)
	}
}

// next is the next moment at which there is something to do.
func (a *attendance) next() time.Duration {
	switch {
	case a.killAt != 0:
		return a.killAt
	case a.begun.Signal != 0 && !a.signaled && a.begun.Before > 0:
		return min(a.begun.End, a.begun.End-a.begun.Before)
	}
	return a.begun.End
}

// due does everything that is due by now.
func (a *attendance) due(ctx context.Context) {
	now := bootClock()
	if now < a.next() {
		return // it was set again in the meantime
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
	case a.stopped != store.OutcomeNone || now < a.next():
	case now >= a.begun.End:
		a.stop(store.OutcomeWalltime, "its walltime was over")
	default:
		a.signaled = true
		if sig := syscall.Signal(a.begun.Signal); a.begun.First {
			syscall.Kill(a.pid, sig) //nolint:errcheck // it may have ended
		} else {
			a.asked(sig)
		}
	}
}

// askFor is how long the database may take to say whether the end was put off.
const askFor = 10 * time.Second

// ask asks the database for the end: it may have been put off since. While it cannot be
// asked the last end counts.
func (a *attendance) ask(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	h, err := a.DB.Held(ctx, a.slot.Key, a.slot.nonce, a.slot.epoch())
	if settled(err) && err != nil {
		a.stop(store.OutcomeStopped, "the job has gone on without it")
		return
	}
	if err != nil {
		a.notef("%s: %v", a.slot.Key, err)
		return
	}
	h.Signals = nil // those are sent at the next look
	a.hearHeld(ctx, *h)
}

// stop tells the command to terminate. After the grace what is left is killed.
func (a *attendance) stop(why store.Outcome, text string) {
	if a.stopped != store.OutcomeNone || a.over {
		return
	}
	a.stopped, a.why = why, text
	a.killAt = bootClock() + a.begun.Grace
	a.slot.add(&line{Stopping: &stopping{why, text, a.killAt}}) //nolint:errcheck // it is for the next keeper
	a.signal(syscall.SIGTERM)
}

// outcome is what came of the attempt.
func (a *attendance) outcome() *store.Result {
	if a.failed != nil {
		r := a.notExecuted(a.failed)
		r.Use = a.used()
		return r
	}
	r := a.resultOf(store.OutcomeExited)
	r.Why = a.why
	r.Use = a.used()
	r.Use.Leftover = a.leftover
	switch {
	case a.pid == 0 && a.begun.PID == 0:
		r.Outcome, r.Use = store.OutcomeUnbegun, store.ResourceUse{}
		return r
	case !a.known:
		r.Outcome, r.Why = store.OutcomeLost, "its supervisor was killed, so how it ended is unknown"
	case a.status.Signaled():
		r.Outcome, r.Signal = store.OutcomeSignal, int(a.status.Signal())
		r.Exit = 128 + r.Signal
	default:
		r.Exit = a.status.ExitStatus()
	}
	if a.stopped != store.OutcomeNone {
		r.Outcome = a.stopped
	} else if why := a.group.exceeded(); why != "" && r.Exit != 0 {
		r.Outcome, r.Why = store.OutcomeOOM, why
	}
	return r
}
