package jobs

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/users"
)

// owned returns a job that the caller may change.
func owned(tx *kernel.Tx, id uint64) (*row.Job, error) {
	if !tx.Writable() {
		return nil, file.ErrReadOnly
	}
	j, err := tx.Job(id)
	if err != nil {
		return nil, err
	}
	return j, users.RolesOf(tx).Owns(j)
}

// forChange returns a job that must be in one of the given states. Otherwise it fails with a
// Conflict.
func forChange(tx *kernel.Tx, id uint64, verb string, states ...row.JobState) (*row.Job, error) {
	j, err := owned(tx, id)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(states, j.State) {
		return nil, row.Clash("job "+strconv.FormatUint(id, 10), "it "+j.State.Is()+" and cannot be "+verb)
	}
	return j, nil
}

// Finish ends a running job that has exited with a status: 0 makes it finished, any other failed.
// It is Attempts.Finish for the job's current attempt.
func (js Jobs) Finish(id uint64, status int, reason string) (*kernel.Job, error) {
	return AttemptsOf(js.tx).Finish(Finished{Job: id, Status: status, Reason: reason})
}

// Finished reports that the command of a job has exited.
type Finished struct {
	Job     uint64
	Attempt int // the number of the attempt; 0 for the current one
	Status  int // 0 to 255
	Reason  string
	Force   bool // even if a supervisor executes it
}

// Finish ends a running job as Jobs.Finish does. It fails with a Conflict if the job is at
// another attempt, or if a supervisor executes it, because the supervisor will report the end.
func (as Attempts) Finish(f Finished) (*kernel.Job, error) {
	if err := cmp.Or(kernel.CheckText("reason", f.Reason), checkStatus(f.Status)); err != nil {
		return nil, err
	}
	j, err := forChange(as.tx, f.Job, "done", row.JobRunning)
	if err != nil {
		return nil, err
	}
	what := "job " + strconv.FormatUint(f.Job, 10)
	if current := j.CurrentAttempt(); f.Attempt != 0 && f.Attempt != current {
		return nil, row.Clash(what, fmt.Sprintf("attempt %d has ended: it is at attempt %d", f.Attempt, current))
	}
	a, err := as.tx.Attempts().Of(j, j.CurrentAttempt())
	if err != nil {
		return nil, err
	}
	if kernel.IsExecuted(j) && a.By == row.BySupervisor && !f.Force {
		return nil, row.Clash(what, "its attempt is claimed"+claimedBy(a)+", who will say how it has ended")
	}
	if j.EndsByClock() && f.Status != 0 { // it was stopped, as its launcher was told
		return kernel.JobResult(j, as.tx.Spoil(EndAsMarked(as.tx, j)))
	}
	j.Exit = f.Status
	r := Result{Outcome: row.OutcomeExited, Exit: f.Status, Why: f.Reason}
	return kernel.JobResult(j, as.tx.Spoil(EndExecuted(as.tx, j, r, Step{Leaving: Exited, How: r.Note})))
}

// Cancel ends a job, whatever its state, unless it has ended already. If its command is being
// executed, the job is marked as ending. It keeps its nodes until nothing of it runs.
func (js Jobs) Cancel(id uint64, reason string) (*kernel.Job, error) {
	if err := kernel.CheckText("reason", reason); err != nil {
		return nil, err
	}
	j, err := forChange(js.tx, id, "cancelled", row.JobHeld, row.JobQueued, row.JobReserved, row.JobRunning)
	if err != nil {
		return nil, err
	}
	if kernel.IsExecuted(j) {
		return kernel.JobResult(j, MachineOf(js.tx).EndsAs(j, row.JobCancelled, row.Because(row.CauseRequest, reason)))
	}
	return kernel.JobResult(j,
		MachineOf(js.tx).Do(j, Step{To: row.JobCancelled, Reason: row.Because(row.CauseRequest, reason)}))
}

// Hold keeps a waiting job from starting until Unhold, and removes its plan.
func (js Jobs) Hold(id uint64, reason string) (*kernel.Job, error) {
	if err := kernel.CheckText("reason", reason); err != nil {
		return nil, err
	}
	j, err := forChange(js.tx, id, "held", row.JobQueued, row.JobReserved)
	if err != nil {
		return nil, err
	}
	if !j.Queued {
		return nil, row.Clash("job "+strconv.FormatUint(id, 10),
			"it was placed, not submitted: it does not wait in the queue")
	}
	return kernel.JobResult(j, MachineOf(js.tx).Do(j, Step{To: row.JobHeld, Reason: js.tx.Wish(reason)}))
}

// Unhold releases a held job.
func (js Jobs) Unhold(id uint64) (*kernel.Job, error) {
	j, err := forChange(js.tx, id, "released from a hold", row.JobHeld)
	if err != nil {
		return nil, err
	}
	j.Failures, j.Unbegun, j.Lost, j.Excluded = 0, 0, 0, nil
	js.tx.Loaded.Freed.Count() // whether it can ever run may have changed unnoticed
	return kernel.JobResult(j, MachineOf(js.tx).Do(j, Step{To: row.JobQueued}))
}

// Requeue takes a running job that was submitted off its nodes and puts it back into the queue. If
// its command is being executed, it is marked as ending first, as in Cancel.
func (js Jobs) Requeue(id uint64, reason string) (*kernel.Job, error) {
	return requeue(js.tx, id, row.Because(row.CauseRequest, reason), row.JobQueued)
}

// RequeueHeld does the same, and then holds the job until Unhold.
func (js Jobs) RequeueHeld(id uint64, reason string) (*kernel.Job, error) {
	return requeue(js.tx, id, js.tx.Wish(reason), row.JobHeld)
}

func requeue(tx *kernel.Tx, id uint64, reason row.Reason, to row.JobState) (*kernel.Job, error) {
	if err := kernel.CheckText("reason", reason.Text); err != nil {
		return nil, err
	}
	j, err := forChange(tx, id, "queued again", row.JobRunning)
	if err != nil {
		return nil, err
	}
	if !j.Queued {
		return nil, row.Clash("job "+strconv.FormatUint(id, 10),
			"it was placed, not submitted: there is no place for it in the queue")
	}
	if kernel.IsExecuted(j) {
		return kernel.JobResult(j, MachineOf(tx).EndsAs(j, to, reason))
	}
	return kernel.JobResult(j, MachineOf(tx).Do(j, Step{To: to, Reason: reason}))
}

// Release ends a running job now, or gives up a planned one, and gives its nodes back. A
// launcher is told to stop the command. A job whose command a supervisor executes is marked as
// ending first, as in Cancel. It fails with a Conflict if the job neither runs nor is planned.
func (js Jobs) Release(id uint64) (*kernel.Job, error) {
	j, err := forChange(js.tx, id, "released", row.JobRunning, row.JobReserved)
	if err != nil {
		return nil, err
	}
	if kernel.IsExecuted(j) {
		return kernel.JobResult(j, MachineOf(js.tx).EndsAs(j, row.JobFinished,
			row.Because(row.CauseRequest, "released")))
	}
	becomes := row.JobFinished
	if j.State == row.JobReserved {
		becomes = row.JobCancelled
	}
	return kernel.JobResult(j, MachineOf(js.tx).Do(j, Step{To: becomes, Reason: j.Reason}))
}

// vacate takes a job off its nodes, so that others can use them.
func vacate(tx *kernel.Tx, j *row.Job) error {
	if err := LeaveNodes(tx, j); err != nil {
		return err
	}
	tx.Loaded.Freed.On(j.AllNodes())
	return nil
}

// LeaveNodes takes a job off its nodes. The caller puts it on others, or back.
func LeaveNodes(tx *kernel.Tx, j *row.Job) error {
	if j.State != row.JobRunning && j.State != row.JobReserved {
		return row.Clash("job "+strconv.FormatUint(j.ID, 10), "it is "+j.State.String()+", not running")
	}
	owner := row.JobOwner(j.ID)
	nodes := j.AllNodes()
	for _, n := range nodes {
		if err := tx.Calendar().Remove(n, owner); err != nil {
			return tx.Spoil(fmt.Errorf("%w: %v", row.ErrDamaged, err))
		}
	}
	if err := tx.NodeIndex().Reclass(nodes, j.Start); err != nil {
		return tx.Spoil(err)
	}
	if err := tx.Counters().LetGo(j); err != nil {
		return tx.Spoil(err)
	}
	if j.State == row.JobReserved {
		if err := tx.File.Remove(row.Changes, row.TimeKey(j.Start, owner)); err != nil {
			return err
		}
	}
	if j.EndsByClock() {
		if err := tx.File.Remove(row.Changes, row.TimeKey(j.End, owner)); err != nil {
			return err
		}
	}
	return tx.Loaded.Releases.Remove(j.End, owner)
}
