package engine

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/placectl/placectl/placer"
	"pgregory.net/rapid"
)

// attemptLife is a store whose jobs are claimed, reported and ended in any order, and what
// else is known of it.
type attemptLife struct {
	db    *DB
	clock *clock
	jobs  map[uint64]*modelJob
	drawn byte    // the last nonce
	often Outcome // how attempts mostly end
}

// modelJob is what has been seen of a job.
type modelJob struct {
	nonces  map[int]Nonce // the claimant of an attempt
	results map[int]Nonce // whose result of it was accepted
	ending  JobState      // what it is marked to become, 0 for nothing
	retries int
	retried int
	unbegun int
	lost    int
}

func (l *attemptLife) update(fn func(tx *Tx) error) error {
	return l.db.Update(fn)
}

func (l *attemptLife) job(t *rapid.T) uint64 {
	return rapid.Uint64Range(1, uint64(len(l.jobs))).Draw(t, "job")
}

func (l *attemptLife) get(t *rapid.T, id uint64) (j *Job) {
	err := l.db.View(func(tx *Tx) (err error) { j, err = tx.Jobs().Get(id); return err })
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// submit adds a job to the queue, which may be tried again.
func (l *attemptLife) submit(t *rapid.T) {
	if len(l.jobs) > 12 {
		t.Skip()
	}
	m := &modelJob{nonces: make(map[int]Nonce), results: make(map[int]Nonce),
		retries: rapid.IntRange(0, 2).Draw(t, "retries")}
	s := Submission{Request: placer.Request{Select: rapid.SampledFrom([]string{"1:ncpus=1", "2:ncpus=2"}).Draw(t,
		"select"), Walltime: time.Hour},
		Command: []string{"true"}, NoRequeue: rapid.Bool().Draw(t, "no requeue"),
		Payload: &Payload{Dir: "/", Ending: Ending{Retries: m.retries, RetryWait: time.Second,
			RetryOn: "1-9,signal,walltime,oom"}}}
	err := l.update(func(tx *Tx) error {
		list, err := tx.Jobs().Submit(s)
		if err == nil {
			l.jobs[list[0].ID] = m
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (l *attemptLife) cycle(t *rapid.T) {
	l.clock.t += rapid.Int64Range(0, 400).Draw(t, "seconds")
	l.pass(t)
}

// pass runs a cycle, which refuses attempts that were not claimed in time.
func (l *attemptLife) pass(t *rapid.T) {
	err := l.update(func(tx *Tx) error {
		if _, err := tx.Cycle().Run(CycleSpec{}); err != nil {
			return err
		}
		return tx.Attempts().Each(0, func(a *Attempt) error {
			m := l.jobs[a.Job]
			if _, reported := m.results[a.Number]; !reported && a.Outcome == OutcomeRefused {
				m.results[a.Number] = Nonce{}
				m.unbegun, m.lost = 0, 0
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (l *attemptLife) claim(t *rapid.T) {
	id := l.job(t)
	j, m := l.get(t, id), l.jobs[id]
	c := Claim{Job: id, Attempt: j.Attempt - rapid.SampledFrom([]int{0, 0, 0, 1, -1}).Draw(t, "before"),
		By: BySupervisor, Process: Process{Host: "n00", PID: 3, Born: 9}}
	l.drawn++
	c.Nonce = Nonce{l.drawn}
	if known, ok := m.nonces[c.Attempt]; ok && rapid.Bool().Draw(t, "same") {
		c.Nonce = known
	}
	known, claimed := m.nonces[c.Attempt]
	_, over := m.results[c.Attempt]
	want := j.State == JobRunning && c.Attempt == j.Attempt && c.Attempt > 0 && !over && (claimed && c.Nonce == known ||
		!claimed && j.End.Unix() > l.clock.t)
	err := l.update(func(tx *Tx) error { _, err := tx.Attempts().Claim(c); return err })
	if want != (err == nil) || err != nil && !errors.Is(err, ErrConflict) && !errors.Is(err, ErrInvalid) {
		t.Fatalf("claim %+v of a job that is %s at %d, claimed by %v: %v", c, j.State, j.Attempt, m.nonces, err)
	}
	if err == nil {
		m.nonces[c.Attempt] = c.Nonce
	}
}

// execute gives the first job its nodes, if possible, and executes it.
func (l *attemptLife) execute(t *rapid.T) {
	l.clock.t += 2
	l.pass(t)
	j, m := l.get(t, 1), l.jobs[1]
	if _, claimed := m.nonces[j.Attempt]; j.State != JobRunning || claimed {
		return
	}
	l.drawn++
	m.nonces[j.Attempt] = Nonce{l.drawn}
	err := l.update(func(tx *Tx) error {
		_, err := tx.Attempts().Claim(Claim{Job: 1, Attempt: j.Attempt, By: BySupervisor, Nonce: Nonce{l.drawn},
			Process: Process{Host: "n00", PID: 3}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	l.result(t, 1)
}

func (l *attemptLife) report(t *rapid.T) { l.result(t, l.job(t)) }

// result reports how an attempt of a job has ended, or something impossible.
func (l *attemptLife) result(t *rapid.T, id uint64) {
	j, m := l.get(t, id), l.jobs[id]
	r := Result{Job: id, Attempt: j.Attempt - rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "before"), Why: "test",
		Outcome: Outcome(rapid.IntRange(int(OutcomeExited), int(OutcomeStopped)).Draw(t, "outcome")),
		Exit:    rapid.IntRange(0, 12).Draw(t, "exit")}
	known, claimed := m.nonces[r.Attempt]
	if rapid.Bool().Draw(t, "as often") {
		r.Outcome = l.often
	}
	if l.drawn++; claimed && rapid.IntRange(0, 3).Draw(t, "own") > 0 {
		r.Nonce = known
	} else {
		r.Nonce = Nonce{l.drawn}
	}
	by, ended := m.results[r.Attempt]
	again := ended && by == r.Nonce
	open := j.State == JobRunning && r.Attempt == j.Attempt && r.Attempt > 0 && !ended
	early := !claimed && (r.Outcome == OutcomeUnbegun || r.Outcome == OutcomeRefused)
	want := again || open && (claimed && r.Nonce == known || early)
	var after *Job
	err := l.update(func(tx *Tx) (err error) { after, err = tx.Attempts().Report(r); return err })
	if want != (err == nil) || err != nil && !errors.Is(err, ErrConflict) {
		t.Fatalf("report %+v of a job that is %s at %d, claims %v, results %v: %v", r, j.State, j.Attempt, m.nonces,
			m.results, err)
	}
	if err != nil || again {
		if now := l.get(t, id); now.State != j.State || now.Attempt != j.Attempt {
			t.Fatalf("a result that does not count has made the job %s, at %d", now.State, now.Attempt)
		}
		return
	}
	m.results[r.Attempt] = r.Nonce
	if want := m.follows(j, r); after.State != want {
		t.Fatalf("%+v of a job that was %+v, marked %s: it is %s, want %s", r, j, m.ending, after.State, want)
	}
	m.ending = 0
}

// follows returns the state of a job after an accepted result, according to the table of the
// specification.
func (m *modelJob) follows(j *Job, r Result) JobState {
	own := r.Outcome == OutcomeExited || r.Outcome == OutcomeSignal || r.Outcome == OutcomeWalltime ||
		r.Outcome == OutcomeOOM
	if own {
		m.unbegun, m.lost = 0, 0
	}
	badly := r.Outcome != OutcomeExited || r.Exit != 0
	if m.ending != 0 && (!own || badly && (m.ending == JobQueued || m.ending == JobHeld)) {
		return m.ending
	}
	again := own && m.retried < m.retries
	switch {
	case r.Outcome == OutcomeExited && r.Exit == 0:
		return JobFinished
	case r.Outcome == OutcomeExited && (r.Exit < 1 || r.Exit > 9):
		again = false
	}
	switch r.Outcome {
	case OutcomeUnbegun:
		m.lost = 0
		if m.unbegun++; m.unbegun < 3 {
			return JobRunning
		}
		m.unbegun = 0
		return m.refused(j)
	case OutcomeRefused:
		return m.refused(j)
	case OutcomeLost:
		m.unbegun = 0
		m.lost++
		switch {
		case j.NoRequeue:
			return JobFailed
		case m.lost == 3:
			return JobHeld
		}
		return JobQueued
	case OutcomeStopped:
		return JobCancelled
	}
	if again {
		m.retried++
		return JobQueued
	}
	return JobFailed
}

// refused returns the state of a job that one more of the four nodes has refused.
func (m *modelJob) refused(j *Job) JobState {
	m.unbegun, m.lost = 0, 0
	left := 4 - len(j.Excluded) - 1
	if left < 1 || j.Select == "2:ncpus=2" && left < 2 {
		return JobHeld
	}
	return JobQueued
}

// end cancels, requeues or releases a job.
func (l *attemptLife) end(t *rapid.T) {
	id := l.job(t)
	j, m := l.get(t, id), l.jobs[id]
	becomes := rapid.SampledFrom([]JobState{JobCancelled, JobQueued, JobFinished}).Draw(t, "becomes")
	var after *Job
	err := l.update(func(tx *Tx) (err error) {
		switch becomes {
		case JobCancelled:
			after, err = tx.Jobs().Cancel(id, "test")
		case JobQueued:
			after, err = tx.Jobs().Requeue(id, "test")
		default:
			after, err = tx.Jobs().Release(id)
		}
		return err
	})
	_, claimed := m.nonces[j.Attempt]
	_, ended := m.results[j.Attempt]
	switch executed := j.State == JobRunning && claimed && !ended; {
	case errors.Is(err, ErrConflict):
		if executed && !j.Ending { // only a stricter fate replaces one
			t.Fatal(err)
		}
	case err != nil:
		t.Fatal(err)
	case executed:
		if after.State != JobRunning || !after.Ending {
			t.Fatalf("job %d, which is executed, is %s", id, after.State)
		}
		m.ending = becomes
	case after.State == JobRunning:
		t.Fatalf("job %d, which no process executes, still runs", id)
	}
}

func (l *attemptLife) giveBack(t *rapid.T) {
	id := l.job(t)
	j, m := l.get(t, id), l.jobs[id]
	var after *Job
	err := l.update(func(tx *Tx) (err error) { after, err = tx.Attempts().GiveBack(id); return err })
	if (err == nil) != (m.ending != 0) {
		t.Fatalf("job %d, marked %s: %v", id, m.ending, err)
	}
	if err == nil {
		if after.State != m.ending {
			t.Fatalf("job %d is %s, want %s", id, after.State, m.ending)
		}
		m.results[j.Attempt], m.ending = m.nonces[j.Attempt], 0
	}
}

func (l *attemptLife) unhold(t *rapid.T) {
	id := l.job(t)
	err := l.update(func(tx *Tx) error { _, err := tx.Jobs().Unhold(id); return err })
	if err == nil {
		m := l.jobs[id]
		m.unbegun, m.lost = 0, 0
		if j := l.get(t, id); len(j.Excluded) != 0 {
			t.Fatalf("job %d is still kept off %v", id, j.Excluded)
		}
	} else if !errors.Is(err, ErrConflict) {
		t.Fatal(err)
	}
}

// holds verifies what is always true.
func (l *attemptLife) holds(t *rapid.T) {
	err := l.db.View(func(tx *Tx) error {
		sameAttempts(t, tx)
		sameThen(t, tx)
		claimed := make(map[string]bool)
		err := tx.Attempts().ClaimedOn("n00", func(j *Job, a *Attempt) error {
			claimed[fmt.Sprint(a.Job, a.Number)] = true
			return nil
		})
		if err != nil {
			return err
		}
		return tx.Attempts().Each(0, func(a *Attempt) error {
			j, err := tx.Jobs().Get(a.Job)
			if err != nil {
				return err
			}
			m := l.jobs[a.Job]
			_, ended := m.results[a.Number]
			nonce, was := m.nonces[a.Number]
			switch live := a.State == AttemptClaimed || a.State == AttemptEnding; {
			case live != claimed[fmt.Sprint(a.Job, a.Number)]:
				t.Fatalf("attempt %+v, claimed on the host: %t", a, !live)
			case live && (!was || ended || a.Nonce != nonce || j.State != JobRunning || j.Attempt != a.Number):
				t.Fatalf("attempt %+v of job %+v", a, j)
			case ended && a.State != AttemptEnded:
				t.Fatalf("attempt %+v has ended", a)
			case a.Number < j.Attempt && (a.State != AttemptEnded || len(a.Chunks) == 0):
				t.Fatalf("attempt %+v is over, and keeps its nodes", a)
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestAttemptLife: in whatever order claims, results and ends occur, an attempt is claimed by
// one claimant, ends once, and its job gets the state that the table of outcomes says.
func TestAttemptLife(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		db, c := newDB(t)
		addNodes(t, db, "n", 4, 2)
		l := &attemptLife{db: db, clock: c, jobs: make(map[uint64]*modelJob)}
		if err := l.update(func(tx *Tx) error { return tx.Attempts().LaunchBy(LaunchWork) }); err != nil {
			r.Fatal(err)
		}
		l.often = Outcome(rapid.IntRange(int(OutcomeExited), int(OutcomeStopped)).Draw(r, "often"))
		l.submit(r)
		r.Repeat(map[string]func(*rapid.T){"": l.holds, "submit": l.submit, "cycle": l.cycle, "cycle too": l.cycle,
			"execute": l.execute, "execute too": l.execute, "claim": l.claim, "claim too": l.claim,
			"report": l.report, "report too": l.report, "end": l.end, "give back": l.giveBack, "unhold": l.unhold})
		if list := findings(t, db); len(list) > 0 {
			r.Fatalf("check says %q", list)
		}
	})
}

// TestOutcomesInARow: attempts that repeatedly come to nothing end at the limits.
func TestOutcomesInARow(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		outcomes string // one after the other, of one job: u unbegun, r refused, l lost, f failed
		want     string // what the job is after each
	}{
		{"lll", "queued queued held"},
		{"uuuuu", "running running queued running running"},
		{"rrrr", "queued queued queued held"},
		{"uulul", "running running queued running queued"},
		{"ff", "queued failed"},
		{"lflf", "queued queued queued failed"},
		{"llfll", "queued queued queued queued queued"},
	} {
		db, clock := newDB(t)
		addNodes(t, db, "n", 4, 2)
		err := db.Update(func(tx *Tx) error {
			_, err := tx.Jobs().Submit(Submission{Request: placer.Request{Select: "1:ncpus=1", Walltime: time.Hour},
				Command: []string{"false"},
				Payload: &Payload{Dir: "/", Ending: Ending{Retries: 1, RetryWait: time.Second}}})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for i, o := range c.outcomes {
			clock.t += 2
			err := db.Update(func(tx *Tx) error {
				if _, err := tx.Cycle().Run(CycleSpec{Silent: true}); err != nil {
					return err
				}
				a, err := tx.Attempts().Get(1, 0)
				if err != nil {
					return err
				}
				nonce := Nonce{byte(i + 1)}
				if _, err := tx.Attempts().Claim(Claim{Job: 1, Attempt: a.Number, By: BySupervisor, Nonce: nonce,
					Process: Process{Host: "n00", PID: 3}}); err != nil {
					return err
				}
				outcome := map[rune]Outcome{'u': OutcomeUnbegun, 'r': OutcomeRefused, 'l': OutcomeLost,
					'f': OutcomeExited}[o]
				j, err := tx.Attempts().Report(Result{Job: 1, Attempt: a.Number, Nonce: nonce, Outcome: outcome,
					Exit: 3, Why: "test"})
				if err == nil {
					got += " " + j.State.String()
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if got[1:] != c.want {
			t.Errorf("%s: %s, want %s", c.outcomes, got[1:], c.want)
		}
		if list := findings(t, db); len(list) > 0 {
			t.Errorf("%s: check says %q", c.outcomes, list)
		}
	}
}

// TestNoExitStatus: an end with a status that no process can have is refused, and the job goes on. Those who pass on
// 256 would exit with 0.
func TestNoExitStatus(t *testing.T) {
	t.Parallel()
	db, _ := newDB(t)
	addNodes(t, db, "n", 1, 2)
	nonce := Nonce{1}
	mustUpdate(t, db, func(tx *Tx) error {
		_, err1 := tx.Jobs().Submit(Submission{Request: placer.Request{Select: "1:ncpus=1", Walltime: time.Hour},
			Command: []string{"true"}})
		_, err2 := tx.Cycle().Run(CycleSpec{Silent: true})
		_, err3 := tx.Attempts().Claim(Claim{Job: 1, Attempt: 1, By: BySupervisor, Nonce: nonce,
			Process: Process{Host: "n0", PID: 3}})
		return errors.Join(err1, err2, err3)
	})
	for _, status := range []int{-256, -1, 256, 512} {
		for name, end := range map[string]func(*Tx) (*Job, error){
			"finish": func(tx *Tx) (*Job, error) {
				return tx.Attempts().Finish(Finished{Job: 1, Status: status, Force: true})
			},
			"report": func(tx *Tx) (*Job, error) {
				return tx.Attempts().Report(Result{Job: 1, Attempt: 1, Nonce: nonce, Outcome: OutcomeExited,
					Exit: status})
			},
		} {
			if err := db.Update(func(tx *Tx) error { _, err := end(tx); return err }); !errors.Is(err, ErrInvalid) {
				t.Fatalf("%s with status %d: %v, want it to be invalid", name, status, err)
			}
		}
	}
	mustUpdate(t, db, func(tx *Tx) error {
		_, err := tx.Attempts().Finish(Finished{Job: 1, Status: 255, Force: true})
		return err
	})
}
