package keeper

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/gate"
	"golang.org/x/sys/unix"
)

// run executes the attempt and begins to follow it. If it cannot execute the attempt, that has ended.
func (a *attendance) run() {
	defer a.acting.RUnlock()
	if result := a.execute(); result != nil {
		a.group.remove()
		a.finish(result)
		return
	}
	a.attend()
}

// finish keeps the attempt's result, and hands the attempt to the keeper.
func (a *attendance) finish(result *engine.Result) {
	a.at("ended")
	a.result = result
	if err := a.slot.add(&line{Result: result}); err != nil {
		a.notef("%s: the result cannot be kept: %v", a.slot.Key, err)
	}
	a.at("spooled")
	if a.until == 0 {
		a.until = bootClock()
	}
	a.handBack(a.until)
}

// handBack ends what is left on other nodes, and hands the attempt to the keeper.
func (a *attendance) handBack(until time.Duration) {
	a.emptyAll(until)
	select {
	case a.ended <- a:
	case <-a.keeper.left.Done():
	}
}

// execute orders the command. It returns a result if the command is not executed.
func (a *attendance) execute() *engine.Result {
	o := a.order
	if owner := o.Payload.Owner; owner != nil && owner.Name != a.User && owner.Named() && a.User != engine.UnnamedUser(
		owner.UID) {
		return a.refused(fmt.Errorf("user %d is %s on %s, but %s where the job was submitted", owner.UID, a.User,
			a.Host, owner.Name), engine.BlameNobody)
	}
	end := bootClock() + o.Left
	p, err := a.plan()
	if err != nil {
		return a.refused(err, engine.BlameNode)
	}
	if a.group, err = a.confine(o); err != nil {
		return a.refused(err, engine.BlameNobody) // the setting enforce asks for what few hosts have
	}
	order, opened, failed := a.prepareOrder(p)
	if failed != nil {
		return failed
	}
	defer opened.close()
	ending := &o.Payload.Ending
	a.begun = &begun{Hosts: o.Hosts, End: end, Signal: ending.Signal, Before: ending.Before, First: ending.First,
		Steps: o.Payload.Compat == "slurm", Grace: o.grace(),
		share: o.share(), Polled: o.Enforce == "poll" || o.Enforce == "auto" && a.group == nil}
	if a.group != nil {
		a.begun.Cgroup = a.group.path
	}
	if err := a.start(order); err != nil {
		return a.refused(err, engine.BlameNode)
	}
	a.at("go")
	a.order, order.Env, order.Journal, order.Told = nil, nil, nil, nil
	return nil
}

// start records that it is about to tell the gate, and tells it.
func (a *attendance) start(order *gate.Order) (err error) {
	if err = a.listen(); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			unix.Close(a.told) //nolint:errcheck // nothing was written
		}
	}()
	if order.Told, err = a.slot.root.OpenFile(toldFile, os.O_WRONLY, 0); err != nil {
		return err
	}
	defer order.Told.Close()
	if order.Journal, err = a.slot.lock(); err != nil {
		return err
	}
	defer order.Journal.Close()
	if err = a.slot.add(&line{Go: a.begun}); err != nil {
		return fmt.Errorf("the journal: %w", err)
	}
	a.at("gate")
	a.launched = order
	if err = a.gate.Start(order); err == nil {
		a.warden = order.Warden
	}
	return err
}

// prepareOrder opens the command's files, and builds the gate's order.
func (a *attendance) prepareOrder(p *plan) (*gate.Order, *streams, *engine.Result) {
	o, err := a.keeper.opened(p)
	switch {
	case errors.Is(err, errHangs):
		return nil, nil, a.refused(err, engine.BlameNode)
	case err != nil:
		return nil, nil, a.setUpFailed(err)
	}
	limits, err := p.limits()
	if err != nil {
		o.close()
		return nil, nil, a.setUpFailed(err)
	}
	order := &gate.Order{Words: p.Words, Env: p.Env, Dir: p.Dir, Umask: p.Umask, CPUs: p.CPUs, Limits: limits,
		Streams: o.files, Tag: tag(a.slot.nonce)}
	if p.Task {
		order.TaskPID = "SLURM_TASK_PID"
	}
	if a.group != nil {
		order.Procs = a.group.path + "/cgroup.procs"
	}
	return order, o, nil
}

// plan lays out the attempt's files and the gate's work.
func (a *attendance) plan() (*plan, error) {
	o, sl := a.order, a.slot
	var nodes strings.Builder
	for _, c := range o.Chunks {
		nodes.WriteString(c.Node + "\n")
	}
	if err := sl.write(nodesFile, nodes.String(), 0o600); err != nil {
		return nil, err
	}
	if len(o.DeviceFile) > 0 {
		if err := sl.write(devicesFile, strings.Join(o.DeviceFile, "\n")+"\n", 0o600); err != nil {
			return nil, err
		}
	}
	if o.Payload.Compat == "pbs" {
		if err := sl.write(processesFile, o.processes(), 0o600); err != nil {
			return nil, err
		}
	}
	p := &plan{Words: o.Command, Dir: o.Payload.Dir, Umask: o.Payload.Umask, Limits: o.Payload.Limits, CPUs: o.CPUs}
	if o.Payload.Script != "" {
		if err := sl.write(scriptFile, o.Payload.Script, 0o700); err != nil {
			return nil, err
		}
		p.Words = ScriptWords(o.Payload, sl.path+"/"+scriptFile, o.Command)
	}
	p.Env = o.environment(&a.Site, sl.path, sl.nonce)
	p.Task = o.Payload.Compat == "slurm"
	if in := o.Payload.Input; in != "" {
		p.In = o.letters().Path(o.Payload.Dir, in)
	}
	p.Out, p.Err = o.outputs()
	return p, nil
}

// openFor bounds how long opening a command's files and entering its directory may take: a file
// system may hang.
const openFor = time.Minute
