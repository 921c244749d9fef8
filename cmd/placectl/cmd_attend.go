package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/asked"
	"github.com/placectl/placectl/cmd/placectl/internal/attend"
	"github.com/placectl/placectl/cmd/placectl/internal/daily"
	"github.com/placectl/placectl/cmd/placectl/internal/dispatch"
	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/hook"
	"github.com/placectl/placectl/cmd/placectl/internal/launch"
	"github.com/placectl/placectl/cmd/placectl/internal/payload"
	"github.com/placectl/placectl/cmd/placectl/internal/people"
	attempts "github.com/placectl/placectl/cmd/placectl/internal/runner"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
	"golang.org/x/sys/unix"
)

// startVariable overrides the setting start where it is manual: a command leaves no process
// behind.
const startVariable = "PLACECTL_START"

// leaving is what a command has to know to leave an attendant behind.
type leaving struct {
	attend.Place
	path string // the setting path
	ring bool   // it has changed something
}

// noteLeaving notes, within a transaction, whether the command is to leave an attendant
// behind: start is auto, and there is something to do.
func (r *runner) noteLeaving(tx *store.Tx, changes bool) error {
	r.leaving = nil
	if !r.mayLeave(changes) {
		return nil
	}
	is, err := wantsAttendant(tx, r.isFront)
	r.leaveBehind(is, changes)
	return err
}

// mayLeave reports whether the command is one that leaves an attendant behind.
func (r *runner) mayLeave(changes bool) bool {
	return r.getenv(startVariable) != store.StartManual && r.Now.IsZero() && !r.overSSH() && r.verb != nil && r.verb.Stays == "" && (changes || r.verb.Revives)
}

// leaveBehind notes that the command is to leave an attendant behind, if the database wants one.
func (r *runner) leaveBehind(is *asked.Attends, changes bool) {
	if is != nil {
		r.leaving = &leaving{Place: r.attendPlace(is.StateDir), path: is.Path, ring: changes}
	}
}

// wantsAttendant is what a database says of an attendant that a command is to leave behind; nil: it
// needs none, or no command leaves one.
func wantsAttendant(tx *store.Tx, front bool) (*asked.Attends, error) {
	settings, err := tx.Settings()
	if err != nil {
		return nil, err
	}
	auto := settings.Start == store.StartAuto || settings.Start == "" && front
	if !auto || settings.Launch == store.LaunchExec {
		return nil, nil
	}
	pending, err := tx.Pending()
	if err != nil || !pending {
		return nil, err
	}
	if id, err := tx.Identity(); err != nil || id.AnyTime {
		return nil, err
	}
	return &asked.Attends{StateDir: settings.StateDir, Path: settings.Path}, nil
}

// noteMade is noteLeaving for a verb that has made a database, which may hold jobs that wait.
func (r *runner) noteMade() {
	if r.verb != nil && r.verb.Access == verbs.Makes && r.tx == nil {
		r.view(func(tx *store.Tx) error { return r.noteLeaving(tx, true) }) //nolint:errcheck // the next command finds the same
	}
}

func (r *runner) attendPlace(stateDir string) attend.Place {
	return attend.At(cmp.Or(stateDir, attempts.DefaultState(os.Getuid())), r.databasePath())
}

// leave leaves an attendant behind, once the answer is out. If that fails nothing is taken
// back: the next command finds the same.
func (r *runner) leave() {
	l := r.leaving
	if l == nil {
		return
	}
	r.leaving = nil
	r.left, r.leftAt = &leaving{Place: l.Place, path: l.path}, r.env.now()
	if l.ring {
		l.KeepAgent(r.getenv("SSH_AUTH_SOCK"))
	}
	err := l.Leave(l.ring, r.env.now(), attempts.Look, func(lock *attend.Lock) error {
		if lock.IsSecond() && !r.isFront {
			r.notef("process %d, which looks after the queue, is stopped: another one does now", l.Read().PID)
		}
		if asked, err := attempts.AskForAttendant(r.getenv); asked || err != nil {
			return err
		}
		return r.startAttendant(l, lock, launch.Fork)
	})
	if err != nil {
		r.debugf("the queue is not looked after: %v", err)
	}
}

// leaveAgain leaves an attendant behind as a reader does, once a second at most, where this
// command has left one.
func (r *runner) leaveAgain() {
	if r.left != nil && r.env.now().Sub(r.leftAt) >= time.Second {
		r.leaving = r.left
		r.leave()
	}
}

// startAttendant starts an attendant that has a lock.
func (r *runner) startAttendant(l *leaving, lock *attend.Lock, fork launch.Forks) error {
	words := []string{"placectl", "--db", l.Database, "attend", "--quiet"}
	pid, err := fork(words, r.attendantEnviron(l.path), []*os.File{lock.File}, nil)
	if err == nil {
		err = lock.Hold(pid, 0, r.env.now()) // it notes itself, later
	}
	return err
}

// attendantEnviron is the environment of an attendant: nothing of ours, which may be a job's.
func (r *runner) attendantEnviron(path string) []string {
	env := []string{"PATH=" + cmp.Or(path, "/usr/local/bin:/usr/bin:/bin")}
	uid := uint32(os.Getuid())
	name := people.System.Name(uid)
	env = append(env, "HOME="+people.System.Home(uid), "LOGNAME="+name, "USER="+name)
	for _, name := range []string{"LANG", "TZ", "PLACECTL_TRUST", "PLACECTL_REPLICAS"} {
		if v := r.getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	if r.attendantKeeps != nil {
		env = append(env, r.attendantKeeps()...)
	}
	return env
}

func attendVerb() *verb {
	return &verb{
		Name:     "attend",
		Category: "Queue",
		Hidden:   true,
		Usage:    "look after the queue until there is nothing left to do",
		May:      store.Anybody,
		Description: "Commands that change the queue start it where start is auto, at most one for each user on a host. It makes\n" +
			"cycles, starts the jobs of its user here and over ssh, and ends 10 s after there was nothing left to do. Where\n" +
			"one is there already, nothing is done.",
		Access:   verbs.Writes,
		Thinks:   true,
		Unkeyed:  true,
		Alone:    true,
		Stays:    "it is the attendant",
		Statuses: []int{exit.Conflict},
		Example:  "placectl attend",
		Run:      (*runner).lookAfter,
	}
}

// attendant looks after a queue.
type attendant struct {
	*runner
	*attempts.Runner
	c       *cli.Context
	place   attend.Place
	passes  *attempts.Passes
	wakes   attempts.Wakes
	hook    *hook.Beside
	here    attempts.Site
	remote  remotePasses
	present attend.Presence
	over    error // why it cannot go on
	done    bool  // it is not wanted any more
	lock    *attend.Lock
	began   time.Time
	last    time.Time // when there was something to do
}

// hold notes that this process has the lock from now on.
func (a *attendant) hold(lock *attend.Lock) (err error) {
	a.lock = lock
	a.wakes.Rung, err = a.runner.hold(lock)
	return err
}

// giveUp ends the attendant. One that fails at once would fail again: the next one has to wait. A
// database that is gone is no failure.
func (a *attendant) giveUp(why error) {
	if a.gone() {
		a.done = true
		return
	}
	if a.over = why; time.Since(a.began) < time.Second {
		a.lock.Fail(why, a.env.now()) //nolint:errcheck // the next one comes sooner then
	}
}

// gone reports whether there is no file at the path of the database.
func (a *attendant) gone() bool {
	_, err := os.Lstat(a.place.Database)
	return errors.Is(err, fs.ErrNotExist) && !store.IsLog(a.place.Database)
}

// quietTime is how long an attendant stays when there is nothing left to do.
const quietTime = 10 * time.Second

func (r *runner) lookAfter(c *cli.Context) error {
	if c.Bool(verbs.DryRun) {
		return r.view(wanted)
	}
	place, err := r.attendHere()
	if err != nil {
		return err
	}
	lock := place.Inherited(3)
	if lock == nil {
		lock = place.Second().Inherited(3)
	}
	if lock != nil {
		r.settleDown(place)
	} else if lock, err = place.Try(); lock == nil {
		return err
	}
	return r.attendWith(c, place, lock)
}

// attendHere is where the lock of the attendant lies.
func (r *runner) attendHere() (place attend.Place, err error) {
	err = r.view(func(tx *store.Tx) error {
		settings, err := tx.Settings()
		if err == nil {
			place = r.attendPlace(settings.StateDir)
		}
		return err
	})
	return place, err
}

// hold notes that this process has the lock, and tells when the bell is rung.
func (r *runner) hold(lock *attend.Lock) (rung <-chan struct{}, err error) {
	self, err := attempts.Self("")
	if err != nil {
		return nil, err
	}
	if err := lock.Hold(self.PID, self.Born, r.env.now()); err != nil {
		return nil, err
	}
	return lock.Listen()
}

// settleDown takes from this process what it has of the one that started it.
func (r *runner) settleDown(place attend.Place) {
	unix.Umask(0o022)
	os.Chdir("/") //nolint:errcheck // it holds a folder then
	var all unix.CPUSet
	all.Fill()
	unix.SchedSetaffinity(0, &all) //nolint:errcheck // it has the cores that it has
	for _, what := range []int{unix.RLIMIT_NOFILE, unix.RLIMIT_NPROC, unix.RLIMIT_CORE, unix.RLIMIT_STACK, unix.RLIMIT_DATA, unix.RLIMIT_FSIZE, unix.RLIMIT_MEMLOCK, unix.RLIMIT_CPU, unix.RLIMIT_AS} {
		var limit unix.Rlimit
		if unix.Getrlimit(what, &limit) == nil && limit.Cur < limit.Max {
			limit.Cur = limit.Max
			unix.Setrlimit(what, &limit) //nolint:errcheck // it is allowed
		}
	}
	if log, err := place.Log(); err == nil {
		unix.Dup3(int(log.Fd()), 1, 0) //nolint:errcheck // its words are lost then
		unix.Dup3(int(log.Fd()), 2, 0) //nolint:errcheck // as before
		log.Close()
	}
	r.Quiet = false
}

func (r *runner) attendWith(c *cli.Context, place attend.Place, lock *attend.Lock) error {
	a := &attendant{runner: r, c: c, place: place, wakes: r.wakes(), began: time.Now()}
	if err := a.begin(); err != nil {
		a.lock = lock
		a.giveUp(err)
		return errors.Join(a.over, lock.Close())
	}
	ctx, stop := signal.NotifyContext(r.ctx, unix.SIGTERM, unix.SIGHUP)
	defer stop()
	r.ctx = ctx
	go a.Runner.KeepBeat(ctx)
	a.last = time.Now()
	err := attend.Attend(lock, attend.Steps[string]{Begin: a.hold, State: a.passes.Stamp, Act: a.act, Wait: a.wait})
	return errors.Join(err, a.over)
}

// wakes has the kernel tell of changes where it knows of all of them, and etcd of those in a log.
// Elsewhere the state of the database is looked at from time to time: less often on a network file
// system, where a look asks the server.
func (r *runner) wakes() attempts.Wakes {
	switch {
	case store.IsLog(r.DB):
		return attempts.Wakes{Changed: r.inLogs.Changed()}
	case r.overSSH():
	case store.NetworkFileSystem(filepath.Dir(r.DB)) != "":
		return attempts.Wakes{Every: networkEvery}
	default:
		if changed, err := attend.Watch(r.databasePath()); err == nil { // there may be too many watches
			return attempts.Wakes{Changed: changed}
		}
	}
	return attempts.Wakes{Every: workEvery}
}

// begin gets to know the database.
func (a *attendant) begin() error {
	runner, _, err := a.attemptsRunner("")
	if err != nil {
		return err
	}
	a.Runner, a.here = runner, runner.Site
	a.hook = &hook.Beside{Hook: *a.runner.hook()}
	a.passes = runner.NewPasses()
	a.passes.Startable, a.passes.Idle = a.startable, a.forecasts()
	a.passes.Cycle = func() (attempts.Cycled, error) {
		is, err := a.workCycle(a.c, wanted)
		if a.done = errors.Is(err, errDismissed); a.done {
			err = nil
		}
		return is, err
	}
	a.passes.After = func(v *attempts.View) {
		if v.Hooked {
			a.hook.Start(a.ctx)
		}
	}
	return nil
}

// act makes a cycle and passes. A database that is gone, or that another program has taken
// to a newer format, ends the attendant.
func (a *attendant) act() {
	if a.done = a.gone(); a.done {
		return
	}
	var id store.Identity
	err := a.view(func(tx *store.Tx) (err error) {
		id, err = tx.Identity()
		return err
	})
	if errors.Is(err, store.ErrNewer) {
		a.giveUp(errors.Join(err, a.replaced()))
		return
	}
	if err == nil && (id.ID != a.here.ID || dispatch.EpochOf(id) != a.here.Epoch) {
		if err := a.begin(); err != nil {
			a.giveUp(err)
			return
		}
	}
	a.present.Keep(a.here.ID, a.here.Epoch)
	a.passes.Turn(a.ctx)
	if agent := a.place.Agent(); agent != "" {
		os.Setenv("SSH_AUTH_SOCK", agent) //nolint:errcheck // ssh does without, or says why not
	}
	a.remote.start(a.ctx, a.runner, a.Runner)
}

// anewVariable is set for an attendant that has taken the place of one of another version.
const anewVariable = "PLACECTL_ANEW"

// replaced executes the program that was installed in place of this one, which has the lock from
// then on; it returns if there is none, or if this one has already taken another one's place.
func (a *attendant) replaced() error {
	if a.getenv(anewVariable) != "" {
		return nil
	}
	words := slices.Concat([]string{"placectl"}, a.env.args)
	env := slices.DeleteFunc(a.environ(), func(v string) bool { return strings.HasPrefix(v, "SSH_AUTH_SOCK=") })
	return launch.Replace("placectl", words, append(env, anewVariable+"=1"), a.lock.File)
}

// errDismissed says that others are to run the queue now.
var errDismissed = &store.Conflict{What: "the queue", Why: "it is run by others: start is manual, or jobs are launched by exec"}

// wanted fails with errDismissed where that is so.
func wanted(tx *store.Tx) error {
	settings, err := tx.Settings()
	if err == nil && (settings.Start == store.StartManual || settings.Launch == store.LaunchExec) {
		return errDismissed
	}
	return err
}

// wait waits until there may be something to do, and is false when it is time to leave.
func (a *attendant) wait() bool {
	if a.over != nil || a.done || a.ctx.Err() != nil {
		return false
	}
	if a.passes.Wait(a.ctx, a.wakes) {
		a.last = time.Now()
		return true
	}
	if a.ctx.Err() != nil {
		return false
	}
	if time.Since(a.last) < quietTime {
		return true
	}
	busy, err := a.busy()
	if err != nil {
		a.giveUp(err)
		return false
	}
	if busy {
		a.last = time.Now().Add(-quietTime / 2)
	}
	return busy
}

// busy reports whether something of this user waits or runs.
func (a *attendant) busy() (busy bool, err error) {
	err = a.view(func(tx *store.Tx) (err error) {
		busy, err = a.dispatched(a.here.Host, os.Getuid()).Busy(tx)
		return err
	})
	return busy, err
}

// remotePasses has passes made on other hosts while passes here go on.
type remotePasses struct{ done chan struct{} }

// start starts passes on the other hosts where there is something to do, unless such passes
// are under way.
func (p *remotePasses) start(ctx context.Context, r *runner, here *attempts.Runner) {
	select {
	case <-p.done:
		p.done = nil
	default:
	}
	if p.done != nil {
		return
	}
	hosts, database, err := r.passHosts(here.Host)
	if err != nil || len(hosts) == 0 {
		return
	}
	done := make(chan struct{})
	p.done = done
	go func() {
		defer close(done)
		if err := r.passesOn(ctx, here, hosts, database); err != nil {
			r.notef("%v", err)
		}
	}()
}

// runsQueue is what to type where no command leaves a process.
const runsQueue = "placectl work --cycle runs the queue"

// attended says which process of this user runs the queue on this host; nil where start
// is manual.
func (r *runner) attended(tx *store.Tx) (*daily.Attended, error) {
	settings, err := tx.Settings()
	if err != nil {
		return nil, err
	}
	place := r.attendPlace(settings.StateDir)
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
	case is.Paused(r.env.now()) > 0:
		return &daily.Attended{Why: fmt.Sprintf("the last process failed, %s; the next one comes in %v", is.Why, is.Paused(r.env.now()).Round(time.Second)), Help: runsQueue}, nil
	case r.getenv(startVariable) == store.StartManual:
		return &daily.Attended{Why: startVariable + " is manual", Help: runsQueue}, nil
	}
	return &daily.Attended{}, nil
}

// noteLowered says where the process that starts this user's jobs here is kept lower than the
// one that submitted a job: what it starts is kept lower, too.
func (r *runner) noteLowered(tx *store.Tx, job *store.Job) error {
	if !job.State.Live() || job.State == store.JobRunning || job.Payload == (store.PayloadKey{}) {
		return nil
	}
	who, err := r.attended(tx)
	if err != nil || who == nil || who.PID == 0 {
		return err
	}
	carried, err := tx.Payload(job.ID)
	if err != nil || carried.Owner == nil || int(carried.Owner.UID) != os.Getuid() {
		return err
	}
	if list := payload.Lowered(who.PID, carried.Limits); len(list) > 0 {
		r.notef("process %d, which starts it here, is kept lower, and so would the job be: %s; kill %d lets the next command start another", who.PID, strings.Join(list, "; "), who.PID)
	}
	return nil
}

// takeOver asks the attendant to leave, and waits for its lock.
func (r *runner) takeOver(place attend.Place) (*attend.Lock, error) {
	for {
		lock, err := place.Try()
		if lock != nil || err != nil {
			return lock, err
		}
		if is := place.Read(); is.PID != 0 && is.PID != os.Getpid() && attempts.Lives(is.PID, is.Born) {
			syscall.Kill(is.PID, syscall.SIGTERM) //nolint:errcheck // it may have ended
			syscall.Kill(is.PID, syscall.SIGCONT) //nolint:errcheck // so that it ends if it is stopped
		}
		select {
		case <-r.ctx.Done():
			return nil, r.ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}
