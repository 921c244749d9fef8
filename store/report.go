package store

import (
	"errors"
	"fmt"
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store/internal/hosts"
	"github.com/placectl/placectl/store/internal/row"
)

// Blame is whose fault it is that an attempt was refused.
type Blame uint8

// Whose fault it is.
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
	Nonce   Nonce
	Outcome Outcome
	Exit    int
	Signal  int
	Why     string
	Blame   Blame
	Use     ResourceUse
	Log     string
	Epoch   string `json:",omitempty"` // of the database that has the claim, as the directories of attempts have it; "" for one that is not known
}

// After how many attempts in a row that came to nothing something else is done.
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
func (tx *Tx) Report(r Result) (*Job, error) {
	if !tx.Writable() {
		return nil, ErrReadOnly
	}
	if r.Outcome < OutcomeExited || r.Outcome > OutcomeStopped || r.Nonce == (Nonce{}) {
		return nil, fmt.Errorf("%w: a result needs an outcome and a nonce", ErrInvalid)
	}
	j, err := tx.job(r.Job)
	if err != nil {
		return nil, err
	}
	if err := RolesOf(tx).executes(j); err != nil {
		return nil, err
	}
	return tx.attempts().report(j, r)
}

// report is Report for a job, without a check of the reporter.
func (as attempts) report(j *row.Job, r Result) (*Job, error) {
	current := j.CurrentAttempt()
	if r.Attempt < 1 || r.Attempt > current {
		return nil, lateResult(r, j, "it has not started")
	}
	a, err := as.of(j, r.Attempt)
	if err != nil {
		return nil, err
	}
	early := a.State == row.AttemptStarted && (r.Outcome == OutcomeUnbegun || r.Outcome == OutcomeRefused)
	switch {
	case a.Nonce == r.Nonce && a.State == row.AttemptEnded:
		return jobOf(j), nil
	case a.State == row.AttemptEnded:
		return nil, lateResult(r, j, "it has ended")
	case a.Nonce != r.Nonce && !early:
		return nil, lateResult(r, j, "it is claimed"+claimedBy(a))
	}
	return jobResult(j, as.spoil(as.reported(j, a, r)))
}

// BeforeClaim reports whether this state of the database is one from before an attempt was
// claimed: its job has not been submitted, it has not started, or waits for a claim.
func (tx *Tx) BeforeClaim(job uint64, attempt int) (bool, error) {
	if job >= tx.state.NextJob {
		return true, nil
	}
	j, err := tx.job(job)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	if err != nil || attempt > j.CurrentAttempt() {
		return err == nil, err
	}
	a, err := tx.attempts().of(j, attempt)
	return err == nil && a.State == row.AttemptStarted, err
}

// Lose ends the attempts executed on a host that is dead or will not come back. The host of an
// attempt is the first node of its job. They are lost, as for Report: how much was executed is
// unknown. It returns the jobs.
func (tx *Tx) Lose(node uint32, why string) ([]*Job, error) {
	if err := tx.operates("nodes"); err != nil {
		return nil, err
	}
	var lost []*Job
	for _, b := range slices.Clone(tx.calendar().At(node)) {
		if b.Claim || b.Start > tx.now || row.IsReservation(b.Owner) {
			continue
		}
		j, err := tx.job(b.Owner >> 1)
		if err != nil {
			return nil, err
		}
		if nodes := j.NodeNumbers(); !isExecuted(j) || nodes[0] != node {
			continue
		}
		a, err := tx.Attempt(j.ID, 0)
		if err != nil {
			return nil, err
		}
		ended, err := tx.attempts().report(j, Result{Job: j.ID, Attempt: a.Number, Nonce: a.Nonce, Outcome: OutcomeLost, Why: why})
		if err != nil {
			return nil, err
		}
		lost = append(lost, ended)
	}
	return lost, nil
}

func lateResult(r Result, j *row.Job, why string) error {
	return row.Clash(fmt.Sprintf("attempt %d.%d", r.Job, r.Attempt), fmt.Sprintf("%s: its job is %s, at attempt %d", why, j.State, j.CurrentAttempt()))
}

// reported ends the attempt that a job is at.
func (as attempts) reported(j *row.Job, a *row.Attempt, r Result) error {
	marked := a.State == row.AttemptEnding
	a.Outcome, a.Exit, a.Signal, a.Use, a.Log, a.Nonce = r.Outcome, r.Exit, r.Signal, r.Use.row(), r.Log, r.Nonce
	a.Chunks, a.Along = nil, nil
	if a.State == row.AttemptStarted {
		a.State = row.AttemptClaimed
	}
	j.Claimed = true
	own, because := r.Outcome <= OutcomeOOM, r.reason()
	if own {
		j.Unbegun, j.Lost, j.Exit = 0, 0, r.Exit
		if err := hosts.Executed(as.file, firstNode(j)); err != nil {
			return err
		}
	}
	becomes, why := a.Becomes, a.Why
	if !marked || own {
		a.Why = because
	}
	if err := as.put(a); err != nil {
		return err
	}
	if marked && (!own || r.failed() && (becomes == JobQueued || becomes == JobHeld)) { // it is to start again all the same
		return as.machine().do(j, step{to: becomes, reason: why, leaving: exited})
	}
	switch r.Outcome {
	case OutcomeUnbegun:
		j.Lost = 0
		if j.Unbegun++; j.Unbegun < maxUnbegun {
			return as.again(j, because)
		}
		return as.refused(j, r)
	case OutcomeRefused:
		return as.refused(j, r)
	case OutcomeLost:
		return as.lost(j, r)
	case OutcomeStopped: // the stop was not requested here
		return as.machine().do(j, step{to: JobCancelled, reason: because, leaving: exited})
	}
	return as.executed(j, r, step{leaving: exited})
}

// executed handles a job whose command has ended; s says how the job leaves its nodes.
func (as attempts) executed(j *row.Job, r Result, s step) error {
	if s.reason = r.reason(); !r.failed() {
		s.to = JobFinished
		return as.machine().do(j, s)
	}
	if s.reason.Text == "" {
		s.reason.Text = failure(r)
	}
	s.to = JobFailed
	grows := false
	p, err := as.payloads().of(j)
	if err != nil {
		return err
	}
	if p != nil && j.Queued && j.Retried < p.Ending.Retries {
		again, err := retriedOn(p.Ending.RetryOn, r.Outcome, r.Exit)
		if err != nil {
			return err
		}
		if again {
			wait := p.Ending.retryWait(j.Retried)
			j.Retried++
			j.Begin = as.now + seconds(wait)
			grows = p.Ending.growsFor(r.Outcome)
			s.to, s.reason = JobQueued, s.reason.And(fmt.Sprintf("retry %d of %d from %s on", j.Retried, p.Ending.Retries, stamp(j.Begin)))
		}
	}
	if err := as.machine().do(j, s); err != nil || !grows || j.State != JobQueued {
		return err
	}
	return as.grow(j, &p.Ending)
}

// failed reports whether a command has ended badly.
func (r Result) failed() bool { return r.Outcome != OutcomeExited || r.Exit != 0 }

// reason says why a result is as it is; nothing of a command that has succeeded.
func (r Result) reason() Reason {
	if !r.failed() && r.Why == "" {
		return Reason{}
	}
	return row.Because(row.CauseOf(r.Outcome), r.Why)
}

// note writes a result into the row of its attempt.
func (r Result) note(a *row.Attempt) {
	a.Outcome, a.Exit, a.Why = r.Outcome, r.Exit, r.reason()
	if a.Why.Text == "" && r.failed() {
		a.Why.Text = failure(r)
	}
}

// failure says how an attempt has failed.
func failure(r Result) string {
	switch r.Outcome {
	case OutcomeSignal:
		return fmt.Sprintf("ended by signal %d", r.Signal)
	case OutcomeWalltime:
		return "its walltime was over"
	case OutcomeOOM:
		return "it had more memory than it asked for"
	}
	return fmt.Sprintf("exit status %d", r.Exit)
}

// again begins another attempt on the same nodes, to the same end.
func (as attempts) again(j *row.Job, why row.Reason) error {
	if err := as.end(j, true, nil); err != nil {
		return err
	}
	if err := as.loaded.book.Left(j, j.State, j.CurrentAttempt()); err != nil {
		return err
	}
	j.Attempt++
	j.Launched = false
	if err := as.happened(row.Event{Job: j.ID, Event: "again", Attempt: j.Attempt - 1, Old: j.State.String(), New: j.State.String(), Reason: why}); err != nil {
		return err
	}
	return as.putJob(j, j.State)
}

// claimWithin is how many seconds there are to claim an attempt, if passes claim them.
const claimWithin = 15 * 60

// unclaimedTooLong gives up on the node of a job whose attempt was not claimed there in time, and
// reports whether it did.
func (as attempts) unclaimedTooLong(j *row.Job, set *Settings) (bool, error) {
	if set.Launch != LaunchWork || !j.HasCommand() {
		return false, nil
	}
	a, err := as.of(j, j.CurrentAttempt())
	if err != nil || as.now < a.Began+claimWithin {
		return false, err
	}
	host, err := as.host(j)
	if err != nil {
		return false, err
	}
	why := fmt.Sprintf("not claimed in time on %s (user %s)", host, j.User)
	blame, err := as.Hosts().blame(host)
	if err != nil {
		return false, err
	}
	a.Outcome, a.Why, a.State, j.Claimed = row.OutcomeRefused, row.Because(row.CauseUntold, why), row.AttemptClaimed, true
	if err := as.put(a); err != nil {
		return false, err
	}
	return true, as.refused(j, Result{Job: j.ID, Why: why, Blame: blame})
}

// refused queues a job again that its node could not execute, for other nodes.
func (as attempts) refused(j *row.Job, r Result) error {
	j.Unbegun, j.Lost = 0, 0
	node := firstNode(j)
	r.Job = j.ID
	if err := as.Hosts().refuses(node, r); err != nil {
		return err
	}
	if r.Blame == BlameJob || !j.Queued {
		return as.machine().do(j, step{to: JobFailed, reason: row.Because(row.CauseRefused, r.Why), leaving: exited})
	}
	again := step{to: JobQueued, reason: row.Because(row.CauseRefused, "refused: "+r.Why), leaving: exited}
	if r.Blame == BlameHealth { // it takes no jobs until it was looked after
		return as.machine().do(j, again)
	}
	if !slices.Contains(j.Excluded, node) {
		j.Excluded = append(j.Excluded, node)
	}
	left, err := as.mayStillRun(j)
	switch {
	case err != nil:
		return err
	case !left || len(j.Excluded) > maxExcluded:
		return as.heldFor(j, r.Why)
	}
	return as.machine().do(j, again)
}

// firstNode is the node whose host executes a running job.
func firstNode(j *row.Job) uint32 {
	if nodes := j.NodeNumbers(); len(nodes) > 0 {
		return nodes[0]
	}
	return 0
}

// mayStillRun reports whether a job has possible nodes besides those it avoids.
func (as attempts) mayStillRun(j *row.Job) (bool, error) {
	a, err := as.askOf(j)
	if err == nil {
		var snap *placer.Snapshot
		if snap, err = as.snapshot(j.Queue); err == nil {
			err = snap.Possible(a)
		}
	}
	if isRefusal(err) {
		return false, nil
	}
	return err == nil, err
}

// heldFor holds a job that no node could execute.
func (as attempts) heldFor(j *row.Job, why string) error {
	names, err := as.NodeNames(j.Excluded)
	if err != nil {
		return err
	}
	return as.machine().do(j, step{to: JobHeld, reason: row.Because(row.CauseRefused, fmt.Sprintf("nodes that refused it: %s; the last one: %s", index.FoldNodeList(names), why)), leaving: exited})
}

// lost decides what follows for a job whose attempt ended in an unknown way.
func (as attempts) lost(j *row.Job, r Result) error {
	s := step{to: JobQueued, reason: row.Because(row.CauseLost, "lost: "+r.Why), leaving: exited}
	j.Unbegun = 0
	j.Lost++
	switch {
	case j.NoRequeue || j.Attended:
		s.to = JobFailed
	case j.Lost >= maxLost && j.Queued:
		s.to, s.reason.Text = JobHeld, fmt.Sprintf("%d attempts in a row were lost, the last one: %s", j.Lost, r.Why)
	}
	return as.machine().do(j, s)
}
