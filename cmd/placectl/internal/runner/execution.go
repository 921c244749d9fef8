package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/bytejson"
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
	group   *cgroup // nil for none
	go_     *os.File
	told    *os.File
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
	defer e.told.Close()
	e.at("gate")
	if err := appendLine(e.journal, &e.process); err != nil {
		e.abandon()
		return e.refused(fmt.Errorf("the journal: %w", err), store.BlameNode)
	}
	e.at("pid")
	if _, err := e.go_.Write([]byte{goByte}); err != nil {
		e.abandon() // somebody has killed it
		return e.result(store.OutcomeUnbegun)
	}
	e.go_.Close()
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

// openGate starts the gate and waits until it is ready. It returns a result where it does
// not get there: then nothing was executed.
func (e *execution) openGate() *store.Result {
	p, err := e.plan()
	if err != nil {
		return e.refused(err, store.BlameNode)
	}
	if e.group, err = e.confine(); err != nil {
		return e.refused(err, store.BlameNobody) // the setting enforce wants what few hosts have
	}
	order, err := pipe()
	if err != nil {
		return e.refused(err, store.BlameNode)
	}
	told, err := pipe()
	if err != nil {
		return e.refused(err, store.BlameNode)
	}
	inside, err := e.dir.root.Open(".") // not the lock's: the lock ends with us
	if err != nil {
		return e.refused(err, store.BlameNode)
	}
	pid, err := launch.Fork(e.Words(GateVerb), os.Environ(), []*os.File{order.r, told.w, inside}, e.group.file())
	order.r.Close()
	told.w.Close()
	inside.Close()
	e.go_, e.told = order.w, told.r
	if err != nil {
		return e.refused(err, store.BlameNode)
	}
	s, err := statOf(pid)
	if err != nil {
		return e.refused(err, store.BlameNode)
	}
	self, err := Self(e.Host)
	if err != nil {
		return e.refused(err, store.BlameNode)
	}
	o := e.order
	e.process.Process = self
	e.process.PID, e.process.Born = pid, s.born
	e.process.Signal, e.process.Before, e.process.Grace = o.Payload.Ending.Signal, o.Payload.Ending.Before, o.grace()
	e.process.First, e.process.Hosts = o.Payload.Ending.First, o.Hosts
	e.process.share, e.process.Polled = o.share(), o.Enforce == "poll"
	if e.group != nil {
		e.process.Cgroup = e.group.path
	}
	return e.awaitGate(p)
}

// awaitGate tells the gate what to do, and waits until it has done all but the last step.
func (e *execution) awaitGate(p *plan) *store.Result {
	err := bytejson.Write(e.go_, p)
	var w word
	if err == nil || errors.Is(err, syscall.EPIPE) {
		e.told.SetReadDeadline(time.Now().Add(time.Minute)) //nolint:errcheck // it is a pipe
		err = bytejson.Decode(json.NewDecoder(e.told), &w)
	}
	switch {
	case err == nil && w.Ready:
		e.process.Log = w.Log
		return nil
	case err == nil && w.Stage == stageDir:
		e.abandon()
		return e.refused(errors.New(w.Text), store.BlameNobody)
	case err == nil:
		e.abandon()
		return e.gateFailed(w)
	case errors.Is(err, io.EOF): // somebody has killed it
		e.abandon()
		return e.result(store.OutcomeUnbegun)
	}
	e.abandon()
	return e.refused(err, store.BlameNode)
}

// abandon ends a gate that is not to execute anything.
func (e *execution) abandon() {
	e.go_.Close()
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
	e.told.SetReadDeadline(time.Time{}) //nolint:errcheck // it is a pipe
	var w word
	if err := bytejson.Decode(json.NewDecoder(e.told), &w); err != nil {
		return nil // the end: executing has closed it
	}
	return e.gateFailed(w)
}

// gateFailed is the result of a command that could not be executed.
func (e *execution) gateFailed(w word) *store.Result {
	r := e.result(store.OutcomeExited)
	r.Exit, r.Why = statusGate, w.Text
	if w.Stage == stageExec {
		r.Exit, r.Blame = statusNotExecutable, store.BlameJob
		if w.Errno == int(syscall.ENOENT) || w.Errno == int(syscall.ENOTDIR) {
			r.Exit = statusNoProgram
		}
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
