package engine

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"pgregory.net/rapid"
)

// TestAlter: an altered job equals one that was submitted like that, whatever it was before,
// and the database stays sound.
func TestAlter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		db, clock := newDB(t)
		addNodes(t, db, "n", 2, 4)
		must := func(fn func(tx *Tx) error) {
			rt.Helper()
			if err := db.Update(fn); err != nil {
				rt.Fatal(err)
			}
		}
		must(func(tx *Tx) error {
			return errors.Join(tx.Queues().Add(Queue{Name: "q"}), tx.Queues().Add(Queue{Name: "long"}))
		})
		must(func(tx *Tx) error { // so that others wait
			_, err := tx.Jobs().Place(placer.Request{Select: "2:ncpus=4", Place: "scatter", Walltime: time.Hour})
			return err
		})
		draw := func(label string) (s Submission) {
			pick := func(words ...string) string { return rapid.SampledFrom(words).Draw(rt, label) }
			s.Request = placer.Request{Select: pick("1:ncpus=1", "2:ncpus=2", "3:ncpus=9", "nodes=2:ppn=2",
				"select=2:ncpus=1,place=excl"), Place: pick("free", "scatter", "excl"), Name: pick("a", "b"),
				User:    "ann",
				Account: pick("", "x"), Queue: pick("", "q", "long"),
				Walltime: time.Duration(rapid.IntRange(1, 5000).Draw(rt, label)) * time.Second}
			if !strings.Contains(s.Select, ":ncpus") || strings.Contains(s.Select, ",") { // a list with its own place
				s.Place = ""
			}
			s.Priority = int64(rapid.IntRange(-1, 1).Draw(rt, label))
			if rapid.Bool().Draw(rt, label) {
				s.Begin = kernel.Instant(clock.t + int64(rapid.IntRange(1, 5000).Draw(rt, label)))
			}
			s.NoRequeue, s.Bind = rapid.Bool().Draw(rt, label), pick("", "tight")
			return s
		}
		was, is := draw("was"), draw("is")
		was.Hold = rapid.Bool().Draw(rt, "held")
		is.Hold = was.Hold
		var id uint64
		must(func(tx *Tx) error {
			jobs, err := tx.Jobs().Submit(was)
			id = jobs[0].ID
			return err
		})
		if rapid.Bool().Draw(rt, "planned") {
			must(func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{Backfill: Conservative}); return err })
		}
		before := metricsAgree(rt, db, nil)
		must(func(tx *Tx) error {
			a := Alteration{Name: &is.Name, Account: &is.Account, Queue: &is.Queue, Select: &is.Select,
				Walltime: &is.Walltime,
				Priority: &is.Priority, Begin: &is.Begin, NoRequeue: &is.NoRequeue, Bind: &is.Bind}
			if is.Place != "" {
				a.Place = &is.Place
			}
			_, err := tx.Jobs().Alter(id, a)
			return err
		})
		metricsAgree(rt, db, before)
		must(func(tx *Tx) error {
			jobs, err := tx.Jobs().Submit(is)
			if err != nil {
				return err
			}
			altered, err := tx.Jobs().Get(id)
			if err != nil {
				return err
			}
			if diff := cmp.Diff(jobs[0], altered, cmpopts.IgnoreFields(Job{}, "ID", "Submit", "Reason"),
				cmpopts.IgnoreUnexported(Job{})); diff != "" {
				rt.Fatalf("(-submitted so +altered)\n%s", diff)
			}
			return nil
		})
		if list := findings(t, db); len(list) > 0 {
			rt.Fatal(list)
		}
		must(func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{Backfill: Conservative}); return err })
		if list := findings(t, db); len(list) > 0 {
			rt.Fatal(list)
		}
	})
}

// runOneOf submits an array of n equal jobs to one node, where the first then runs, and returns their request.
func runOneOf(t *testing.T, db *DB, n int) placer.Request {
	t.Helper()
	addNodes(t, db, "n", 1, 1)
	ask := placer.Request{Select: "1:ncpus=1", Walltime: time.Hour}
	err := db.Update(func(tx *Tx) error {
		if _, err := tx.Jobs().Submit(Submission{Request: ask, Array: n}); err != nil {
			return err
		}
		_, err := tx.Cycle().Run(CycleSpec{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return ask
}

// TestAlterRefused: a refused alteration changes nothing.
func TestAlterRefused(t *testing.T) {
	db, clock := newDB(t)
	runOneOf(t, db, 3)
	queue, sel, past := "nosuch", "1:ncpus=x", kernel.Instant(clock.t-5)
	after := []Dependency{{When: AfterOK, Job: 4}}
	own := []Dependency{{When: AfterOK, Job: 1}}
	name := "x"
	for what, c := range map[string]struct {
		id   uint64
		a    Alteration
		want error
	}{
		"a queue that there is not": {3, Alteration{Queue: &queue}, ErrNotFound},
		"no select":                 {3, Alteration{Select: &sel}, placer.ErrRequest},
		"a deadline that is past":   {3, Alteration{Deadline: &past}, ErrInvalid},
		"a job that came after it":  {3, Alteration{After: &after}, ErrInvalid},
		"its own array":             {3, Alteration{After: &own}, ErrInvalid},
		"one that runs":             {2, Alteration{Account: &name}, ErrConflict},
		"the array's own number":    {1, Alteration{Name: &name}, ErrNotFound},
		"none":                      {9, Alteration{Name: &name}, ErrNotFound},
	} {
		before := dumpAll(t, db)
		err := db.Update(func(tx *Tx) error { _, err := tx.Jobs().Alter(c.id, c.a); return err })
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", what, err, c.want)
		}
		if diff := cmp.Diff(before, dumpAll(t, db)); diff != "" {
			t.Errorf("%s (-before +after)\n%s", what, diff)
		}
	}
}

// TestTextsBounded: each text of a job has a longest form, at submission, while it waits and while it runs.
func TestTextsBounded(t *testing.T) {
	db, _ := newDB(t)
	ask := runOneOf(t, db, 2)
	long := strings.Repeat("x", 1<<17)
	before := dumpAll(t, db)
	for i, f := range reflect.VisibleFields(reflect.TypeFor[Alteration]()) {
		if f.Type != reflect.TypeFor[*string]() {
			continue
		}
		var a Alteration
		s := Submission{Request: ask}
		reflect.ValueOf(&a).Elem().Field(i).Set(reflect.ValueOf(&long))
		reflect.ValueOf(&s).Elem().FieldByName(f.Name).SetString(long)
		for what, fn := range map[string]func(tx *Tx) error{
			"submitted":        func(tx *Tx) error { _, err := tx.Jobs().Submit(s); return err },
			"of a waiting job": func(tx *Tx) error { _, err := tx.Jobs().Alter(2, a); return err },
			"of a running job": func(tx *Tx) error { _, err := tx.Jobs().Alter(1, a); return err },
		} {
			if err := db.Update(fn); err == nil {
				t.Errorf("%s %s: %d bytes are taken", f.Name, what, len(long))
			}
		}
	}
	if diff := cmp.Diff(before, dumpAll(t, db)); diff != "" {
		t.Errorf("-before +after\n%s", diff)
	}
}

// TestAlterCarries: only a job's owner can change its payload. The change is signed again, and
// leaves the payloads of other jobs unchanged.
func TestAlterCarries(t *testing.T) {
	db, _ := newDB(t)
	addNodes(t, db, "n", 1, 4)
	ann, bob, root := &Actor{UID: 1001, User: "ann"}, &Actor{UID: 1002, User: "bob"}, &Actor{User: "root"}
	sign := func(text []byte) []byte { return append([]byte("signed "), text...) }
	signer := func(text []byte) ([]byte, error) { return sign(text), nil }
	db.opt.Actor = ann
	ask := Submission{Request: placer.Request{Select: "1:ncpus=1", Walltime: time.Hour, User: "ann"}, Array: 2,
		Command: []string{"true"},
		Payload: &Payload{Dir: "/a", Owner: &Submitter{UID: 1001, Name: "ann"}}, Sign: signer}
	if err := db.Update(func(tx *Tx) error { _, err := tx.Jobs().Submit(ask); return err }); err != nil {
		t.Fatal(err)
	}
	other := Alteration{Payload: func(p *Payload) error { p.Dir, p.Ending.Retries = "/b", 3; return nil }, Sign: signer}
	for _, who := range []*Actor{bob, root} {
		db.opt.Actor = who
		before := dumpAll(t, db)
		if err := db.Update(func(tx *Tx) error { _, err := tx.Jobs().Alter(2, other); return err }); !errors.Is(err,
			ErrNotPermitted) {
			t.Errorf("by %s: %v", who.User, err)
		}
		if diff := cmp.Diff(before, dumpAll(t, db)); diff != "" {
			t.Errorf("by %s (-before +after)\n%s", who.User, diff)
		}
	}
	db.opt.Actor = ann
	if err := db.Update(func(tx *Tx) error { _, err := tx.Jobs().Alter(2, other); return err }); err != nil {
		t.Fatal(err)
	}
	err := db.View(func(tx *Tx) error {
		for id, want := range map[uint64]string{2: "/b", 3: "/a"} {
			p, err := tx.Jobs().Payload(id)
			if err != nil {
				return err
			}
			if p.Dir != want || p.Owner == nil || p.Owner.UID != 1001 {
				t.Errorf("job %d carries %+v", id, p)
			}
			text, signature, err := tx.Jobs().Signed(id)
			if err != nil {
				return err
			}
			if !cmp.Equal(sign(text), signature) {
				t.Errorf("the signature of job %d is of something else", id)
			}
		}
		return nil
	})
	if list := findings(t, db); err != nil || len(list) > 0 {
		t.Error(err, list)
	}
}

// TestRefusedAlterChangesNothing: after a refused change of a job, whose refusal the caller survives, the
// transaction's other changes are as if it had not been tried: sums of limits, claims, and what the next
// cycle examines.
func TestRefusedAlterChangesNothing(t *testing.T) {
	t.Parallel()
	long, short, nowhere := 10*time.Hour, 30*time.Second, "nowhere"
	refused := []func(tx *Tx, top, planned uint64) error{
		func(tx *Tx, top, _ uint64) error {
			_, err := tx.Jobs().Alter(top, Alteration{Queue: &nowhere})
			return err
		},
		func(tx *Tx, top, _ uint64) error {
			_, err := tx.Jobs().Alter(top, Alteration{Name: &nowhere, After: &[]Dependency{{Job: top + 1}}})
			return err
		},
		func(tx *Tx, top, _ uint64) error { _, err := tx.Jobs().Extend(top, long); return err },
		func(tx *Tx, _, planned uint64) error { _, err := tx.Jobs().Extend(planned, long); return err },
	}
	lives := func(refused func(tx *Tx, top, planned uint64) error) map[string]string {
		s := newStory(t, "easy", "n1=8")
		s.limit("user=ann", "running", 1)
		s.limit("user=ann", "queued", 5)
		s.limit("all", "walltime.job", 3600)
		s.submit("A", "1:ncpus=1", 100)
		s.cycle()
		s.submit("TOP", "1:ncpus=1", 100)
		bob := func(sub *Submission) { sub.User = "bob" }
		s.submit("WIDE", "1:ncpus=8", 100, bob)
		s.submit("LATER", "1:ncpus=8", 200, bob)
		s.cycle()
		s.claims("TOP 100")
		s.do(func(tx *Tx) error {
			if refused != nil {
				if err := refused(tx, s.ids["TOP"], s.ids["WIDE"]); err == nil {
					t.Error("it was not refused")
				}
			}
			_, err := tx.Jobs().Alter(s.ids["LATER"], Alteration{Walltime: &short})
			return err
		})
		s.claims("TOP 100")
		if err := s.db.Check(func(finding string) { t.Error(finding) }); err != nil {
			t.Error(err)
		}
		rows := lastingRows(t, s.db)
		delete(rows, fmt.Sprintf("%s %x", row.Meta, row.KeyIdentity)) // drawn at random
		return rows
	}
	want := lives(nil)
	for i, refused := range refused {
		if diff := cmp.Diff(want, lives(refused)); diff != "" {
			t.Errorf("refusal %d (-without it +with it)\n%s", i, diff)
		}
	}
}
