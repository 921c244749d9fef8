package keeper

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/gate"
	"github.com/placectl/placectl/internal/launch"
)

// outcome returns the attempt's result.
func (a *attendance) outcome() *engine.Result {
	if a.failed != nil {
		r := a.notExecuted(a.failed)
		r.Use = a.used()
		return r
	}
	r := a.resultOf(engine.OutcomeExited)
	r.Why = a.why
	r.Use = a.used()
	r.Use.Leftover = a.leftover
	switch {
	case a.pid == 0:
		r.Outcome, r.Use = engine.OutcomeUnbegun, engine.ResourceUse{}
		return r
	case !a.known:
		r.Outcome, r.Why = engine.OutcomeLost, "its keeper was killed, so how it ended is unknown"
	case a.status.Signaled():
		r.Outcome, r.Signal = engine.OutcomeSignal, int(a.status.Signal())
		r.Exit = 128 + r.Signal
	default:
		r.Exit = a.status.ExitStatus()
	}
	if a.stopped != engine.OutcomeNone {
		r.Outcome = a.stopped
	} else if why := a.group.exceeded(); why != "" && r.Exit != 0 {
		r.Outcome, r.Why = engine.OutcomeOOM, why
	}
	return r
}

// unbegun returns the result of an attempt whose warden has ended before it began the command.
func (a *attendance) unbegun() *engine.Result {
	switch {
	case a.gaveUp:
		return a.refused(errHangs, engine.BlameNode)
	case a.failed != nil:
		return a.notExecuted(a.failed)
	}
	return a.resultOf(engine.OutcomeUnbegun)
}

// setUpFailed returns the result of a command whose set-up failed.
func (a *attendance) setUpFailed(err error) *engine.Result {
	r := a.resultOf(engine.OutcomeExited)
	r.Exit, r.Why = statusGate, err.Error()
	return r
}

// notExecuted returns the result of a command that the gate could not execute.
func (a *attendance) notExecuted(err error) *engine.Result {
	var program *launch.Error
	var not *gate.NotExecuted
	var journal *gate.JournalError
	switch {
	case errors.As(err, &program):
		r := a.setUpFailed(err)
		r.Exit, r.Blame = statusNotExecutable, engine.BlameJob
		if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR) {
			r.Exit = statusNoProgram
		}
		return r
	case errors.As(err, &journal):
		return a.refused(fmt.Errorf("the journal: %w", err), engine.BlameNode)
	case errors.As(err, &not) && !not.Begun && !errors.Is(err, syscall.EINVAL):
		return a.refused(err, engine.BlameNode)
	}
	return a.setUpFailed(err)
}

func (a *attendance) resultOf(o engine.Outcome) *engine.Result {
	return a.slot.result(o)
}

func (a *attendance) refused(why error, blame engine.Blame) *engine.Result {
	r := a.resultOf(engine.OutcomeRefused)
	if usersOwn(why) {
		blame = engine.BlameNobody
	}
	r.Why, r.Blame = why.Error(), blame
	return r
}
