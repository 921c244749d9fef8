package runner

import (
	"context"

	"errors"
	"fmt"

	"os"
	"strings"
	"syscall"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/launch"
	"github.com/placectl/placectl/store"
	"golang.org/x/sys/unix"
)

// execution is an attempt that this process has claimed and executes.
type execution struct {
	*Runner
	dir     *dir
	state   *state
	order   *Order
	nonce   store.Nonce
	journal *os.File

	until   time.Duration // when those are killed who are left
	process begun
	group   *cgroup      // nil for none
	held    *launch.Held // the gate
}

// run executes the command and returns what came of it.
func (e *execution) run(ctx context.Context) *store.Result {
	if owner := e.order.Payload.Owner; owner != nil && owner.Name != e.User && owner.Named() && e.User != store.UnnamedUser(owner.UID) {
		return e.refused(fmt.Errorf("the user %d is %s on %s, and %s where the job was submitted", owner.UID, e.User, e.Host, owner.Name), store.BlameNobody)
	}
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return e.refused(err, store.BlameNode)
	}
	e.process.End = bootClock() + e.order.Left
	bell, err := e.dir.hangBell()
	if err != nil {
		return e.refused(err, store.BlameNode)
	}
	defer bell.Close()
	if failed := e.openGate(); failed != nil {
		return failed
	}
	defer e.held.Close()
	e.at("gate")
	if err := appendLine(e.journal, &e.process); err != nil {
		e.abandon()
		return e.refused(fmt.Errorf("the journal: %w", err), store.BlameNode)
	}
	e.at("pid")
	if err := e.held.Go(); err != nil {
		e.abandon() // somebody has killed it
		return e.result(store.OutcomeUnbegun)
	}
	e.at("go")
	failed := e.executed()
	e.at("executed")
	e.process.confined(e.group)
	a := &attendance{Runner: e.Runner, dir: e.dir, nonce: e.nonce, begun: &e.process, group: e.group, bell: bell, ours: true}
	result := a.attend(ctx)
	e.until = a.until
	e.group.remove()
	if failed != nil {
		failed.Use = result.Use
		return failed
	}
	return result
}

// openGate forks the gate and waits until it is ready. It returns a result where it does
// not get there: then nothing was executed.
func (e *execution) openGate() *store.Result {
	p, err := e.plan()
	if err != nil {
		return e.refused(err, store.BlameNode)
	}
	if e.group, err = e.confine(); err != nil {
		return e.refused(err, store.BlameNobody) // the setting enforce wants what few hosts have
	}
	return e.fork(p)
}

// fork makes the gate.
func (e *execution) fork(p *plan) *store.Result {
	o, err := p.opened()
	var dir *launch.DirError
	switch {
	case errors.As(err, &dir):
		return e.refused(dir.PathError, store.BlameNobody)
	case errors.Is(err, errHangs):
		return e.refused(err, store.BlameNode)
	case err != nil:
		return e.setUpFailed(err)
	}
	defer o.close()
	inside, err := e.dir.root.Open(".") // not the lock's: the lock ends with us
	if err != nil {
		return e.refused(err, store.BlameNode)
	}
	defer inside.Close()
	spec := &launch.HeldSpec{Words: p.Words, Env: p.Env, Dir: p.Dir, Umask: int(p.Umask), Streams: o.files, Inside: inside, GaveUp: gaveUpFile}
	if p.Task {
		spec.TaskPID = "SLURM_TASK_PID"
	}
	held, err := launch.Hold(spec)
	if held == nil {
		return e.refused(err, store.BlameNode)
	}
	e.held, e.process.PID = held, held.PID
	switch {
	case errors.As(err, &dir):
		e.abandon()
		return e.refused(dir.PathError, store.BlameNobody)
	case errors.Is(err, launch.ErrGone):
		e.abandon()
		return e.result(store.OutcomeUnbegun)
	case err != nil:
		e.abandon()
		return e.refused(err, store.BlameNode)
	}
	if err := errors.Join(e.group.add(held.PID), p.confine(held.PID)); errors.Is(err, unix.ESRCH) {
		e.abandon()
		return e.result(store.OutcomeUnbegun)
	} else if err != nil {
		e.abandon()
		return e.setUpFailed(err)
	}
	self, err := Self(e.Host)
	if err == nil {
		var s stat
		s, err = statOf(held.PID)
		self.PID, self.Born = held.PID, s.born
	}
	if err != nil {
		e.abandon()
		return e.refused(err, store.BlameNode)
	}
	ending := &e.order.Payload.Ending
	e.process.Process, e.process.Log, e.process.Hosts = self, o.log, e.order.Hosts
	e.process.Signal, e.process.Before, e.process.First, e.process.Grace = ending.Signal, ending.Before, ending.First, e.order.grace()
	e.process.share, e.process.Polled = e.order.share(), e.order.Enforce == "poll"
	if e.group != nil {
		e.process.Cgroup = e.group.path
	}
	return nil
}

// setUpFailed is the result of a command for which something could not be set up.
func (e *execution) setUpFailed(err error) *store.Result {
	r := e.result(store.OutcomeExited)
	r.Exit, r.Why = statusGate, err.Error()
	return r
}

// abandon ends a gate that is not to execute anything.
func (e *execution) abandon() {
	e.held.Close()
	unix.Kill(e.process.PID, unix.SIGKILL) //nolint:errcheck // it may have ended
	for range 100 {
		if pid, err := unix.Wait4(e.process.PID, nil, unix.WNOHANG, nil); pid != 0 && !errors.Is(err, unix.EINTR) {
			break
		}
		unix.Poll(nil, 10) //nolint:errcheck // a pause: one that hangs in a file system executes nothing afterwards
	}
	e.group.remove()
}

// executed waits until the gate has become the command. It returns a result where it could
// not.
func (e *execution) executed() *store.Result {
	err := e.held.Became()
	if err == nil {
		return nil
	}
	r := e.setUpFailed(err)
	r.Exit, r.Blame = statusNotExecutable, store.BlameJob
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR) {
		r.Exit = statusNoProgram
	}
	return r
}

func (e *execution) result(o store.Outcome) *store.Result {
	r := e.dir.result(e.nonce, o)
	r.Log = e.process.Log
	return r
}

func (e *execution) refused(why error, blame store.Blame) *store.Result {
	r := e.result(store.OutcomeRefused)
	if usersOwn(why) {
		blame = store.BlameNobody
	}
	r.Why, r.Blame = why.Error(), blame
	return r
}

// plan lays out the attempt's files and says what the gate is to do.
func (e *execution) plan() (*plan, error) {
	o, d := e.order, e.dir
	if err := d.root.Mkdir(tmpDir, 0o700); err != nil {
		return nil, err
	}
	if err := d.root.Mkdir(elsewhereDir, 0o700); err != nil {
		return nil, err
	}
	var nodes strings.Builder
	for _, c := range o.Chunks {
		nodes.WriteString(c.Node + "\n")
	}
	if err := d.write(nodesFile, []byte(nodes.String()), 0o600); err != nil {
		return nil, err
	}
	if len(o.DeviceFile) > 0 {
		if err := d.write(devicesFile, []byte(strings.Join(o.DeviceFile, "\n")+"\n"), 0o600); err != nil {
			return nil, err
		}
	}
	if o.Payload.Compat == "pbs" {
		if err := d.write(processesFile, []byte(o.processes()), 0o600); err != nil {
			return nil, err
		}
	}
	p := &plan{Words: o.Command, Dir: o.Payload.Dir, Umask: o.Payload.Umask, Limits: o.Payload.Limits, CPUs: o.CPUs}
	if o.Payload.Script != "" {
		if err := d.write(scriptFile, []byte(o.Payload.Script), 0o700); err != nil {
			return nil, err
		}
		p.Words = o.scriptWords(d.path + "/" + scriptFile)
	}
	p.Env = o.environment(e.Database, d.path, e.nonce)
	p.Task = o.Payload.Compat == "slurm"
	p.Out, p.Err = o.outputs(d.path)
	return p, nil
}

// ends are the two ends of a pipe.
type ends struct{ r, w *os.File }

func pipe() (ends, error) {
	r, w, err := os.Pipe()
	return ends{r, w}, err
}
