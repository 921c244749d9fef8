package store

import (
	"fmt"
	"strconv"

	"github.com/placectl/placectl/store/internal/row"
)

// forChange finds a job that is in one of some states, a Conflict when it is in
// another.
func (tx *Tx) forChange(id uint64, verb string, states ...JobState) (*row.Job, error) {
	if !tx.Writable() {
		return nil, ErrReadOnly
	}
	j, err := tx.job(id)
	if err != nil {
		return nil, err
	}
	if err := RolesOf(tx).owns(j); err != nil {
		return nil, err
	}
	for _, s := range states {
		if j.State == s {
			return j, nil
		}
	}
	return nil, row.Clash("job "+strconv.FormatUint(id, 10), "it is "+j.State.String()+" and cannot be "+verb)
}

// Finish ends a running job that has exited with a status: finished with 0, failed
// with any other. It is FinishAttempt for the attempt that the job is at.
func (tx *Tx) Finish(id uint64, status int, reason string) (*Job, error) {
	return tx.FinishAttempt(Finished{Job: id, Status: status, Reason: reason})
}

// Finished is that the command of a job has exited.
type Finished struct {
	Job     uint64
	Attempt int // which attempt at it; 0: the one that the job is at
	Status  int // 0 to 255
	Reason  string
	Force   bool // though a supervisor executes it
}

// FinishAttempt ends a running job as Finish does. It fails with a Conflict if the job is at
// another attempt, or if a supervisor executes it, because that will report the end.
func (tx *Tx) FinishAttempt(f Finished) (*Job, error) {
	j, err := tx.forChange(f.Job, "done", JobRunning)
	if err != nil {
		return nil, err
	}
	what := "job " + strconv.FormatUint(f.Job, 10)
	if current := j.CurrentAttempt(); f.Attempt != 0 && f.Attempt != current {
		return nil, row.Clash(what, fmt.Sprintf("attempt %d has ended: it is at attempt %d", f.Attempt, current))
	}
	a, err := tx.attempts().of(j, j.CurrentAttempt())
	if err != nil {
		return nil, err
	}
	if isExecuted(j) && a.By == row.BySupervisor && !f.Force {
		return nil, row.Clash(what, "its attempt is claimed"+claimedBy(a)+", who will say how it has ended")
	}
	if j.EndsByClock() && f.Status != 0 { // it was stopped, as its launcher was told
		return jobResult(j, tx.spoil(tx.attempts().asMarked(j)))
	}
	j.Exit = f.Status
	r := Result{Outcome: OutcomeExited, Exit: f.Status, Why: f.Reason}
	return jobResult(j, tx.spoil(tx.attempts().executed(j, r, step{leaving: exited, how: r.note})))
}

// Cancel ends a job before it has ended of itself, wherever it is. One whose command is
// executed is ending, and keeps its nodes until nothing of it is executed any more.
func (tx *Tx) Cancel(id uint64, reason string) (*Job, error) {
	j, err := tx.forChange(id, "cancelled", JobHeld, JobQueued, JobReserved, JobRunning)
	if err != nil {
		return nil, err
	}
	if isExecuted(j) {
		return jobResult(j, tx.machine().endsAs(j, JobCancelled, row.Because(row.CauseRequest, reason)))
	}
	return jobResult(j, tx.machine().do(j, step{to: JobCancelled, reason: row.Because(row.CauseRequest, reason)}))
}

// Hold keeps a waiting job from starting until Unhold. Its plan is given up.
func (tx *Tx) Hold(id uint64, reason string) (*Job, error) {
	j, err := tx.forChange(id, "held", JobQueued, JobReserved)
	if err != nil {
		return nil, err
	}
	if !j.Queued {
		return nil, row.Clash("job "+strconv.FormatUint(id, 10), "it was placed, not submitted: it does not wait in the queue")
	}
	return jobResult(j, tx.machine().do(j, step{to: JobHeld, reason: tx.wish(reason)}))
}

// Unhold releases a held job.
func (tx *Tx) Unhold(id uint64) (*Job, error) {
	j, err := tx.forChange(id, "released from a hold", JobHeld)
	if err != nil {
		return nil, err
	}
	j.Failures, j.Unbegun, j.Lost, j.Excluded = 0, 0, 0, nil
	tx.loaded.freed.Count() // whether it can ever run may have changed unnoticed
	return jobResult(j, tx.machine().do(j, step{to: JobQueued}))
}

// Requeue takes a running job that was submitted off its nodes and puts it back
// into the queue. One whose command is executed is ending first, as in Cancel.
func (tx *Tx) Requeue(id uint64, reason string) (*Job, error) {
	return tx.requeue(id, row.Because(row.CauseRequest, reason), JobQueued)
}

// RequeueHeld does the same, and the job is held then: it waits for Unhold.
func (tx *Tx) RequeueHeld(id uint64, reason string) (*Job, error) {
	return tx.requeue(id, tx.wish(reason), JobHeld)
}

func (tx *Tx) requeue(id uint64, reason Reason, to JobState) (*Job, error) {
	j, err := tx.forChange(id, "queued again", JobRunning)
	if err != nil {
		return nil, err
	}
	if !j.Queued {
		return nil, row.Clash("job "+strconv.FormatUint(id, 10), "it was placed, not submitted: there is no place for it in the queue")
	}
	if isExecuted(j) {
		return jobResult(j, tx.machine().endsAs(j, to, reason))
	}
	return jobResult(j, tx.machine().do(j, step{to: to, reason: reason}))
}

// Release ends a running job now, or gives up a planned one, and gives its nodes back. A
// launcher is told to stop the command; a job whose command a supervisor executes is ending
// first, as in Cancel. It fails with a Conflict if the job neither runs nor is planned.
func (tx *Tx) Release(id uint64) (*Job, error) {
	j, err := tx.forChange(id, "released", JobRunning, JobReserved)
	if err != nil {
		return nil, err
	}
	if isExecuted(j) {
		return jobResult(j, tx.machine().endsAs(j, JobFinished, row.Because(row.CauseRequest, "released")))
	}
	becomes := JobFinished
	if j.State == JobReserved {
		becomes = JobCancelled
	}
	return jobResult(j, tx.machine().do(j, step{to: becomes, reason: j.Reason}))
}

// vacate takes a job off its nodes, for others to have them.
func (al allocations) vacate(j *row.Job) error {
	if err := al.leave(j); err != nil {
		return err
	}
	al.loaded.freed.On(j.AllNodes())
	return nil
}

// leave takes a job off its nodes, to put it on others or back.
func (al allocations) leave(j *row.Job) error {
	if j.State != JobRunning && j.State != JobReserved {
		return row.Clash("job "+strconv.FormatUint(j.ID, 10), "it is "+j.State.String()+", not running")
	}
	owner := row.JobOwner(j.ID)
	nodes := j.AllNodes()
	for _, n := range nodes {
		if err := al.calendar().Remove(n, owner); err != nil {
			return al.spoil(fmt.Errorf("%w: %v", ErrDamaged, err))
		}
	}
	if err := al.nodeIndex().reclass(nodes, j.Start); err != nil {
		return al.spoil(err)
	}
	if err := al.counters().LetGo(j); err != nil {
		return al.spoil(err)
	}
	if j.State == JobReserved {
		if err := al.file.Remove(row.Changes, row.TimeKey(j.Start, owner)); err != nil {
			return err
		}
	}
	if j.EndsByClock() {
		if err := al.file.Remove(row.Changes, row.TimeKey(j.End, owner)); err != nil {
			return err
		}
	}
	return al.loaded.releases.Remove(j.End, owner)
}
