package store

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store/internal/row"
)

// A job changes its state in one function, machine.do, for verbs, the clock, cycles and reports
// alike. It takes the same steps each time, as far as the change needs them:
//
//	leave  the use of its nodes counts, its attempt ends, a launcher is told to stop it, and
//	       its nodes, counters and instants are given back
//	change what it asks for
//	enter  it gets nodes, counters and devices, all of them verified
//	put    its row, the indexes that follow from it, and the event
//
// docs/states.md has the table of changes, and what asks for each.

// stage is where a job is in its life.
type stage uint8

const (
	unborn  stage = iota
	waits         // held, queued or late: it has no nodes
	planned       // it has nodes from an instant on
	runs
	over
)

var stages = map[JobState]stage{0: unborn, JobHeld: waits, JobQueued: waits, JobLate: waits, JobReserved: planned,
	JobRunning: runs, JobFinished: over, JobFailed: over, JobCancelled: over}

// may are the changes from one stage to another that there are.
var may = [over + 1][over + 1]bool{
	unborn:  {waits: true, planned: true, runs: true},
	waits:   {waits: true, planned: true, runs: true, over: true},
	planned: {waits: true, planned: true, runs: true, over: true},
	runs:    {waits: true, runs: true, over: true},
}

// leaving is the state of a running job's command as the job leaves its nodes.
type leaving uint8

const (
	stopped   leaving = iota // it may still be executed: a launcher is told to stop it
	exited                   // it has ended, or was told to stop long enough ago
	neverTold                // no launcher and no pass was told to execute it: nothing of it counts
)

// step is a change of a job. At most one of plan, keeps and begins is set: how it enters.
type step struct {
	to      JobState
	reason  row.Reason
	leaving leaving
	end     int64              // when it ended, where that is not now
	how     func(*row.Attempt) // how its attempt has ended; nil if its row says so already
	lifted  bool               // it is off its nodes already, to be planned again
	change  func()             // changes its request, or its end, while it is off its nodes

	breaks  row.Reason    // why a promise falls that it had, where that is not the reason
	promise *startPromise // the start that it is promised from now on; nil for none but the one that it has

	plan   *plannedFor // nodes that were found for it
	keeps  []span      // the nodes that it has, for other instants
	begins bool        // its time has come on the nodes that it has
	around bool        // it starts before a job that stands higher and waits
}

// startPromise is the latest start that relaxed backfilling has promised a job, and the earliest that
// it had then.
type startPromise struct{ latest, earliest int64 }

// plannedFor is a plan with the request that it is for.
type plannedFor struct {
	ask placer.Ask
	*placer.Plan
}

// machine is the transaction as far as it changes the states of jobs.
type machine struct{ *Tx }

func (tx *Tx) machine() machine { return machine{tx} }

// do changes a job as a step says. A job that did not come through the queue has no place in
// it: it fails where another one would be queued again. An error after the first change spoils
// the transaction.
func (m machine) do(j *row.Job, s step) error {
	was := j.State
	if stages[s.to] == waits && s.to != JobLate && was != 0 && !j.Queued {
		s.to = JobFailed
	}
	from, to := stages[was], stages[s.to]
	if !may[from][to] {
		return row.Clash("job "+strconv.FormatUint(j.ID, 10), "it is "+was.String()+" and cannot become "+s.to.String())
	}
	if err := m.leave(j, from, to, &s); err != nil {
		return m.spoil(err)
	}
	if s.change != nil {
		s.change()
	}
	before := j.Reason
	j.State, j.Reason = s.to, s.reason
	if from != runs || to != runs && to != over {
		j.Backfilled = s.around && to == runs
	}
	if to == over {
		if j.End = s.end; j.End == 0 {
			j.End = m.Tx.instant()
		}
	}
	if err := m.enter(j, was, &s); err != nil {
		return m.spoil(err)
	}
	if err := m.promised(j, was, cmp.Or(s.breaks, s.reason, before)); err != nil {
		return m.spoil(err)
	}
	if s.promise != nil {
		j.Promised, j.Earliest = s.promise.latest, s.promise.earliest
	}
	return m.spoil(m.putJob(j, was))
}

// promised records a broken promise: the job starts later, or is planned to. It is kept while the
// job waits, and is reset with what the job was promised.
func (m machine) promised(j *row.Job, was JobState, why row.Reason) error {
	from, to := stages[was], stages[j.State]
	falls := from != runs && (to == planned || to == runs) && j.Start > j.Promised
	if j.Promised == 0 || !falls && from != runs && j.State != JobHeld || from == runs && to != waits {
		return nil
	}
	promised := j.Promised
	j.Promised, j.Earliest = 0, 0
	if !falls {
		return nil
	}
	reason := row.Because(why.Cause, "promised by "+stamp(promised)+", and starts at "+stamp(j.Start))
	if words := why.String(); words != "" {
		reason = reason.And(words)
	}
	return m.happened(row.Event{Job: j.ID, Event: "promise", Old: was.String(), New: was.String(), Reason: reason}) // its new state is told of next
}

// leave ends the attempt of a running job that will not run on, and takes a job off its nodes.
func (m machine) leave(j *row.Job, from, to stage, s *step) error {
	if from == runs && to != runs {
		if err := m.endAttempt(j, to == waits, s); err != nil {
			return err
		}
	}
	nodes := from == planned || from == runs
	if !nodes || to != waits && to != over && s.plan == nil && s.keeps == nil {
		return nil
	}
	al := m.allocations()
	switch {
	case !s.lifted:
		if err := al.vacate(j); err != nil {
			return err
		}
	case s.keeps == nil:
		m.loaded.freed.On(j.AllNodes())
	}
	if to == waits && from == runs {
		j.Idle += max(0, m.Tx.instant()-max(j.Start, j.Begin))
	}
	if to == waits || to == over && from == planned {
		j.Unplace()
	}
	if to == waits {
		j.Launched = false
	}
	return nil
}

// endAttempt ends the attempt of a job that runs.
func (m machine) endAttempt(j *row.Job, goesOn bool, s *step) error {
	as := m.attempts()
	if s.leaving != neverTold {
		if err := m.allocations().accrue(j); err != nil {
			return err
		}
	}
	if err := as.end(j, goesOn, s.how); err != nil {
		return err
	}
	if s.leaving == stopped {
		return as.toStop(j)
	}
	return nil
}

// enter puts a job on its nodes.
func (m machine) enter(j *row.Job, was JobState, s *step) error {
	switch {
	case s.plan != nil:
		return m.plans().carryOut(j, s.plan)
	case s.keeps != nil:
		return m.allocations().occupyAgain(j, s.keeps, was)
	case s.begins:
		j.Attempt++
	}
	return nil
}

// heldStart is a job's row while it has the room of a start that is not certain yet.
type heldStart struct {
	state  JobState
	reason row.Reason
}

// hold gives a job the room of a plan that starts now. Its row stays as it is until begin starts it,
// or drop takes that back.
func (m machine) hold(j *row.Job, p *plannedFor, reason row.Reason) (heldStart, error) {
	was := heldStart{j.State, j.Reason}
	if j.State == JobReserved { // and lifted
		m.loaded.freed.On(j.AllNodes())
	}
	j.State, j.Reason = JobRunning, reason
	return was, m.spoil(m.plans().occupy(j, p))
}

// begin starts a job whose start is held.
func (m machine) begin(j *row.Job, was heldStart) error {
	if err := m.nodeDevices().bind(j, nil); err != nil {
		return m.spoil(err)
	}
	if err := m.promised(j, was.state, cmp.Or(j.Reason, was.reason)); err != nil {
		return m.spoil(err)
	}
	return m.spoil(m.putJob(j, was.state))
}

// drop takes back a start that is held, of a job that is off its nodes. It waits then.
func (m machine) drop(j *row.Job, was heldStart) error {
	m.loaded.freed.On(j.AllNodes())
	j.Unplace()
	j.Attempt--
	j.Backfilled = false
	if j.State, j.Reason = JobQueued, was.reason; was.state == JobQueued {
		return nil
	}
	j.Reason = outrun
	return m.spoil(m.putJob(j, was.state))
}

// severity orders what an executed job may become when its attempt has ended: only a stricter state
// replaces a milder one.
func severity(becomes JobState) int {
	switch becomes {
	case JobCancelled:
		return 4
	case JobFailed:
		return 3
	case JobFinished:
		return 2
	case JobHeld, JobQueued:
		return 1
	}
	return 0
}

// endsAs makes the job's executor stop it, within the job's own grace. The job keeps its nodes
// until nothing of it is executed any more, and then becomes what is given here.
func (m machine) endsAs(j *row.Job, becomes JobState, reason row.Reason) error {
	grace, err := m.attempts().grace(j)
	if err != nil {
		return err
	}
	return m.endsWithin(j, becomes, reason, seconds(grace))
}

// endsWithin is endsAs with so many seconds between being told to terminate and being
// killed. A launcher is told to stop its job, which ends by the clock then. It fails with a
// Conflict, before anything has changed, if the job is ending with a stricter fate.
func (m machine) endsWithin(j *row.Job, becomes JobState, reason row.Reason, grace int64) error {
	as := m.attempts()
	a, err := as.of(j, j.CurrentAttempt())
	if err != nil {
		return err
	}
	if a.State == row.AttemptEnding && severity(becomes) < severity(a.Becomes) {
		return row.Clash("job "+strconv.FormatUint(j.ID, 10), fmt.Sprintf("it is %s, and will be %s", why(true, j.Reason.String()), a.Becomes))
	}
	a.State, a.Becomes, a.Why, a.Chunks, a.Along = row.AttemptEnding, becomes, reason, nil, nil
	if reason.String() == "" {
		reason.Text = becomes.String()
	}
	s := step{to: j.State, reason: reason, change: func() { j.Ending = true }}
	err = as.put(a)
	if !j.Claimed {
		err = errors.Join(err, as.toStop(j))
	}
	if err == nil && (m.now+grace < j.End || !j.Claimed) {
		err = m.allocations().untilAnother(j, min(m.now+grace, j.End), &s)
	}
	if err == nil {
		err = m.happened(row.Event{Job: j.ID, Event: "ending", Attempt: j.Attempt, Old: j.State.String(), New: j.State.String(), Reason: reason})
	}
	if err != nil {
		return m.spoil(err)
	}
	return m.do(j, s)
}
