package engine

import (
	"cmp"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/queue"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"pgregory.net/rapid"
)

// lifeOfJobs is a random life of jobs, with what is expected of each. It calls every verb in
// every state, and a table of its own says what follows.
type lifeOfJobs struct {
	*rapid.T
	db    *DB
	clock *clock
	jobs  map[uint64]*expected
	own   uint64 // whose command has ended of itself in this step
}

// expected is what is known of a job from outside.
type expected struct {
	state    JobState
	placed   bool // it did not come through the queue
	executed bool // a supervisor has its attempt
	fate     JobState
	retries  int
	nonce    byte
}

func (e *expected) String() string { return fmt.Sprintf("%+v", *e) }

// after returns what a verb makes of a job, and whether it is refused.
func (e *expected) after(verb string, status int) (state, fate JobState, refused bool) {
	stop := func(becomes JobState) (JobState, JobState, bool) {
		if e.executed {
			return JobRunning, becomes, jobs.Severity(becomes) < jobs.Severity(e.fate)
		}
		return unlessPlaced(e.placed, becomes), 0, false
	}
	waits := e.state == JobHeld || e.state == JobQueued
	switch verb {
	case "hold":
		return JobHeld, 0, e.placed || e.state != JobQueued && e.state != JobReserved
	case "unhold":
		return JobQueued, 0, e.state != JobHeld
	case "cancel":
		if e.state == JobRunning {
			return stop(JobCancelled)
		}
		return JobCancelled, 0, !waits && e.state != JobReserved
	case "release":
		switch e.state {
		case JobRunning:
			return stop(JobFinished)
		case JobReserved:
			return JobCancelled, 0, false
		}
		return 0, 0, true
	case "requeue":
		if e.state != JobRunning || e.placed {
			return 0, 0, true
		}
		return stop(JobQueued)
	case "done":
		switch {
		case e.state != JobRunning || e.executed:
			return 0, 0, true
		case status == 0:
			return JobFinished, 0, false
		case e.retries > 0:
			return JobQueued, 0, false
		}
		return JobFailed, 0, false
	case "launch failed":
		switch {
		case e.state != JobRunning:
			return e.state, e.fate, false
		case e.fate != 0:
			return unlessPlaced(e.placed, e.fate), 0, false
		}
		return unlessPlaced(e.placed, JobQueued), 0, false
	case "give back":
		if e.state == JobRunning && e.fate != 0 {
			return unlessPlaced(e.placed, e.fate), 0, false
		}
		return 0, 0, true
	}
	panic(verb)
}

// unlessPlaced returns the next state of a job: one that was placed has no place in the queue.
func unlessPlaced(placed bool, s JobState) JobState {
	if placed && s == JobQueued {
		return JobFailed
	}
	return s
}

func (l *lifeOfJobs) request() placer.Request {
	return placer.Request{Select: fmt.Sprintf("%d:ncpus=%d", rapid.IntRange(1, 2).Draw(l.T, "chunks"),
		rapid.IntRange(1, 3).Draw(l.T, "ncpus")),
		Account: rapid.SampledFrom([]string{"", "a", "b"}).Draw(l.T, "account"), Queue: "",
		Walltime: time.Duration(rapid.IntRange(1, 900).Draw(l.T, "walltime")) * time.Second}
}

// job draws a job, or 0 if there is none.
func (l *lifeOfJobs) job() uint64 {
	if len(l.jobs) == 0 {
		return 0
	}
	return rapid.Uint64Range(1, uint64(len(l.jobs))).Draw(l.T, "job")
}

// look reads the states of jobs after time has passed or a cycle was made, and verifies that
// each change is possible.
func (l *lifeOfJobs) look(tx *Tx) error {
	return tx.k.EachJob(func(j *row.Job) error {
		e := l.jobs[j.ID]
		if e == nil {
			e = &expected{placed: !j.Queued}
			l.jobs[j.ID] = e
		}
		if from, to := kernel.Stages[e.state], kernel.Stages[j.State]; from == kernel.Over && e.state != j.State ||
			from != to && !jobs.May[from][to] && to == kernel.Unborn {
			l.Errorf("job %d was %s and is %s", j.ID, e.state, j.State)
		}
		if e.fate == JobCancelled && j.State != JobRunning && j.State != JobCancelled && l.own != j.ID {
			l.Errorf("job %d was cancelled, and is %s", j.ID, j.State)
		}
		e.state, e.executed = j.State, kernel.IsExecuted(j)
		if e.fate = 0; j.Ending {
			a, err := tx.k.Attempts().Of(j, j.CurrentAttempt())
			if err != nil {
				return err
			}
			e.fate = a.Becomes
		}
		return nil
	})
}

// ask calls a verb for a job, and compares its answer.
func (l *lifeOfJobs) ask(verb string) {
	id := l.job()
	if id == 0 {
		return
	}
	e, status := l.jobs[id], rapid.IntRange(0, 1).Draw(l.T, "status")
	err := l.db.Update(func(tx *Tx) (err error) {
		if err := l.look(tx); err != nil { // time has passed
			return err
		}
		j, err := tx.k.Job(id)
		if err != nil {
			return err
		}
		if p, err := tx.k.Payloads().Of(j); err != nil {
			return err
		} else if e.retries = 0; p != nil {
			e.retries = p.Ending.Retries - j.Retried
		}
		state, fate, refused := e.after(verb, status)
		if verb == "done" && j.EndsByClock() && status != 0 {
			state = unlessPlaced(e.placed, e.fate)
		}
		switch verb {
		case "hold":
			_, err = tx.Jobs().Hold(id, "")
		case "unhold":
			_, err = tx.Jobs().Unhold(id)
		case "cancel":
			_, err = tx.Jobs().Cancel(id, "")
		case "release":
			_, err = tx.Jobs().Release(id)
		case "requeue":
			_, err = tx.Jobs().Requeue(id, "")
		case "done":
			_, err = tx.Jobs().Finish(id, status, "")
		case "launch failed":
			err = tx.Attempts().LaunchEnded(id, errors.New("no"), 99)
		case "give back":
			_, err = tx.Attempts().GiveBack(id)
		}
		if is := errors.Is(err, ErrConflict); is != refused || err != nil && !is {
			l.Errorf("%s of job %d, %s: %v, and refused should be %v", verb, id, e, err, refused)
		}
		if refused || err != nil {
			return nil
		}
		if j, err = tx.k.Job(id); err != nil {
			return err
		}
		a, err := tx.k.Attempts().Of(j, max(1, j.CurrentAttempt()))
		if err == nil && (j.State != state || j.Ending != (fate != 0) || fate != 0 && a.Becomes != fate) {
			l.Errorf("%s of job %d, %s: it is %s, ending %v as %s, and should be %s, as %s", verb, id, e, j.State,
				j.Ending, a.Becomes, state, fate)
		}
		return err
	})
	if err != nil {
		l.Fatalf("%s of job %d: %v", verb, id, err)
	}
}

// act does one thing at random.
func (l *lifeOfJobs) act() {
	l.own = 0
	l.clock.t += int64(rapid.SampledFrom([]int{0, 0, 1, 20, 300}).Draw(l.T, "seconds"))
	what := rapid.SampledFrom([]string{"submit", "submit", "place", "cycle", "cycle", "extend", "alter", "signal",
		"retry", "claim", "claim", "report", "limit",
		"hold", "unhold", "cancel", "release", "requeue", "done", "launch failed", "give back"}).Draw(l.T, "what")
	err := l.db.Update(func(tx *Tx) (err error) {
		switch what {
		case "submit":
			s := Submission{Request: l.request(), Hold: rapid.Bool().Draw(l.T, "hold"),
				NoRequeue: rapid.Bool().Draw(l.T, "no requeue"),
				Priority:  int64(rapid.IntRange(0, 3).Draw(l.T, "priority")), Command: []string{"true"}}
			if n := rapid.IntRange(0, 2).Draw(l.T, "retries"); n > 0 {
				s.Payload = &Payload{Dir: "/", Ending: Ending{Retries: n, RetryWait: time.Second}}
			}
			if rapid.IntRange(0, 3).Draw(l.T, "deadline") == 0 {
				s.Deadline = kernel.Instant(tx.k.Now + int64(rapid.IntRange(1, 2000).Draw(l.T, "by")))
			}
			_, err = tx.Jobs().Submit(s)
		case "place":
			_, err = tx.Jobs().PlaceAt(l.request(),
				kernel.Instant(tx.k.Now+int64(rapid.IntRange(0, 300).Draw(l.T, "at"))))
		case "cycle":
			_, err = tx.Cycle().Run(
				CycleSpec{Backfill: rapid.SampledFrom([]Backfill{EASY, Conservative, FCFS, Relaxed}).Draw(l.T,
					"backfill")})
		case "extend":
			_, err = tx.Jobs().Extend(l.job(), time.Duration(rapid.IntRange(1, 2000).Draw(l.T, "walltime"))*time.Second)
		case "alter":
			account, walltime := rapid.SampledFrom([]string{"", "a", "b"}).Draw(l.T, "account"),
				time.Duration(rapid.IntRange(1, 900).Draw(l.T, "walltime"))*time.Second
			a := Alteration{Account: &account, Walltime: &walltime}
			if rapid.Bool().Draw(l.T, "carries") {
				a = Alteration{Payload: func(p *Payload) error {
					p.Ending.Retries = rapid.IntRange(0, 2).Draw(l.T, "retries")
					return nil
				}}
			}
			_, err = tx.Jobs().Alter(l.job(), a)
		case "signal":
			return l.signal(tx)
		case "retry":
			err = l.retry(tx)
		case "claim":
			id := l.job()
			if id == 0 {
				return nil
			}
			j, err := tx.k.Job(id)
			if err != nil {
				return err
			}
			l.jobs[id].nonce++
			_, err = tx.Attempts().Claim(Claim{Job: id, Attempt: j.CurrentAttempt(), By: BySupervisor,
				Nonce: Nonce{byte(id), l.jobs[id].nonce}, Process: Process{Host: "n0", PID: 1}})
			return cmp.Or(err, keptWithin(tx, j.ID))
		case "report":
			id := l.job()
			if id == 0 {
				return nil
			}
			j, err := tx.k.Job(id)
			if err != nil {
				return err
			}
			l.own = id
			_, err = tx.Attempts().Report(Result{Job: id, Attempt: j.CurrentAttempt(),
				Nonce: Nonce{byte(id), l.jobs[id].nonce}, Exit: rapid.IntRange(0, 2).Draw(l.T, "exit"),
				Outcome: rapid.SampledFrom([]Outcome{OutcomeExited, OutcomeExited, OutcomeUnbegun, OutcomeRefused,
					OutcomeLost, OutcomeStopped, OutcomeWalltime}).Draw(l.T, "outcome")})
			return err
		case "limit":
			err = tx.Limits().Set(Limit{Key: rapid.SampledFrom([]string{"all", "account=a"}).Draw(l.T, "key"),
				Measure: rapid.SampledFrom([]string{"running", "ncpus.queued", "jobs"}).Draw(l.T, "measure"),
				Max:     int64(rapid.IntRange(1, 6).Draw(l.T, "most"))})
		default:
			return nil
		}
		return err
	})
	var refusal *placer.Refusal
	if err != nil && !errors.Is(err, ErrConflict) && !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrNotFound) &&
		!errors.As(err, &refusal) {
		l.Fatalf("%s: %v", what, err)
	}
	if err := l.db.View(l.look); err != nil {
		l.Fatal(err)
	}
	switch what {
	case "hold", "unhold", "cancel", "release", "requeue", "done", "launch failed", "give back":
		l.ask(what)
	}
	if err := l.db.View(l.look); err != nil {
		l.Fatal(err)
	}
	if err := l.db.Check(func(finding string) { l.Errorf("after %s: check: %s", what, finding) }); err != nil {
		l.Fatal(err)
	}
}

// signal sends a job STOP or CONT, and makes the process that executes it report that. The job
// is paused from the one to the other, and then in its earlier state.
func (l *lifeOfJobs) signal(tx *Tx) error {
	id := l.job()
	if id == 0 {
		return nil
	}
	was, err := tx.k.Job(id)
	if err != nil {
		return err
	}
	const stop, cont, usr1 = 19, 18, 10 // Linux's numbers, as in rows
	sig := rapid.SampledFrom([]int{stop, cont, usr1}).Draw(l.T, "signal")
	a, number, err := tx.Attempts().Signal(id, sig)
	if refused := was.State != JobRunning || !kernel.IsExecuted(was); errors.Is(err, ErrConflict) != refused ||
		err != nil && !refused {
		l.Errorf("signal of job %d, %s: %v, and refused should be %v", id, was.State, err, refused)
	}
	if err != nil {
		return nil
	}
	if err := tx.Attempts().Signalled(id, a.Number, a.Nonce, number); err != nil {
		return err
	}
	is, err := tx.k.Job(id)
	if err != nil {
		return err
	}
	if paused := sig == stop || was.Paused && sig != cont; is.Paused != paused || is.State != was.State ||
		is.Ending != was.Ending || is.End != was.End {
		l.Errorf("after %v job %d is %s, paused %v; it was %s, paused %v", sig, id, is.State, is.Paused, was.State,
			was.Paused)
	}
	return nil
}

// retry submits a job once more: it must have ended, and have come from the queue.
func (l *lifeOfJobs) retry(tx *Tx) error {
	id := l.job()
	if id == 0 {
		return nil
	}
	was, err := tx.k.Job(id)
	if err != nil {
		return err
	}
	jobs, err := tx.Jobs().Retry([]uint64{id}, nil)
	if refused := was.State.Live() || !was.Queued; errors.Is(err, ErrConflict) != refused {
		l.Errorf("retry of job %d, %s: %v, and refused should be %v", id, was.State, err, refused)
	}
	if err == nil && (len(jobs) != 1 || jobs[0].RetryOf != id || jobs[0].Select != was.Select ||
		jobs[0].State != JobQueued) {
		l.Errorf("retry of job %d: %+v", id, jobs)
	}
	return err
}

// keptWithin verifies that a claim has not given a job more time than its deadline.
func keptWithin(tx *Tx, id uint64) error {
	j, err := tx.k.Job(id)
	if err == nil && j.Deadline != 0 && j.State == JobRunning && j.End > j.Deadline && j.End > j.Start+j.Walltime {
		err = fmt.Errorf("%w: job %d ends at %d, after its deadline %d", ErrDamaged, id, j.End, j.Deadline)
	}
	return err
}

// TestMachine: in random lives each verb does in each state what the table says, and check
// finds nothing after each step.
func TestMachine(tt *testing.T) {
	tt.Parallel()
	steps := 40
	if *long {
		steps = 1000
	}
	rapid.Check(tt, func(t *rapid.T) {
		db, clock := newDB(tt)
		addNodes(tt, db, "n", 3, 4)
		l := &lifeOfJobs{T: t, db: db, clock: clock, jobs: make(map[uint64]*expected)}
		err := db.Update(func(tx *Tx) error {
			return tx.Config().Set("overdue", rapid.SampledFrom([]string{"keep", "finish"}).Draw(t, "overdue"))
		})
		if err != nil {
			t.Fatal(err)
		}
		for range steps {
			l.act()
		}
	})
}

// machineStory is a database for a test of the machine.
type machineStory struct {
	*testing.T
	db *DB
	*clock
}

func newMachineStory(t *testing.T, settings ...string) *machineStory {
	t.Parallel()
	db, c := newDB(t)
	addNodes(t, db, "n", 2, 4)
	s := &machineStory{t, db, c}
	s.do(func(tx *Tx) error {
		for i := 0; i < len(settings); i += 2 {
			if err := tx.Config().Set(settings[i], settings[i+1]); err != nil {
				return err
			}
		}
		return nil
	})
	return s
}

// do runs a function in one transaction.
func (s *machineStory) do(fn func(*Tx) error) {
	s.Helper()
	if err := s.db.Update(fn); err != nil {
		s.Fatal(err)
	}
}

// refused fails if a function succeeds, or fails with another error.
func (s *machineStory) refused(kind error, fn func(*Tx) (*Job, error)) {
	s.Helper()
	if err := s.db.Update(func(tx *Tx) error { _, err := fn(tx); return err }); !errors.Is(err, kind) {
		s.Errorf("it ends with %v, and should with %v", err, kind)
	}
}

// started submits a job that a cycle starts at once.
func (s *machineStory) started(sub Submission) uint64 {
	s.Helper()
	id := uint64(0)
	s.do(func(tx *Tx) error {
		list, err := tx.Jobs().Submit(sub)
		if err == nil {
			spec := CycleSpec{} // its report is read: the job counts as announced
			if id = list[0].ID; len(sub.Command) > 0 {
				spec.By = BySupervisor
			}
			_, err = tx.Cycle().Run(spec)
		}
		return err
	})
	s.is(id, JobRunning, "")
	return id
}

// is verifies the state of a job, and its reason if one is given.
func (s *machineStory) is(id uint64, state JobState, reason string) *Job {
	s.Helper()
	var j *Job
	if err := s.db.View(func(tx *Tx) (err error) { j, err = tx.Jobs().Get(id); return err }); err != nil {
		s.Fatal(err)
	}
	if j.State != state || reason != "" && j.Reason.String() != reason {
		s.Errorf("job %d is %s (%s), and should be %s (%s)", id, j.State, j.Reason, state, reason)
	}
	return j
}

func hourOn(n int) placer.Request {
	return placer.Request{Select: fmt.Sprintf("1:ncpus=%d", n), Walltime: time.Hour}
}

// TestExtendIsAsked: a longer walltime must satisfy the same limits and deadline as the first
// one, whatever state the job is in; a shorter one is always possible.
func TestExtendIsAsked(t *testing.T) {
	s := newMachineStory(t)
	s.do(func(tx *Tx) error { return tx.Limits().Set(Limit{Key: "all", Measure: "walltime.job", Max: 7200}) })
	runs := s.started(Submission{Request: hourOn(4)})
	var waits, plan uint64
	s.do(func(tx *Tx) error {
		list, err := tx.Jobs().Submit(Submission{Request: hourOn(1), Hold: true,
			Deadline: kernel.Instant(tx.k.Now + 5000)})
		if err != nil {
			return err
		}
		waits = list[0].ID
		j, err := tx.Jobs().PlaceAt(hourOn(1), kernel.Instant(tx.k.Now+60))
		if err == nil {
			plan = j.ID
		}
		return err
	})
	for _, id := range []uint64{runs, waits, plan} {
		s.refused(placer.ErrNever, func(tx *Tx) (*Job, error) { return tx.Jobs().Extend(id, 3*time.Hour) })
		if id == waits {
			s.refused(ErrConflict, func(tx *Tx) (*Job, error) { return tx.Jobs().Extend(id, 6000*time.Second) })
		} else {
			s.do(func(tx *Tx) error { _, err := tx.Jobs().Extend(id, 2*time.Hour); return err })
		}
		s.do(func(tx *Tx) error { _, err := tx.Jobs().Extend(id, 30*time.Minute); return err })
	}
	s.do(func(tx *Tx) error { return tx.Limits().Set(Limit{Key: "all", Measure: "walltime.job", Max: 60}) })
	s.do(func(tx *Tx) error { _, err := tx.Jobs().Extend(plan, 20*time.Minute); return err })
}

// TestLateClaimKeepsDeadline: an attempt that is claimed late gets its walltime, but not past
// the deadline of its job.
func TestLateClaimKeepsDeadline(t *testing.T) {
	s := newMachineStory(t)
	id := s.started(Submission{Request: hourOn(1), Deadline: kernel.Instant(s.t + 3700), Command: []string{"true"}})
	s.clock.t += 300
	s.do(func(tx *Tx) error {
		_, err := tx.Attempts().Claim(Claim{Job: id, Attempt: 1, By: BySupervisor, Nonce: Nonce{1},
			Process: Process{Host: "n0", PID: 1}})
		return err
	})
	if j := s.is(id, JobRunning, ""); j.End.Unix() != 1_003_700 {
		t.Errorf("it ends at %d", j.End.Unix())
	}
}

// TestStricterFate: only a stricter fate replaces that of a job that is ending.
func TestStricterFate(t *testing.T) {
	s := newMachineStory(t)
	id := s.started(Submission{Request: hourOn(1), Command: []string{"true"}})
	s.do(func(tx *Tx) error {
		_, err := tx.Attempts().Claim(Claim{Job: id, Attempt: 1, By: BySupervisor, Nonce: Nonce{1},
			Process: Process{Host: "n0", PID: 1}})
		return err
	})
	s.do(func(tx *Tx) error { _, err := tx.Jobs().Requeue(id, ""); return err })
	s.do(func(tx *Tx) error { _, err := tx.Jobs().Release(id); return err })
	s.refused(ErrConflict, func(tx *Tx) (*Job, error) { return tx.Jobs().Requeue(id, "") })
	s.do(func(tx *Tx) error { _, err := tx.Jobs().Cancel(id, ""); return err })
	s.refused(ErrConflict, func(tx *Tx) (*Job, error) { return tx.Jobs().Requeue(id, "") })
	s.refused(ErrConflict, func(tx *Tx) (*Job, error) { return tx.Jobs().Release(id) })
	s.do(func(tx *Tx) error {
		_, err := tx.Attempts().Report(Result{Job: id, Attempt: 1, Nonce: Nonce{1}, Outcome: OutcomeStopped})
		return err
	})
	s.is(id, JobCancelled, "")
}

// TestOverdueFails: with overdue=finish, a job that is stopped at its walltime has failed, and
// jobs that depend on its success do not run.
func TestOverdueFails(t *testing.T) {
	s := newMachineStory(t, "overdue", "finish")
	id := s.started(Submission{Request: hourOn(1)})
	var ok, notOK uint64
	s.do(func(tx *Tx) error {
		a, err := tx.Jobs().Submit(Submission{Request: hourOn(1), After: []Dependency{{Job: id, When: AfterOK}}})
		if err != nil {
			return err
		}
		b, err := tx.Jobs().Submit(Submission{Request: hourOn(1), After: []Dependency{{Job: id, When: AfterNotOK}}})
		if err == nil {
			ok, notOK = a[0].ID, b[0].ID
		}
		return err
	})
	s.clock.t += 3601
	s.do(func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{}); return err })
	s.is(id, JobFailed, queue.WalltimeOver.Text)
	s.is(ok, JobCancelled, "")
	s.is(notOK, JobRunning, "")
}

// TestDoneIsTriedAgain: a failure counts whoever reports it.
func TestDoneIsTriedAgain(t *testing.T) {
	s := newMachineStory(t)
	id := s.started(
		Submission{Request: hourOn(1), Payload: &Payload{Dir: "/", Ending: Ending{Retries: 1, RetryWait: time.Second}}})
	s.do(func(tx *Tx) error { _, err := tx.Jobs().Finish(id, 3, ""); return err })
	s.is(id, JobQueued, "")
	s.clock.t += 2
	s.do(func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{}); return err })
	s.do(func(tx *Tx) error { _, err := tx.Jobs().Finish(id, 3, ""); return err })
	s.is(id, JobFailed, "exit status 3")
	a := new(Attempt)
	s.do(func(tx *Tx) (err error) { a, err = tx.Attempts().Get(id, 1); return err })
	if a.Outcome != OutcomeExited || a.Exit != 3 {
		t.Errorf("attempt 1: %+v", a)
	}
}

// TestReleasedKeepsItsExit: a released job shows how its last attempt ended, and not one before.
func TestReleasedKeepsItsExit(t *testing.T) {
	s := newMachineStory(t)
	id := s.started(
		Submission{Request: hourOn(1), Payload: &Payload{Dir: "/", Ending: Ending{Retries: 1, RetryWait: time.Second}}})
	end := func(attempt int, outcome Outcome, exit int) {
		t.Helper()
		s.do(func(tx *Tx) error {
			nonce := Nonce{byte(attempt)}
			if outcome == OutcomeExited {
				if _, err := tx.Attempts().Claim(Claim{Job: id, Attempt: attempt, By: BySupervisor, Nonce: nonce,
					Process: Process{Host: "h", PID: 1}}); err != nil {
					return err
				}
			}
			_, err := tx.Attempts().Report(Result{Job: id, Attempt: attempt, Nonce: nonce, Outcome: outcome,
				Exit: exit})
			return err
		})
	}
	exits := func(want int) {
		t.Helper()
		s.do(func(tx *Tx) error {
			j, err := tx.Jobs().Get(id)
			if err == nil && j.Exit != want {
				t.Errorf("its exit is %d, want %d: %+v", j.Exit, want, j)
			}
			return err
		})
	}
	end(1, OutcomeExited, 9)
	exits(9)
	s.clock.t += 2
	s.do(func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{}); return err })
	exits(0)
	s.do(func(tx *Tx) error {
		_, err := tx.Attempts().Claim(Claim{Job: id, Attempt: 2, By: BySupervisor, Nonce: Nonce{2},
			Process: Process{Host: "h", PID: 1}})
		if err == nil {
			_, err = tx.Jobs().Release(id)
		}
		return err
	})
	end(2, OutcomeStopped, 143)
	exits(143)
	s.is(id, JobFinished, "released")
}

// TestPlacedLaunchFails: a placed job whose launch fails has no queue to wait in.
func TestPlacedLaunchFails(t *testing.T) {
	s := newMachineStory(t)
	id := uint64(0)
	s.do(func(tx *Tx) error {
		j, err := tx.Jobs().Place(hourOn(1))
		if err != nil {
			return err
		}
		id = j.ID
		return tx.Attempts().LaunchEnded(id, errors.New("no such host"), 3)
	})
	s.is(id, JobFailed, "launch failed: no such host")
}
