package jobs

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/row"
)

// May says which changes from one stage to another are allowed.
var May = [kernel.Over + 1][kernel.Over + 1]bool{
	kernel.Unborn:  {kernel.Waits: true, kernel.Planned: true, kernel.Runs: true},
	kernel.Waits:   {kernel.Waits: true, kernel.Planned: true, kernel.Runs: true, kernel.Over: true},
	kernel.Planned: {kernel.Waits: true, kernel.Planned: true, kernel.Runs: true, kernel.Over: true},
	kernel.Runs:    {kernel.Waits: true, kernel.Runs: true, kernel.Over: true},
}

// leaving is the state of a running job's command as the job leaves its nodes.
type leaving uint8

const (
	stopped   leaving = iota // it may still be executed: a launcher is told to stop it
	Exited                   // it has ended, or was told to stop long enough ago
	NeverTold                // no launcher and no pass was told to execute it: nothing of it counts
)

// Step is a change of a job. At most one of plan, keeps and begins is set: how it enters.
type Step struct {
	To      row.JobState
	Reason  row.Reason
	Leaving leaving
	End     int64              // when it ended, if not now
	How     func(*row.Attempt) // how its attempt has ended; nil if its row says so already
	Lifted  bool               // it is already off its nodes, to be planned again
	change  func()             // changes its request, or its end, while it is off its nodes

	Breaks  row.Reason    // why its promise is broken, if not for the reason
	Promise *StartPromise // the start that it is promised from now on; nil keeps its promise

	Plan   *plan.PlannedFor // nodes found for it
	Keeps  []kernel.Span    // its nodes, for other instants
	Begins bool             // it begins on its nodes, because its time has come
	Around bool             // it starts before a waiting job of higher order

	Announced bool // the cycle that starts it reports it for launching, if it must be launched
}

// StartPromise is the latest start that relaxed backfilling has promised a job, and the earliest
// start that it had then.
type StartPromise struct{ Latest, Earliest int64 }

// Machine is the part of a transaction that changes the states of jobs.
type Machine struct{ tx *kernel.Tx }

func MachineOf(tx *kernel.Tx) Machine { return Machine{tx} }

// Do changes a job as a step says. A job that did not come through the queue cannot be queued
// again: it fails instead. An error after the first change spoils the transaction.
func (m Machine) Do(j *row.Job, s Step) error {
	was := j.State
	if kernel.Stages[s.To] == kernel.Waits && s.To != row.JobLate && was != 0 && !j.Queued {
		s.To = row.JobFailed
	}
	from, to := kernel.Stages[was], kernel.Stages[s.To]
	if !May[from][to] {
		return row.Clash("job "+strconv.FormatUint(j.ID, 10), "it is "+was.String()+" and cannot become "+s.To.String())
	}
	if err := m.leave(j, from, to, &s); err != nil {
		return m.tx.Spoil(err)
	}
	if s.change != nil {
		s.change()
	}
	before := j.Reason
	j.State, j.Reason = s.To, s.Reason
	if from != kernel.Runs || to != kernel.Runs && to != kernel.Over {
		j.Backfilled = s.Around && to == kernel.Runs
	}
	if to == kernel.Over {
		if j.End = s.End; j.End == 0 {
			j.End = m.tx.Instant()
		}
	}
	if err := m.enter(j, was, &s); err != nil {
		return m.tx.Spoil(err)
	}
	if err := m.promised(j, was, cmp.Or(s.Breaks, s.Reason, before)); err != nil {
		return m.tx.Spoil(err)
	}
	if s.Promise != nil {
		j.Promised, j.Earliest = s.Promise.Latest, s.Promise.Earliest
	}
	if s.Announced {
		j.Announce()
	}
	return m.tx.Spoil(PutJob(m.tx, j, was))
}

// promised records a broken promise: the job starts later, or is planned to. The record is
// kept while the job waits, and is reset with the promise.
func (m Machine) promised(j *row.Job, was row.JobState, why row.Reason) error {
	from, to := kernel.Stages[was], kernel.Stages[j.State]
	falls := from != kernel.Runs && (to == kernel.Planned || to == kernel.Runs) && j.Start > j.Promised
	if j.Promised == 0 || !falls && from != kernel.Runs && j.State != row.JobHeld || from == kernel.Runs &&
		to != kernel.Waits {
		return nil
	}
	promised := j.Promised
	j.Promised, j.Earliest = 0, 0
	if !falls {
		return nil
	}
	reason := row.Because(why.Cause, "promised by "+kernel.Stamp(promised)+", and starts at "+kernel.Stamp(j.Start))
	if words := why.String(); words != "" {
		reason = reason.And(words)
	}
	// its new state has an event of its own, next
	return m.tx.Happened(row.Event{Job: j.ID, Event: "promise", Old: was.String(), New: was.String(), Reason: reason})
}

// leave ends the attempt of a running job that will not continue, and takes a job off its
// nodes.
func (m Machine) leave(j *row.Job, from, to kernel.Stage, s *Step) error {
	if from == kernel.Runs && to != kernel.Runs {
		if err := m.endAttempt(j, to == kernel.Waits, s); err != nil {
			return err
		}
	}
	nodes := from == kernel.Planned || from == kernel.Runs
	if !nodes || to != kernel.Waits && to != kernel.Over && s.Plan == nil && s.Keeps == nil {
		return nil
	}
	switch {
	case !s.Lifted:
		if err := vacate(m.tx, j); err != nil {
			return err
		}
	case s.Keeps == nil:
		m.tx.Loaded.Freed.On(j.AllNodes())
	}
	if to == kernel.Waits && from == kernel.Runs {
		j.Idle += max(0, m.tx.Instant()-max(j.Start, j.Begin))
	}
	if to == kernel.Waits || to == kernel.Over && from == kernel.Planned {
		j.Unplace()
	}
	if to == kernel.Waits {
		j.Launched = false
	}
	return nil
}

// endAttempt ends the attempt of a job that runs.
func (m Machine) endAttempt(j *row.Job, goesOn bool, s *Step) error {
	if err := allowed(m.tx, j); err != nil {
		return err
	}
	if s.Leaving != NeverTold {
		if err := m.tx.Allocations().Accrue(j); err != nil {
			return err
		}
	}
	if err := end(m.tx, j, goesOn, s.How); err != nil {
		return err
	}
	if s.Leaving == stopped {
		return toStop(m.tx, j)
	}
	return nil
}

// enter puts a job on its nodes.
func (m Machine) enter(j *row.Job, was row.JobState, s *Step) error {
	switch {
	case s.Plan != nil:
		return plan.PlansOf(m.tx).CarryOut(j, s.Plan)
	case s.Keeps != nil:
		return plan.OccupyAgain(m.tx, j, s.Keeps, was)
	case s.Begins:
		j.Attempt++
	}
	return nil
}

// HeldStart is the row of a job that has the room of a start that is not certain yet.
type HeldStart struct {
	state  row.JobState
	reason row.Reason
}

// Hold gives a job the room of a plan that starts now. Its row does not change until Begin starts
// the job, or Drop gives the room back.
func (m Machine) Hold(j *row.Job, p *plan.PlannedFor, reason row.Reason) (HeldStart, error) {
	was := HeldStart{j.State, j.Reason}
	if j.State == row.JobReserved { // its plan is lifted
		m.tx.Loaded.Freed.On(j.AllNodes())
	}
	j.State, j.Reason = row.JobRunning, reason
	return was, m.tx.Spoil(plan.PlansOf(m.tx).Occupy(j, p))
}

// Begin starts a job whose start is held; announced is as in a Step.
func (m Machine) Begin(j *row.Job, was HeldStart, announced bool) error {
	if err := plan.BindDevices(m.tx, j, nil); err != nil {
		return m.tx.Spoil(err)
	}
	if err := m.promised(j, was.state, cmp.Or(j.Reason, was.reason)); err != nil {
		return m.tx.Spoil(err)
	}
	if announced {
		j.Announce()
	}
	return m.tx.Spoil(PutJob(m.tx, j, was.state))
}

// Drop gives up a held start of a job that is off its nodes. The job then waits.
func (m Machine) Drop(j *row.Job, was HeldStart) error {
	m.tx.Loaded.Freed.On(j.AllNodes())
	j.Unplace()
	j.Attempt--
	j.Backfilled = false
	if j.State, j.Reason = row.JobQueued, was.reason; was.state == row.JobQueued {
		return nil
	}
	j.Reason = kernel.Outrun
	return m.tx.Spoil(PutJob(m.tx, j, was.state))
}

// Severity orders what an executed job may become when its attempt has ended: only a stricter state
// replaces a milder one.
func Severity(becomes row.JobState) int {
	switch becomes {
	case row.JobCancelled:
		return 4
	case row.JobFailed:
		return 3
	case row.JobFinished:
		return 2
	case row.JobHeld, row.JobQueued:
		return 1
	}
	return 0
}

// EndsAs makes the job's executor stop it, within the job's own grace. The job keeps its nodes
// until nothing of it is executed, and then gets the given state.
func (m Machine) EndsAs(j *row.Job, becomes row.JobState, reason row.Reason) error {
	grace, err := m.tx.Attempts().Grace(j)
	if err != nil {
		return err
	}
	return m.EndsWithin(j, becomes, reason, kernel.Seconds(grace))
}

// EndsWithin is EndsAs with grace seconds between the signal to terminate and being killed. A
// launcher is told to stop its job, which then ends by the clock. It fails with a Conflict,
// and changes nothing, if the job is already ending with a stricter state.
func (m Machine) EndsWithin(j *row.Job, becomes row.JobState, reason row.Reason, grace int64) error {
	a, err := m.tx.Attempts().Of(j, j.CurrentAttempt())
	if err != nil {
		return err
	}
	if a.State == row.AttemptEnding && Severity(becomes) < Severity(a.Becomes) {
		return row.Clash("job "+strconv.FormatUint(j.ID, 10), fmt.Sprintf("it is ending, and will be %s", a.Becomes))
	}
	a.State, a.Becomes, a.Why, a.Chunks, a.Along = row.AttemptEnding, becomes, reason, nil, nil
	if reason.String() == "" {
		reason.Text = becomes.String()
	}
	s := Step{To: j.State, Reason: reason, change: func() { j.Ending = true }}
	err = m.tx.Attempts().Put(a)
	if err == nil && !j.Claimed {
		err = toStop(m.tx, j)
	}
	if err == nil && (m.tx.Now+grace < j.End || !j.Claimed) {
		err = untilAnother(m.tx, j, min(m.tx.Now+grace, j.End), &s)
	}
	if err == nil {
		err = m.tx.Happened(row.Event{Job: j.ID, Event: "ending", Attempt: j.Attempt, Old: j.State.String(),
			New: j.State.String(), Reason: reason})
	}
	if err != nil {
		return m.tx.Spoil(err)
	}
	return m.Do(j, s)
}
