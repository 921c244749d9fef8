package session

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/asked"
	"github.com/placectl/placectl/cmd/placectl/internal/attend"
	"github.com/placectl/placectl/cmd/placectl/internal/daily"
	"github.com/placectl/placectl/cmd/placectl/internal/launch"
	"github.com/placectl/placectl/cmd/placectl/internal/payload"
	"github.com/placectl/placectl/cmd/placectl/internal/people"
	attempts "github.com/placectl/placectl/cmd/placectl/internal/runner"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/store"
)

// StartVariable overrides the setting start if it is "manual": then commands leave no process
// behind.
const StartVariable = "PLACECTL_START"

// leaving is an attendant that a command leaves behind.
type leaving struct {
	asked.Attends
	ring    bool                // the command has changed something
	prepare func() *preparation // runs once
}

// preparation is what a command does for its attendant beside its commit, while the disk works. It
// takes no step of package attend, and a process that it has started waits for them.
type preparation struct {
	attend.Place
	lock           *attend.Lock    // open, but not held
	last           attend.Record   // of the process that held it last
	lives, stopped bool            // that process
	child          *launch.Waiting // the attendant, nil if one seems to run
	err            error           // lock could not be opened
}

// NoteLeaving decides, within a transaction, whether the command should leave an attendant
// behind: start is auto, and there is something to do. A command that changes something prepares that.
func (r *Run) NoteLeaving(tx *store.Tx, changes bool) error {
	if !r.mayLeave(changes) {
		return nil
	}
	is, err := wantsAttendant(tx, r.IsFront)
	r.leaveBehind(is, changes)
	if changes && r.leaving != nil && runtime.GOMAXPROCS(0) > 1 { // on one core the process would delay the commit
		go r.leaving.prepare()
	}
	return err
}

// mayLeave reports whether this command may leave an attendant behind.
func (r *Run) mayLeave(changes bool) bool {
	return r.Getenv(StartVariable) != store.StartManual && r.Now.IsZero() && !r.OverSSH() && r.Verb != nil && r.Verb.Stays == "" && (changes || r.Verb.Revives)
}

// leaveBehind notes that the command should leave an attendant behind if the database wants one.
func (r *Run) leaveBehind(is *asked.Attends, changes bool) {
	if l := r.leaving; l != nil && is != nil && l.Attends == *is {
		return // the transaction runs again
	}
	r.stay()
	if is != nil {
		now := r.Env.Clock()
		r.leaving = &leaving{*is, changes, sync.OnceValue(func() *preparation { return r.prepare(is, now) })}
	}
}

// stay undoes leaveBehind.
func (r *Run) stay() {
	if l := r.leaving; l != nil {
		r.leaving = nil
		l.prepare().drop()
	}
}

// prepare opens the lock, and starts an attendant if none seems to run. It must not use what the verb
// changes in r.
func (r *Run) prepare(is *asked.Attends, now time.Time) *preparation {
	p := &preparation{Place: r.AttendPlace(is.StateDir)}
	if p.lock, p.err = p.Open(); p.err != nil {
		return p
	}
	p.last = p.lock.Read()
	if p.last.PID != 0 {
		p.lives, p.stopped = attempts.Look(p.last.PID, p.last.Born)
	}
	if !p.lives && p.last.Paused(now) == 0 && !attempts.InJob(r.Getenv) {
		p.child, _ = r.startAttendant(is.Path, p.lock) //nolint:errcheck // leave tries once more
	}
	return p
}

// drop closes the lock, and ends a process that was not let go on.
func (p *preparation) drop() {
	p.child.Drop()
	if p.lock != nil {
		p.lock.Close()
	}
}

// wantsAttendant returns what a database says about the attendant that a command should leave
// behind. It returns nil if the database needs none, or if commands must not leave one.
func wantsAttendant(tx *store.Tx, front bool) (*asked.Attends, error) {
	settings, err := tx.Config().Settings()
	if err != nil {
		return nil, err
	}
	auto := settings.Start == store.StartAuto || settings.Start == "" && front
	if !auto || settings.Launch == store.LaunchExec {
		return nil, nil
	}
	pending, err := tx.Cycle().Pending()
	if err != nil || !pending {
		return nil, err
	}
	if id, err := tx.Identity(); err != nil || id.AnyTime {
		return nil, err
	}
	return &asked.Attends{StateDir: settings.StateDir, Path: settings.Path}, nil
}

// noteMade is NoteLeaving for a verb that has made a database, which may hold waiting jobs.
func (r *Run) noteMade() {
	if r.Verb != nil && r.Verb.Access == verbs.Makes && r.Tx == nil {
		r.View(func(tx *store.Tx) error { return r.NoteLeaving(tx, true) }) //nolint:errcheck // the next command finds the same
	}
}

// AttendPlace returns the place of the attendant of this user and database. stateDir is the setting
// state_dir, "" for the default.
func (r *Run) AttendPlace(stateDir string) attend.Place {
	return attend.At(cmp.Or(stateDir, attempts.DefaultState(os.Getuid())), r.DatabasePath())
}

// Leave leaves an attendant behind once the answer is out. A failure undoes nothing: the next
// command tries again.
func (r *Run) Leave() {
	l := r.leaving
	if l == nil {
		return
	}
	r.left, r.leftAt = &l.Attends, r.Env.Clock()
	if l.ring {
		l.prepare().KeepAgent(r.Getenv("SSH_AUTH_SOCK"))
	}
	err := r.leave(func(p *preparation, lock *attend.Lock) (asked bool, err error) {
		if lock.IsSecond() && !r.IsFront {
			r.Notef("process %d, which runs the queue, is stopped: another one does now", p.Read().PID)
		}
		return attempts.AskForAttendant(r.Getenv)
	})
	if err != nil {
		r.Debugf("no process runs the queue: %v", err)
	}
}

// Summon wakes the attendant, or starts one if there is something to do. It is for processes that
// report the ends of jobs.
func (r *Run) Summon() error {
	if err := r.ViewOnce(func(tx *store.Tx) error { return r.NoteLeaving(tx, true) }); err != nil || r.leaving == nil {
		return err
	}
	return r.leave(func(*preparation, *attend.Lock) (bool, error) { return false, nil })
}

// leave takes the steps of package attend. If no attendant runs and ask asks no other process for one,
// leave starts it, or lets the one that was started go on.
func (r *Run) leave(ask func(*preparation, *attend.Lock) (asked bool, err error)) error {
	l, p := r.leaving, r.leaving.prepare()
	r.leaving = nil
	defer p.drop()
	if p.err != nil {
		return p.err
	}
	look := func(pid int, born uint64) (lives, stopped bool) {
		if lives = p.lives && pid == p.last.PID && born == p.last.Born; lives {
			p.lives = false // look anew the next time
			return true, p.stopped
		}
		return attempts.Look(pid, born)
	}
	return p.lock.Leave(l.ring, r.Env.Clock(), look, func(lock *attend.Lock) (err error) {
		if asked, err := ask(p, lock); asked || err != nil {
			return err
		}
		if lock != p.lock || p.child == nil {
			p.child.Drop()
			if p.child, err = r.startAttendant(l.Path, lock); err != nil {
				return err
			}
		}
		return errors.Join(lock.Hold(p.child.PID, 0, r.Env.Clock()), p.child.Go()) // the attendant notes itself later
	})
}

// leaveAgain restarts the attendant that this command has left behind if it has ended. It looks
// at most once a second.
func (r *Run) leaveAgain() {
	if r.left != nil && r.Env.Clock().Sub(r.leftAt) >= time.Second {
		r.leaveBehind(r.left, false)
		r.Leave()
	}
}

// startAttendant starts an attendant, which waits.
func (r *Run) startAttendant(path string, lock *attend.Lock) (*launch.Waiting, error) {
	words := []string{"placectl", "--db", r.DatabasePath(), "attend", "--quiet"}
	return launch.DetachWaiting(words, r.attendantEnviron(path), lock.File)
}

// attendantEnviron returns an attendant's environment. It takes next to nothing from ours, which
// may be that of a job.
func (r *Run) attendantEnviron(path string) []string {
	var env []string
	if r.AttendantKeeps != nil {
		env = r.AttendantKeeps() // if a variable occurs twice, the first counts
	}
	env = append(env, "PATH="+cmp.Or(path, "/usr/local/bin:/usr/bin:/bin"))
	name, home := people.System.Login(uint32(os.Getuid()))
	env = append(env, "HOME="+home, "LOGNAME="+name, "USER="+name)
	for _, name := range []string{"LANG", "TZ", "PLACECTL_TRUST", "PLACECTL_REPLICAS"} {
		if v := r.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// runsQueue tells users what to type if commands leave no process behind.
const runsQueue = "placectl work --cycle runs the queue"

// Attended says which process of this user runs the queue on this host. It returns nil if start
// is manual.
func (r *Run) Attended(tx *store.Tx) (*daily.Attended, error) {
	settings, err := tx.Config().Settings()
	if err != nil {
		return nil, err
	}
	place := r.AttendPlace(settings.StateDir)
	is := place.Read()
	lives, stopped := attempts.Look(is.PID, is.Born)
	switch {
	case is.PID != 0 && stopped:
		why, help := fmt.Sprintf("process %d is stopped", is.PID), fmt.Sprintf("kill -CONT %d lets it go on", is.PID)
		if is = place.Second().Read(); is.PID != 0 && attempts.Lives(is.PID, is.Born) {
			return &daily.Attended{PID: is.PID, Since: is.Since, Why: why + "; " + help}, nil
		}
		return &daily.Attended{Why: why, Help: help}, nil
	case is.PID != 0 && lives:
		return &daily.Attended{PID: is.PID, Since: is.Since}, nil
	case settings.Start != store.StartAuto:
		return nil, nil
	case is.Paused(r.Env.Clock()) > 0:
		return &daily.Attended{Why: fmt.Sprintf("the last process failed, %s; the next one comes in %v", is.Why, is.Paused(r.Env.Clock()).Round(time.Second)), Help: runsQueue}, nil
	case r.Getenv(StartVariable) == store.StartManual:
		return &daily.Attended{Why: StartVariable + " is manual", Help: runsQueue}, nil
	}
	return &daily.Attended{}, nil
}

// NoteLowered warns if the process that starts this user's jobs here has lower limits than the
// one that submitted a job. The job would get those lower limits, too.
func (r *Run) NoteLowered(tx *store.Tx, job *store.Job) error {
	if !job.State.Live() || job.State == store.JobRunning || job.Payload == (store.PayloadKey{}) {
		return nil
	}
	who, err := r.Attended(tx)
	if err != nil || who == nil || who.PID == 0 {
		return err
	}
	carried, err := tx.Jobs().Payload(job.ID)
	if err != nil || carried.Owner == nil || int(carried.Owner.UID) != os.Getuid() {
		return err
	}
	if list := payload.Lowered(who.PID, carried.Limits); len(list) > 0 {
		r.Notef("process %d, which starts it here, is kept lower, and so would the job be: %s; kill %d lets the next command start another", who.PID, strings.Join(list, "; "), who.PID)
	}
	return nil
}
