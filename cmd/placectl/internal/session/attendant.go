package session

import (
	"cmp"
	"fmt"
	"os"
	"strings"
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

// StartVariable overrides the setting start where it is manual: a command leaves no process
// behind.
const StartVariable = "PLACECTL_START"

// leaving is what a command has to know to leave an attendant behind.
type leaving struct {
	attend.Place
	path string // the setting path
	ring bool   // it has changed something
}

// NoteLeaving notes, within a transaction, whether the command is to leave an attendant
// behind: start is auto, and there is something to do.
func (r *Run) NoteLeaving(tx *store.Tx, changes bool) error {
	r.Leaving = nil
	if !r.mayLeave(changes) {
		return nil
	}
	is, err := wantsAttendant(tx, r.IsFront)
	r.leaveBehind(is, changes)
	return err
}

// mayLeave reports whether the command is one that leaves an attendant behind.
func (r *Run) mayLeave(changes bool) bool {
	return r.Getenv(StartVariable) != store.StartManual && r.Now.IsZero() && !r.OverSSH() && r.Verb != nil && r.Verb.Stays == "" && (changes || r.Verb.Revives)
}

// leaveBehind notes that the command is to leave an attendant behind, if the database wants one.
func (r *Run) leaveBehind(is *asked.Attends, changes bool) {
	if is != nil {
		r.Leaving = &leaving{Place: r.AttendPlace(is.StateDir), path: is.Path, ring: changes}
	}
}

// wantsAttendant is what a database says of an attendant that a command is to leave behind; nil: it
// needs none, or no command leaves one.
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

// noteMade is NoteLeaving for a verb that has made a database, which may hold jobs that wait.
func (r *Run) noteMade() {
	if r.Verb != nil && r.Verb.Access == verbs.Makes && r.Tx == nil {
		r.View(func(tx *store.Tx) error { return r.NoteLeaving(tx, true) }) //nolint:errcheck // the next command finds the same
	}
}

func (r *Run) AttendPlace(stateDir string) attend.Place {
	return attend.At(cmp.Or(stateDir, attempts.DefaultState(os.Getuid())), r.DatabasePath())
}

// Leave leaves an attendant behind, once the answer is out. If that fails nothing is taken
// back: the next command finds the same.
func (r *Run) Leave() {
	l := r.Leaving
	if l == nil {
		return
	}
	r.Leaving = nil
	r.left, r.leftAt = &leaving{Place: l.Place, path: l.path}, r.Env.Clock()
	if l.ring {
		l.KeepAgent(r.Getenv("SSH_AUTH_SOCK"))
	}
	err := l.Leave(l.ring, r.Env.Clock(), attempts.Look, func(lock *attend.Lock) error {
		if lock.IsSecond() && !r.IsFront {
			r.Notef("process %d, which runs the queue, is stopped: another one does now", l.Read().PID)
		}
		if asked, err := attempts.AskForAttendant(r.Getenv); asked || err != nil {
			return err
		}
		return r.StartAttendant(l, lock)
	})
	if err != nil {
		r.Debugf("no process runs the queue: %v", err)
	}
}

// leaveAgain leaves an attendant behind as a reader does, once a second at most, where this
// command has left one.
func (r *Run) leaveAgain() {
	if r.left != nil && r.Env.Clock().Sub(r.leftAt) >= time.Second {
		r.Leaving = r.left
		r.Leave()
	}
}

// StartAttendant starts an attendant that has a lock.
func (r *Run) StartAttendant(l *leaving, lock *attend.Lock) error {
	words := []string{"placectl", "--db", l.Database, "attend", "--quiet"}
	pid, err := launch.Detach(words, r.attendantEnviron(l.path), lock.File)
	if err == nil {
		err = lock.Hold(pid, 0, r.Env.Clock()) // it notes itself, later
	}
	return err
}

// attendantEnviron is the environment of an attendant: nothing of ours, which may be a job's.
func (r *Run) attendantEnviron(path string) []string {
	var env []string
	if r.AttendantKeeps != nil {
		env = r.AttendantKeeps() // of two values of a variable the first counts
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

// runsQueue is what to type where no command leaves a process.
const runsQueue = "placectl work --cycle runs the queue"

// Attended says which process of this user runs the queue on this host; nil where start
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

// NoteLowered says where the process that starts this user's jobs here is kept lower than the
// one that submitted a job: what it starts is kept lower, too.
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
