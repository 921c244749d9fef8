package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/placer"
	"pgregory.net/rapid"
)

// hookLife is a database whose events are given to a hook by processes that fail, are killed,
// or take too long.
type hookLife struct {
	db    *DB
	clock *clock
	first uint64 // the event after which the hook was set
	drawn byte
	begun []*hookRun // by processes that have not ended
	taken []uint64   // what has moved the cursor
}

type hookRun struct {
	*HookRun
	at   time.Time
	late bool // another was begun since
}

// TestHookLife: runs of the hook get all events since it was set, in order, and the next ones
// again until a run has succeeded. No two runs have them at once for as long as a run may
// take.
func TestHookLife(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		l := &hookLife{}
		l.db, l.clock = newDB(t)
		addNodes(t, l.db, "n", 2, 2)
		if err := l.db.Update(func(tx *Tx) error {
			if _, err := tx.Jobs().Place(placer.Request{Select: "1:ncpus=1", Walltime: time.Hour}); err != nil {
				return err
			}
			l.first = tx.RecordedEvents()
			return tx.Config().Set("hook", "true")
		}); err != nil {
			t.Fatal(err)
		}
		r.Repeat(map[string]func(*rapid.T){
			"happen": l.happen, "begin": l.begin, "end": l.end, "": l.check,
			"killed": func(t *rapid.T) { l.begun = nil },
			"time":   func(t *rapid.T) { l.clock.t += rapid.Int64Range(1, 60).Draw(t, "seconds") },
			"replaced": func(t *rapid.T) {
				if err := l.db.Update(func(tx *Tx) error { return tx.Config().Set("hook", "false") }); err != nil {
					t.Fatal(err)
				}
			},
		})
	})
}

func (l *hookLife) happen(t *rapid.T) {
	n := rapid.SampledFrom([]int{1, 2, 700}).Draw(t, "jobs")
	err := l.db.Update(func(tx *Tx) error {
		_, err := tx.Jobs().Submit(Submission{Request: placer.Request{Select: "1:ncpus=1", Walltime: time.Hour},
			Array: n})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (l *hookLife) begin(t *rapid.T) {
	l.drawn++
	now := l.clock.now()
	held := false
	for _, r := range l.begun {
		held = held || !r.late && now.Sub(r.at) < HookHeld
	}
	r := &hookRun{at: now}
	err := l.db.Update(func(tx *Tx) (err error) { r.HookRun, err = tx.Hook().Begin(Nonce{l.drawn}); return err })
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Events) == 0 {
		return
	}
	if held {
		t.Fatalf("one process runs the hook, and another gets events %d to %d", r.Events[0].ID,
			r.Events[len(r.Events)-1].ID)
	}
	want := l.first + uint64(len(l.taken))
	for i, ev := range r.Events {
		if ev.ID != want+uint64(i)+1 {
			t.Fatalf("event %d comes where %d was to come", ev.ID, want+uint64(i)+1)
		}
	}
	for _, other := range l.begun {
		other.late = true
	}
	l.begun = append(l.begun, r)
}

func (l *hookLife) end(t *rapid.T) {
	if len(l.begun) == 0 {
		t.Skip()
	}
	i := rapid.IntRange(0, len(l.begun)-1).Draw(t, "run")
	r, failed := l.begun[i], rapid.Bool().Draw(t, "failed")
	l.begun = append(l.begun[:i:i], l.begun[i+1:]...)
	said := rapid.SampledFrom([]string{"", "exit status 1"}).Draw(t, "said")
	err := l.db.Update(func(tx *Tx) error {
		_, err := tx.Hook().End(r.HookRun, failed, said)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if !r.late && !failed {
		for _, ev := range r.Events {
			l.taken = append(l.taken, ev.ID)
		}
	}
}

// check compares the cursor in the file with the events that were taken.
func (l *hookLife) check(t *rapid.T) {
	err := l.db.DryRun(func(tx *Tx) error {
		h, err := tx.Hook().Row()
		if want := l.first + uint64(len(l.taken)); err == nil && h.Cursor != want {
			err = fmt.Errorf("the cursor is at %d, and %d were taken", h.Cursor, want)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestHookEvents: what the hook gets about jobs, and for which events their submitters want
// mail.
func TestHookEvents(t *testing.T) {
	db, clock := newDB(t)
	addNodes(t, db, "n", 2, 2)
	if err := db.Update(func(tx *Tx) error { return tx.Config().Set("hook", "true") }); err != nil {
		t.Fatal(err)
	}
	step := func(fn func(tx *Tx) error) {
		t.Helper()
		clock.t += 60
		if err := db.Update(fn); err != nil {
			t.Fatal(err)
		}
	}
	submit := func(e Ending) func(tx *Tx) error {
		return func(tx *Tx) error {
			_, err := tx.Jobs().Submit(Submission{Request: placer.Request{Select: "1:ncpus=1", Walltime: time.Hour,
				User: "ann"}, Command: []string{"true"},
				Payload: &Payload{Dir: "/", Owner: &Submitter{UID: 7, Name: "anna"}, Ending: e}})
			return err
		}
	}
	report := func(job uint64, attempt int, o Outcome, exit int) func(tx *Tx) error {
		return func(tx *Tx) error {
			n := Nonce{byte(job), byte(attempt)}
			if _, err := tx.Attempts().Claim(Claim{Job: job, Attempt: attempt, By: BySupervisor, Nonce: n,
				Process: Process{Host: "n00", PID: 1}}); err != nil {
				return err
			}
			_, err := tx.Attempts().Report(Result{Job: job, Attempt: attempt, Nonce: n, Outcome: o, Exit: exit})
			return err
		}
	}
	step(submit(Ending{Mail: "begin,end,requeue", MailTo: "zoe@x"}))
	step(submit(Ending{Mail: "fail", Retries: 1, RetryWait: time.Second}))
	cycle := func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{By: BySupervisor}); return err }
	step(cycle)
	step(report(1, 1, OutcomeLost, 0))
	step(report(2, 1, OutcomeExited, 4))
	step(cycle)
	step(report(1, 2, OutcomeUnbegun, 0))
	step(report(1, 3, OutcomeExited, 3))
	step(report(2, 2, OutcomeSignal, 137))
	var got []string
	step(func(tx *Tx) error {
		run, err := tx.Hook().Begin(Nonce{99})
		for _, ev := range run.Events {
			if ev.Job > 0 {
				got = append(got, fmt.Sprintf("%d.%d %s %s>%s %s %s %s %s", ev.Job, ev.Attempt, ev.Event.Event, ev.Old,
					ev.New, ev.Outcome, ev.User, ev.Mail, ev.MailTo))
			}
		}
		return err
	})
	want := []string{
		"1.0 submit >queued  ann  ",
		"2.0 submit >queued  ann  ",
		"1.1 start queued>running  ann begin zoe@x",
		"2.1 start queued>running  ann  ",
		"1.1 claim running>running  ann  ",
		"1.1 requeue running>queued lost ann requeue zoe@x",
		"2.1 claim running>running  ann  ",
		"2.1 requeue running>queued exited ann  ",
		"1.2 start queued>running  ann begin zoe@x",
		"2.2 start queued>running  ann  ",
		"1.2 claim running>running  ann  ",
		"1.2 again running>running unbegun ann  ",
		"1.3 claim running>running  ann  ",
		"1.3 fail running>failed exited ann end zoe@x",
		"2.2 claim running>running  ann  ",
		"2.2 fail running>failed signal ann fail anna",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
