package session

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/daily"
	"github.com/placectl/placectl/cmd/placectl/internal/payload"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/attend"
	"github.com/placectl/placectl/internal/dispatch"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/environ"
	"github.com/placectl/placectl/internal/keeper"
	"github.com/placectl/placectl/internal/launch"
	"github.com/placectl/placectl/internal/people"
	"github.com/placectl/placectl/internal/signing"
	"github.com/placectl/placectl/internal/work"
)

// StartVariable overrides the setting start if it is "manual": then commands leave no process
// behind.
const StartVariable = "PLACECTL_START"

// leaving is what a command needs to leave an attendant behind.
type leaving struct {
	stateDir, path string // the settings state_dir and path
	kept           string // the database's directory in the state directory
	ring           bool   // the command has changed something
}

// NoteLeaving decides, within a transaction, whether the command should leave an attendant
// behind: start is auto, and there is something to do.
func (r *Run) NoteLeaving(tx *engine.Tx, changes bool) error {
	r.leaving = nil
	if !r.mayLeave(changes) {
		return nil
	}
	settings, err := tx.Config().Settings()
	if err != nil {
		return err
	}
	auto := settings.Start == engine.StartAuto || settings.Start == "" && r.IsFront
	if !auto || settings.Launch == engine.LaunchExec {
		return nil
	}
	pending, err := tx.Cycle().Pending()
	if err != nil || !pending {
		return err
	}
	is, err := tx.Identity()
	if err != nil || is.AnyTime {
		return err
	}
	if why, err := tx.Copy(); err != nil || why != "" {
		return err
	}
	r.leaving = &leaving{stateDir: settings.StateDir, path: settings.Path, kept: keptIn(is), ring: changes}
	return nil
}

// mayLeave reports whether this command may leave an attendant behind.
func (r *Run) mayLeave(changes bool) bool {
	return r.Getenv(StartVariable) != engine.StartManual && r.Now.IsZero() && !r.OverSSH() && r.Verb != nil &&
		r.Verb.Stays == "" && (changes || r.Verb.Revives)
}

// noteMade is NoteLeaving for a verb that has made a database, which may hold waiting jobs.
func (r *Run) noteMade() {
	if r.Verb != nil && r.Verb.Access == verbs.Makes && r.Tx == nil {
		//nolint:errcheck // the next command finds the same
		r.View(func(tx *engine.Tx) error { return r.NoteLeaving(tx, true) })
	}
}

// AttendPlace returns the place of the attendant of this user and database. stateDir is the setting
// state_dir, "" for the default.
func (r *Run) AttendPlace(stateDir string) attend.Place {
	return work.PlaceOf(stateDir, r.DatabasePath())
}

// Leave leaves an attendant behind once the answer is out. A failure undoes nothing: the next
// command tries again.
func (r *Run) Leave() {
	l := r.leaving
	if l == nil {
		return
	}
	r.leaving, r.left, r.leftAt = nil, l, r.Env.Clock()
	place := r.AttendPlace(l.stateDir)
	if l.ring {
		place.KeepAgent(r.Getenv("SSH_AUTH_SOCK"))
	}
	start, now := r.starter(l), r.Env.Clock()
	err := place.Leave(l.ring, now, keeper.Look, func(lock *attend.Lock) error {
		if lock.IsSecond() && !r.IsFront {
			r.Notef("the queue runner, process %d, is stopped: another one runs now", place.Read().PID)
		}
		if r.Getenv(keeper.ElsewhereName) == "" {
			return start(lock)
		}
		lock.Close() // the keeper of the job around this process needs it for the one that it starts
		if asked, err := keeper.AskForAttendant(r.Getenv, r.DatabasePath()); asked || err != nil {
			return err
		}
		return place.Leave(l.ring, now, keeper.Look, start)
	})
	if err != nil {
		r.Debugf("there is no queue runner: %v", err)
	}
	if why, help := stoppedKeeper(l.stateDir, l.kept); why != "" && !r.IsFront {
		r.warnOnce(why + ": " + help)
	}
}

// keptIn returns the directory, in the state directory, of what this user's processes execute.
func keptIn(is engine.Identity) string { return keeper.KeptIn(is.ID, dispatch.EpochOf(is)) }

// stoppedKeeper says which process executes this user's jobs on this host if it is stopped, "" if it is not.
func stoppedKeeper(stateDir, kept string) (why, help string) {
	host, err := os.Hostname()
	if err != nil || kept == "" {
		return "", ""
	}
	pid := keeper.StoppedKeeper(cmp.Or(stateDir, keeper.DefaultState(os.Getuid())), kept, host)
	if pid == 0 {
		return "", ""
	}
	return fmt.Sprintf("process %d, which executes your jobs here, is stopped", pid),
		fmt.Sprintf("kill -CONT %d lets it go on", pid)
}

// StoppedKeeper says which process executes this user's jobs on this host if it is stopped, and what helps. Both are ""
// if it is not.
func (r *Run) StoppedKeeper(tx *engine.Tx) (why, help string, err error) {
	is, err := work.SiteOf(tx)
	if err == nil {
		why, help = stoppedKeeper(is.StateDir, keeper.KeptIn(is.ID, is.Epoch))
	}
	return why, help, err
}

// Summon wakes the attendant of a database, or starts one if there is something to do. It is for processes that
// report the ends of jobs.
func (r *Run) Summon(database string) error {
	of := *r
	r, of.DB = &of, database
	if err := r.ViewOnce(func(tx *engine.Tx) error { return r.NoteLeaving(tx, true) }); err != nil || r.leaving == nil {
		return err
	}
	l := r.leaving
	return r.AttendPlace(l.stateDir).Leave(l.ring, r.Env.Clock(), keeper.Look, r.starter(l))
}

// starter starts an attendant, which holds the lock from then on.
func (r *Run) starter(l *leaving) func(*attend.Lock) error {
	return func(lock *attend.Lock) error {
		words := []string{"placectl", "--db", r.DatabasePath(), "attend", "--quiet"}
		pid, err := launch.Detach(words, r.attendantEnviron(l.path), lock.File)
		if err != nil {
			return err
		}
		return lock.Hold(pid, 0, r.Env.Clock()) // the attendant notes itself later
	}
}

// leaveAgain restarts the attendant that this command has left behind if it has ended. It looks
// at most once a second.
func (r *Run) leaveAgain() {
	if r.left != nil && r.Env.Clock().Sub(r.leftAt) >= time.Second {
		again := *r.left
		again.ring = false
		r.leaving = &again
		r.Leave()
	}
}

// attendantEnviron returns an attendant's environment. It takes next to nothing from ours, which
// may be that of a job.
func (r *Run) attendantEnviron(path string) []string {
	var env []string
	if r.AttendantKeeps != nil {
		env = r.AttendantKeeps() // if a variable occurs twice, the first counts
	}
	env = append(env, "PATH="+cmp.Or(path, environ.DefaultPath))
	name, home := people.System.Login(uint32(os.Getuid()))
	if own := r.Home(); !signing.Exists(work.PasswdKey()) && signing.Exists(signing.Path(own)) {
		home = own // of the only key that verifies this user's jobs
	}
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

// runsCopy tells users what to type if the database is a copy.
const runsCopy = "placectl adopt makes it a database of its own"

// Attended says which process of this user runs the queue on this host. It returns nil if start
// is manual.
func (r *Run) Attended(tx *engine.Tx) (*daily.Attended, error) {
	settings, err := tx.Config().Settings()
	if err != nil {
		return nil, err
	}
	if why, err := tx.Copy(); err != nil || why != "" {
		return &daily.Attended{Why: why, Help: runsCopy}, err
	}
	place := r.AttendPlace(settings.StateDir)
	is := place.Read()
	lives, stopped := keeper.Look(is.PID, is.Born)
	switch {
	case is.PID != 0 && stopped:
		why, help := fmt.Sprintf("process %d is stopped", is.PID), fmt.Sprintf("kill -CONT %d lets it go on", is.PID)
		if is = place.Second().Read(); is.PID != 0 && keeper.Lives(is.PID, is.Born) {
			return &daily.Attended{PID: is.PID, Since: is.Since, Why: why + "; " + help}, nil
		}
		return &daily.Attended{Why: why, Help: help}, nil
	case is.PID != 0 && lives:
		return &daily.Attended{PID: is.PID, Since: is.Since}, nil
	case settings.Start != engine.StartAuto:
		return nil, nil
	case is.Paused(r.Env.Clock()) > 0:
		return &daily.Attended{Why: fmt.Sprintf("the last process failed, %s; the next one comes in %v", is.Why,
			is.Paused(r.Env.Clock()).Round(time.Second)), Help: runsQueue}, nil
	case r.Getenv(StartVariable) == engine.StartManual:
		return &daily.Attended{Why: StartVariable + " is manual", Help: runsQueue}, nil
	}
	return &daily.Attended{}, nil
}

// NoCycles is what a user whose job waits must do if no process runs the queue.
const NoCycles = "no cycle lately: jobs start when you or cron run placectl cycle, or with config set start=auto"

// cycleWithin is how long a job waits for a cycle where cron may make them.
const cycleWithin = 15 * time.Minute

// Uncycled returns NoCycles if a job that waits since some instant may wait for ever: start is not auto, no process
// runs the queue, and there has been no cycle for long, or none ever if the user has not chosen start=manual. Otherwise
// it returns "".
func (r *Run) Uncycled(tx *engine.Tx, since time.Time) (string, error) {
	if id, err := tx.Identity(); err != nil || id.AnyTime || !r.Now.IsZero() || r.IsFront {
		return "", err
	}
	settings, err := tx.Config().Settings()
	if err != nil || settings.Start == engine.StartAuto {
		return "", err
	}
	if who, err := r.Attended(tx); err != nil || who != nil {
		return "", err
	}
	last, err := tx.Cycle().LastBegan()
	chosen := settings.Start != "" || r.Getenv(StartVariable) != ""
	if err != nil || (chosen || !last.IsZero()) && (tx.Now().Sub(last) < cycleWithin ||
		tx.Now().Sub(since) < cycleWithin) {
		return "", err
	}
	return NoCycles, nil
}

// StartsByCycle reports whether a job waits for a cycle to start it.
func StartsByCycle(j *engine.Job) bool {
	return j.State == engine.JobQueued || j.State == engine.JobLate
}

// NoteUncycled says that a job may wait for ever, and that this host executes nothing.
func (r *Run) NoteUncycled(tx *engine.Tx, j *engine.Job) error {
	if !StartsByCycle(j) || j.Never {
		return nil
	}
	if err := keeper.Executes(); err != nil {
		r.warnOnce(err.Error())
	}
	why, err := r.Uncycled(tx, j.Submit)
	if why != "" {
		r.Notef("%s", why)
	}
	return err
}

// NoteLowered warns if the process that starts this user's jobs here has lower limits than the
// one that submitted a job. The job would get those lower limits, too.
func (r *Run) NoteLowered(tx *engine.Tx, job *engine.Job) error {
	if !job.State.Live() || job.State == engine.JobRunning || job.Payload == (engine.PayloadKey{}) {
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
		r.Notef("process %d, which starts it here, is kept lower, and so would the job be: %s; kill %d lets the next "+
			"command start another", who.PID, strings.Join(list, "; "), who.PID)
	}
	return nil
}
