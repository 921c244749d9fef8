package runner

import (
	"context"
	"os"
	"syscall"
	"time"

	"github.com/placectl/placectl/store"
)

// attendance looks after a command from the moment that it is executed, by this process or
// by one that was killed, until nobody of it is left.
type attendance struct {
	*Runner
	dir   *dir
	nonce store.Nonce
	begun *begun
	group *cgroup // nil for none
	bell  *os.File
	ours  bool // the command is our child

	alarm    *alarm
	reaped   used
	signaled bool          // what was to be sent before the end was sent
	stopped  store.Outcome // why it was told to terminate; store.OutcomeNone: it was not
	killAt   time.Duration // when those are killed who are left; 0: not yet known
	until    time.Duration // when they were to be killed first
	pause    time.Duration // between two attempts to kill
	why      string

	over     bool // the command has ended
	empty    bool // it was our child, and we have none left
	known    bool // how, is known
	status   syscall.WaitStatus
	leftover int

	sent int // how many of the signals that it was to send it has sent here
}

// attend waits for the command's end, ends it where it has to end, and everybody whom it
// left behind.
func (a *attendance) attend(ctx context.Context) *store.Result {
	defer func() {
		if a.until == 0 {
			if a.until = a.killAt; a.until == 0 {
				a.until = bootClock() + a.begun.Grace
			}
		}
	}()
	alarm, err := newAlarm()
	if err != nil {
		a.notef("%s: %v", a.dir.Key, err)
		return a.result()
	}
	defer alarm.close()
	a.alarm = alarm
	ended, rung := a.watch(), ring(a.bell)
	memory := a.memoryTicks()
	defer memory.Stop()
	a.look(ctx)
	lasts := time.NewTimer(trimAfter)
	defer lasts.Stop()
	for !a.over || a.left() {
		if a.over && a.killAt == 0 {
			a.dismiss()
		}
		alarm.set(a.next())
		select {
		case e, more := <-ended:
			if a.noteEnd(e); !more {
				a.over, a.empty, ended = true, true, nil
			}
		case <-rung:
			a.look(ctx)
			a.summoned()
		case <-memory.C:
			a.lookAtMemory()
		case <-lasts.C:
			trim()
		case <-alarm.rings:
			a.due(ctx)
		}
	}
	return a.result()
}

// left reports whether processes of the attempt are left. Of our own children the kernel
// says it, and misses none: a list of /proc misses those whose parents end meanwhile.
func (a *attendance) left() bool {
	if a.ours {
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

// look looks whether somebody wants the attempt to stop.
func (a *attendance) look(ctx context.Context) {
	if a.dir.root.Remove(signalFile) == nil {
		a.sendSignals(ctx)
	}
	if !a.over && a.stopped == store.OutcomeNone && a.dir.has(stopFile) {
		a.stop(store.OutcomeStopped, "")
		a.ask(ctx) // until when it has its nodes
	}
}

// next is the next moment at which something is to be done.
func (a *attendance) next() time.Duration {
	switch {
	case a.killAt != 0:
		return a.killAt
	case a.begun.Signal != 0 && !a.signaled && a.begun.Before > 0:
		return min(a.begun.End, a.begun.End-a.begun.Before)
	}
	return a.begun.End
}

// due does what is to be done by now.
func (a *attendance) due(ctx context.Context) {
	now := bootClock()
	if now < a.next() {
		return // it was set anew in the meantime
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
			syscall.Kill(a.begun.PID, sig) //nolint:errcheck // it may have ended
		} else {
			a.signal(sig)
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
	h, err := a.DB.Held(ctx, a.dir.Key, a.nonce, a.dir.epoch())
	if settled(err) && err != nil {
		a.stop(store.OutcomeStopped, "the job has gone on without it")
		return
	}
	if err != nil {
		a.notef("%s: %v", a.dir.Key, err)
		return
	}
	defer trim()
	was := a.begun.End
	if a.begun.End = bootClock() + h.Left; h.Ending {
		a.stop(store.OutcomeStopped, "")
		if a.begun.End < was-time.Second {
			// The rule by which it makes way may have a grace of its own. Who is told late
			// has a second all the same, if it had as much by itself.
			a.killAt = max(a.begun.End, bootClock()+min(a.begun.Grace, time.Second))
		}
	}
}

// stop tells the command to terminate. After the grace who is left is killed.
func (a *attendance) stop(why store.Outcome, text string) {
	if a.stopped != store.OutcomeNone || a.over {
		return
	}
	a.stopped, a.why = why, text
	a.killAt = bootClock() + a.begun.Grace
	a.signal(syscall.SIGTERM)
}

// noteEnd notes that the command has ended.
func (a *attendance) noteEnd(e ending) {
	if e.pid == a.begun.PID && !a.over {
		a.over, a.empty, a.known, a.status = true, e.last, e.known, e.status
	}
}

// result is what came of the attempt.
func (a *attendance) result() *store.Result {
	r := a.dir.result(a.nonce, store.OutcomeExited)
	r.Log, r.Why = a.begun.Log, a.why
	r.Use = a.use()
	r.Use.Leftover = a.leftover
	switch {
	case !a.known && a.dir.has(gaveUpFile):
		r.Outcome = store.OutcomeUnbegun
		return r
	case !a.known:
		r.Outcome, r.Why = store.OutcomeLost, "its supervisor was killed, and nobody knows how it ended"
	case a.status.Signaled():
		r.Outcome, r.Signal = store.OutcomeSignal, int(a.status.Signal())
		r.Exit = 128 + r.Signal
	default:
		r.Exit = a.status.ExitStatus()
	}
	if a.known && a.dir.has(gaveUpFile) {
		return a.dir.result(a.nonce, store.OutcomeUnbegun)
	}
	if a.stopped != store.OutcomeNone {
		r.Outcome = a.stopped
	} else if why := a.group.exceeded(); why != "" && r.Exit != 0 {
		r.Outcome, r.Why = store.OutcomeOOM, why
	}
	return r
}
