package runner

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/placectl/placectl/cmd/placectl/internal/launch"
	"github.com/placectl/placectl/store"
)

// outcome returns the attempt's result.
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
	case a.pid == 0:
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

// unbegun returns the result of an attempt whose warden has ended before it began the command.
func (a *attendance) unbegun() *store.Result {
	switch {
	case a.gaveUp:
		return a.refused(errHangs, store.BlameNode)
	case a.failed != nil:
		return a.notExecuted(a.failed)
	}
	return a.resultOf(store.OutcomeUnbegun)
}

// setUpFailed returns the result of a command whose set-up failed.
func (a *attendance) setUpFailed(err error) *store.Result {
	r := a.resultOf(store.OutcomeExited)
	r.Exit, r.Why = statusGate, err.Error()
	return r
}

// notExecuted returns the result of a command that the gate could not execute.
func (a *attendance) notExecuted(err error) *store.Result {
	var program *launch.Error
	var not *launch.NotExecuted
	var journal *launch.JournalError
	switch {
	case errors.As(err, &program):
		r := a.setUpFailed(err)
		r.Exit, r.Blame = statusNotExecutable, store.BlameJob
		if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR) {
			r.Exit = statusNoProgram
		}
		return r
	case errors.As(err, &journal):
		return a.refused(fmt.Errorf("the journal: %w", err), store.BlameNode)
	case errors.As(err, &not) && !not.Begun && !errors.Is(err, syscall.EINVAL):
		return a.refused(err, store.BlameNode)
	}
	return a.setUpFailed(err)
}

func (a *attendance) resultOf(o store.Outcome) *store.Result {
	return a.slot.result(o)
}

func (a *attendance) refused(why error, blame store.Blame) *store.Result {
	r := a.resultOf(store.OutcomeRefused)
	if usersOwn(why) {
		blame = store.BlameNobody
	}
	r.Why, r.Blame = why.Error(), blame
	return r
}
