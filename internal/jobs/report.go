package jobs

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/nodes"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/users"
	"github.com/placectl/placectl/placer"
)

// Blame says who caused the refusal of an attempt.
type Blame uint8

// The possible causes of a refusal.
const (
	BlameNobody Blame = iota
	BlameNode         // it counts against the node
	BlameJob          // any other node would refuse the job, too
	BlameHealth       // the node is not healthy: it is drained, for the reason of the refusal
)

// Result is how an attempt ended, as reported by its claimant.
type Result struct {
	Job     uint64
	Attempt int
	Nonce   row.Nonce
	Outcome row.Outcome
	Exit    int
	Signal  int
	Why     string
	Blame   Blame
	Use     kernel.ResourceUse
	// the epoch of the database with the claim, as in the directories of attempts; "" if unknown
	Epoch string `json:",omitempty"`
}

// The numbers of consecutive failures after which the store acts.
const (
	maxUnbegun  = 3 // counts as refused
	maxExcluded = 8 // the job is held
	maxLost     = 3 // the job is held
)

// Report ends an attempt. It also ends the job, or queues it again if the attempt was refused or
// lost, or failed and should be retried. Reporting the same result again has no effect. It fails
// with a Conflict naming the current attempt if the attempt has ended otherwise or belongs to
// another process; nothing of such a result counts. It also accepts an outcome of unbegun or
// refused for an unclaimed attempt.
func (as Attempts) Report(r Result) (*kernel.Job, error) {
	if !as.tx.Writable() {
		return nil, file.ErrReadOnly
	}
	if err := as.tx.Executing(); err != nil {
		return nil, err
	}
	if r.Outcome < row.OutcomeExited || r.Outcome > row.OutcomeStopped || r.Nonce == (row.Nonce{}) {
		return nil, fmt.Errorf("%w: a result needs an outcome and a nonce", row.ErrInvalid)
	}
	if err := checkStatus(r.Exit); err != nil {
		return nil, err
	}
	j, err := as.tx.Job(r.Job)
	if err != nil {
		return nil, err
	}
	if err := users.RolesOf(as.tx).Executes(j); err != nil {
		return nil, err
	}
	reported, err := report(as.tx, j, r)
	if err != nil {
		return nil, err
	}
	a, err := as.tx.Attempts().Of(j, r.Attempt)
	if err == nil {
		err = as.tx.Spoil(HostsOf(as.tx).alive(a.Host, j))
	}
	return reported, err
}

// checkStatus refuses an exit status that no process can have. Who passes it on would exit with another, perhaps 0.
func checkStatus(n int) error {
	if n < 0 || n > 255 {
		return fmt.Errorf("%w: %d is not an exit status from 0 to 255", row.ErrInvalid, n)
	}
	return nil
}

// report is Report for a job, without a check of the reporter.
func report(tx *kernel.Tx, j *row.Job, r Result) (*kernel.Job, error) {
	current := j.CurrentAttempt()
	if r.Attempt < 1 || r.Attempt > current {
		return nil, lateResult(r, j, "it has not started")
	}
	a, err := tx.Attempts().Of(j, r.Attempt)
	if err != nil {
		return nil, err
	}
	early := a.State == row.AttemptStarted && (r.Outcome == row.OutcomeUnbegun || r.Outcome == row.OutcomeRefused)
	switch {
	case a.Nonce == r.Nonce && a.State == row.AttemptEnded:
		return kernel.JobOf(j), nil
	case a.State == row.AttemptEnded:
		return nil, lateResult(r, j, "it has ended")
	case a.Nonce != r.Nonce && !early:
		return nil, lateResult(r, j, "it is claimed"+claimedBy(a))
	}
	return kernel.JobResult(j, tx.Spoil(reported(tx, j, a, r)))
}

// BeforeClaim reports whether this state of the database precedes the claim of an attempt: its job
// has not been submitted, has not started, or waits for a claim.
func (as Attempts) BeforeClaim(job uint64, attempt int) (bool, error) {
	if job >= as.tx.State.NextJob {
		return true, nil
	}
	j, err := as.tx.Job(job)
	if errors.Is(err, row.ErrNotFound) {
		return false, nil
	}
	if err != nil || attempt > j.CurrentAttempt() {
		return err == nil, err
	}
	a, err := as.tx.Attempts().Of(j, attempt)
	return err == nil && a.State == row.AttemptStarted, err
}

// Lose ends the attempts executed on a host that is dead or will not come back. The host of an
// attempt is the first node of its job. They are lost, as for Report: how much was executed is
// unknown. Those that no process has claimed are queued again, as for PutBack. It returns the jobs.
func (as Attempts) Lose(node uint32, why string) ([]*kernel.Job, error) {
	lost, err := as.PutBack(node, why)
	if err != nil {
		return nil, err
	}
	err = as.runningOn(node, func(j *row.Job, a *row.Attempt) error {
		if !kernel.IsExecuted(j) {
			return nil
		}
		ended, err := report(as.tx, j, Result{Job: j.ID, Attempt: a.Number, Nonce: a.Nonce, Outcome: row.OutcomeLost,
			Why: why})
		lost = append(lost, ended)
		return err
	})
	return lost, err
}

// runningOn calls fn for the jobs that a node's host executes, or should, with their attempts.
func (as Attempts) runningOn(node uint32, fn func(*row.Job, *row.Attempt) error) error {
	for _, b := range slices.Clone(as.tx.Calendar().At(node)) {
		if b.Claim || b.Start > as.tx.Now || row.IsReservation(b.Owner) {
			continue
		}
		j, err := as.tx.ListedJob(b.Owner >> 1)
		if err != nil {
			return err
		}
		if nodes := j.NodeNumbers(); j.State != row.JobRunning || nodes[0] != node {
			continue
		}
		a, err := as.tx.Attempts().Of(j, j.CurrentAttempt())
		if err == nil {
			err = fn(j, a)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func lateResult(r Result, j *row.Job, why string) error {
	return row.Clash(fmt.Sprintf("attempt %d.%d", r.Job, r.Attempt), fmt.Sprintf("%s: its job is %s, at attempt %d",
		why, j.State, j.CurrentAttempt()))
}

// reported ends the current attempt of a job.
func reported(tx *kernel.Tx, j *row.Job, a *row.Attempt, r Result) error {
	marked := a.State == row.AttemptEnding
	a.Outcome, a.Exit, a.Signal, a.Use, a.Nonce = r.Outcome, r.Exit, r.Signal,
		row.UseOf(&r.Use, time.Duration.Microseconds), r.Nonce
	a.Chunks, a.Along = nil, nil
	if a.State == row.AttemptStarted {
		a.State = row.AttemptClaimed
	}
	j.Claimed = true
	own, because := r.Outcome <= row.OutcomeOOM, r.reason()
	if own || r.Outcome == row.OutcomeStopped {
		j.Exit = r.Exit
	}
	if own {
		j.Unbegun, j.Lost = 0, 0
		if err := nodes.Executed(tx.File, firstNode(j)); err != nil {
			return err
		}
	}
	becomes, why := a.Becomes, a.Why
	if !marked || own {
		a.Why = because
	}
	if err := tx.Attempts().Put(a); err != nil {
		return err
	}
	// it must start again all the same
	if marked && (!own || r.failed() && (becomes == row.JobQueued || becomes == row.JobHeld)) {
		return MachineOf(tx).Do(j, Step{To: becomes, Reason: why, Leaving: Exited})
	}
	switch r.Outcome {
	case row.OutcomeUnbegun:
		j.Lost = 0
		if j.Unbegun++; j.Unbegun < maxUnbegun {
			return again(tx, j, because)
		}
		return refused(tx, j, r)
	case row.OutcomeRefused:
		return refused(tx, j, r)
	case row.OutcomeLost:
		return lost(tx, j, r)
	case row.OutcomeStopped: // the stop was not requested here
		return MachineOf(tx).Do(j, Step{To: row.JobCancelled, Reason: because, Leaving: Exited})
	}
	return EndExecuted(tx, j, r, Step{Leaving: Exited})
}

// EndExecuted handles a job whose command has ended; s says how the job leaves its nodes.
func EndExecuted(tx *kernel.Tx, j *row.Job, r Result, s Step) error {
	if s.Reason = r.reason(); !r.failed() {
		s.To = row.JobFinished
		return MachineOf(tx).Do(j, s)
	}
	if s.Reason.Text == "" {
		s.Reason.Text = failure(r)
	}
	s.To = row.JobFailed
	grows := false
	p, err := tx.Payloads().Of(j)
	if err != nil {
		return err
	}
	if p != nil && j.Queued && j.Retried < p.Ending.Retries {
		again, err := kernel.RetriedOn(p.Ending.RetryOn, r.Outcome, r.Exit)
		if err != nil {
			return err
		}
		if again {
			wait := p.Ending.WaitBefore(j.Retried)
			j.Retried++
			j.Begin = tx.Now + kernel.Seconds(wait)
			grows = p.Ending.GrowsFor(r.Outcome)
			s.To, s.Reason = row.JobQueued,
				s.Reason.And(fmt.Sprintf("retry %d of %d from %s on", j.Retried, p.Ending.Retries,
					kernel.Stamp(j.Begin)))
		}
	}
	if err := MachineOf(tx).Do(j, s); err != nil || !grows || j.State != row.JobQueued {
		return err
	}
	return grow(tx, j, &p.Ending)
}

// failed reports whether a command has ended badly.
func (r Result) failed() bool { return r.Outcome != row.OutcomeExited || r.Exit != 0 }

// reason returns the reason of a result; it is empty for a command that has succeeded.
func (r Result) reason() row.Reason {
	if !r.failed() && r.Why == "" {
		return row.Reason{}
	}
	return row.Because(row.CauseOf(r.Outcome), r.Why)
}

// Note writes a result into the row of its attempt.
func (r Result) Note(a *row.Attempt) {
	a.Outcome, a.Exit, a.Why = r.Outcome, r.Exit, r.reason()
	if a.Why.Text == "" && r.failed() {
		a.Why.Text = failure(r)
	}
}

// failure describes how an attempt has failed.
func failure(r Result) string {
	switch r.Outcome {
	case row.OutcomeSignal:
		return fmt.Sprintf("ended by signal %d", r.Signal)
	case row.OutcomeWalltime:
		return "its walltime was over"
	case row.OutcomeOOM:
		return "it had more memory than it asked for"
	}
	return fmt.Sprintf("exit status %d", r.Exit)
}

// again begins another attempt on the same nodes, to the same end.
func again(tx *kernel.Tx, j *row.Job, why row.Reason) error {
	if err := end(tx, j, true, nil); err != nil {
		return err
	}
	if err := tx.Loaded.Book.Left(j, j.State, j.CurrentAttempt()); err != nil {
		return err
	}
	j.Attempt++
	j.Launched = false
	if err := tx.Happened(row.Event{Job: j.ID, Event: "again", Attempt: j.Attempt - 1, Old: j.State.String(),
		New: j.State.String(), Reason: why}); err != nil {
		return err
	}
	return PutJob(tx, j, j.State)
}

// refused requeues a job that its node could not execute, so that it runs on other nodes.
func refused(tx *kernel.Tx, j *row.Job, r Result) error {
	j.Unbegun, j.Lost = 0, 0
	node := firstNode(j)
	r.Job = j.ID
	if err := HostsOf(tx).refuses(node, r); err != nil {
		return err
	}
	if err := allowed(tx, j); err != nil {
		return err
	}
	if r.Blame == BlameJob || !j.Queued {
		return MachineOf(tx).Do(j, Step{To: row.JobFailed, Reason: row.Because(row.CauseRefused, r.Why),
			Leaving: Exited})
	}
	again := Step{To: row.JobQueued, Reason: row.Because(row.CauseRefused, "refused: "+r.Why), Leaving: Exited}
	if r.Blame == BlameHealth { // the node is drained: it takes no jobs until an operator resumes it
		return MachineOf(tx).Do(j, again)
	}
	if !slices.Contains(j.Excluded, node) {
		j.Excluded = append(j.Excluded, node)
	}
	left, err := mayStillRun(tx, j)
	switch {
	case err != nil:
		return err
	case !left || len(j.Excluded) > maxExcluded:
		return heldFor(tx, j, r.Why)
	}
	return MachineOf(tx).Do(j, again)
}

// firstNode returns the node whose host executes a running job.
func firstNode(j *row.Job) uint32 {
	if nodes := j.NodeNumbers(); len(nodes) > 0 {
		return nodes[0]
	}
	return 0
}

// mayStillRun reports whether a job has possible nodes besides those it avoids.
func mayStillRun(tx *kernel.Tx, j *row.Job) (bool, error) {
	a, err := plan.AskOfJob(tx, j)
	if err == nil {
		var snap *placer.Snapshot
		if snap, err = plan.Snapshot(tx, j.Queue); err == nil {
			err = snap.Possible(a)
		}
	}
	if kernel.IsRefusal(err) {
		return false, nil
	}
	return err == nil, err
}

// heldFor holds a job that no node could execute.
func heldFor(tx *kernel.Tx, j *row.Job, why string) error {
	names, err := tx.NodeNames(j.Excluded)
	if err != nil {
		return err
	}
	return MachineOf(tx).Do(j,
		Step{To: row.JobHeld,
			Reason: row.Because(row.CauseRefused, fmt.Sprintf("nodes that refused it: %s; the last one: %s",
				index.FoldNodeList(names), why)), Leaving: Exited})
}

// lost decides what happens to a job whose attempt ended in an unknown way.
func lost(tx *kernel.Tx, j *row.Job, r Result) error {
	s := Step{To: row.JobQueued, Reason: row.Because(row.CauseLost, "lost: "+r.Why), Leaving: Exited}
	j.Unbegun = 0
	j.Lost++
	switch {
	case j.NoRequeue || j.Attended:
		s.To = row.JobFailed
	case j.Reason.Cause == row.CauseRestored: // it may have run to its end since
		s.To, s.Reason = row.JobHeld, j.Reason
	case j.Lost >= maxLost && j.Queued:
		s.To, s.Reason.Text = row.JobHeld, fmt.Sprintf("%d attempts in a row were lost, the last one: %s", j.Lost,
			r.Why)
	}
	return MachineOf(tx).Do(j, s)
}
