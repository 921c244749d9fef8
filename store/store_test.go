package store_test

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	_ "github.com/placectl/placectl/internal/replica/memlog" // memory:///PATH
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store"
	"github.com/placectl/placectl/store/storetest"
)

// TestErrors: the errors of this package are found in what methods return, inside a transaction and outside.
func TestErrors(t *testing.T) {
	t.Parallel()
	db, _ := storetest.New(t, furnish)
	err := db.Update(func(tx *store.Tx) error {
		_, err := tx.Job(99)
		var missing *store.MissingError
		if !errors.As(err, &missing) || missing.Kind != "job" || missing.Name != "99" {
			t.Errorf("%v is no MissingError of job 99", err)
		}
		return tx.RemoveNode("n1")
	})
	var conflict *store.Conflict
	if !errors.As(err, &conflict) || conflict.What == "" || conflict.Why == "" || conflict.Error() != err.Error() ||
		!errors.Is(err, store.ErrConflict) || !errors.Is(conflict, store.ErrConflict) {
		t.Errorf("%v is no Conflict", err)
	}
	_, err = store.Open(filepath.Join(t.TempDir(), "none.db"), nil)
	if !errors.Is(err, store.ErrNotFound) || !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	_, err = store.Load(filepath.Join(t.TempDir(), "new.db"), strings.NewReader("{\"placectl\":\n"), nil)
	var line *store.LineError
	if !errors.As(err, &line) || line.Line != 1 || !errors.Is(err, store.ErrInvalid) {
		t.Errorf("%v is no LineError", err)
	}
	for name, set := range map[string]func(*store.Tx) error{
		"kind": func(tx *store.Tx) error { return tx.Set(store.Priority{Kind: "job", Name: "1"}) },
		"rule": func(tx *store.Tx) error { return tx.Set(store.Rule{Text: "a over b"}) },
		"how":  func(tx *store.Tx) error { return tx.Set(store.Rule{Text: "class=a over class=b", How: "kill"}) },
		"none": func(tx *store.Tx) error { return tx.Set(nil) },
		"when": func(tx *store.Tx) error {
			_, err := tx.Submit(store.Submission{Request: one, After: []store.Dependency{{When: "before", Job: 1}}})
			return err
		},
		"backfill": func(tx *store.Tx) error {
			_, err := tx.Cycle(context.Background(), store.CycleOptions{Backfill: "greedy"})
			return err
		},
	} {
		if err := db.Update(set); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestScan: what a query answers gets into variables of every type that can have it, and into no other.
func TestScan(t *testing.T) {
	t.Parallel()
	db, clock := storetest.New(t, furnish)
	rows, err := db.Query(t.Context(),
		`SELECT submit, walltime, user, job, job / 2.0, begin, "end" IS NULL FROM jobs WHERE job = ?`, 2)
	if err != nil {
		t.Fatal(err)
	}
	if !rows.Next() {
		t.Fatal(rows.Err())
	}
	var (
		at, none *time.Time
		lasts    time.Duration
		user     string
		id       uint64
		half     float64
		waits    bool
	)
	if err := rows.Scan(&at, &lasts, &user, &id, &half, &none, &waits); err != nil {
		t.Fatal(err)
	}
	if !at.Equal(clock.Now()) || lasts != time.Minute || user != "ann" || id != 2 || half != 1 || none != nil ||
		!waits {
		t.Error(at, lasts, user, id, half, none, waits)
	}
	var seconds, narrow int8
	var submit, word string
	var begin sql.Null[time.Time]
	var any0 any
	if err := rows.Scan(&submit, &seconds, &word, &narrow, &any0, &begin, &any0); err != nil {
		t.Fatal(err)
	}
	if submit != clock.Now().Format(time.RFC3339) || seconds != 60 || begin.Valid || any0 != int64(1) {
		t.Error(submit, seconds, begin, any0)
	}
	for _, wrong := range [][]any{{&at}, {&narrow, &lasts, &user, &id, &half, &none, &waits},
		{&at, &lasts, &id, &id, &half, &none, &waits}, {&at, &lasts, &user, &id, &half, &seconds, &waits},
		{at, lasts, user, id, half, none, waits}} {
		if err := rows.Scan(wrong...); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%T: %v", wrong, err)
		}
	}
	if rows.Next() || rows.Err() != nil || rows.Scan(&at) == nil {
		t.Error("more than one row", rows.Err())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := db.Query(ctx, "SELECT count(*) FROM jobs a, jobs b, jobs c"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestItems: each kind of item is set, given back by Items, and removed.
func TestItems(t *testing.T) {
	t.Parallel()
	db, _ := storetest.New(t, furnish)
	items := func() (list []store.Item) {
		t.Helper()
		err := db.View(func(tx *store.Tx) (err error) { list, err = tx.Items(); return err })
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	before := items()
	for _, item := range []store.Item{
		store.Queue{Name: "night", Policy: "tetris", GroupKey: []string{"colour"}, Allow: []string{"user=ann"}},
		store.Limit{Key: "user=*", Measure: "running", Max: 7},
		store.Pool{Name: "lic", Amount: 5},
		store.Account{Name: "lab", Shares: 3, Members: map[string]int64{"ann": 2, "bob": 1}},
		store.Rule{Text: "class=a over class=b", How: "cancel", Grace: time.Minute},
		store.Rule{Text: "class=a over class=b", How: "requeue", Grace: -time.Second},
		store.Role{User: "eve", Role: "operator"},
		store.Priority{Kind: "user", Name: "ann", Number: 4},
		store.View{Name: "mine", Select: "SELECT job FROM jobs WHERE user = 'ann'"},
	} {
		if err := db.Update(func(tx *store.Tx) error { return tx.Set(item) }); err != nil {
			t.Errorf("%T: %v", item, err)
			continue
		}
		is := items()
		if at := slices.IndexFunc(is, func(i store.Item) bool { return cmp.Equal(i, item) }); at < 0 ||
			!cmp.Equal(slices.Delete(is, at, at+1), before) {
			t.Errorf("Set(%#v): %#v", item, is)
		}
		if err := db.Update(func(tx *store.Tx) error { return tx.Remove(item) }); err != nil {
			t.Errorf("%T: %v", item, err)
		}
		if diff := cmp.Diff(before, items()); diff != "" {
			t.Errorf("Remove(%#v): %s", item, diff)
		}
	}
	for value, want := range map[string]string{"conservative": "conservative", "": "easy"} {
		err := db.Update(func(tx *store.Tx) error {
			if err := tx.Set(store.Setting{Name: "backfill", Value: value}); err != nil {
				return err
			}
			list, err := tx.Settings()
			i := slices.IndexFunc(list, func(s store.Setting) bool { return s.Name == "backfill" })
			if is := list[i]; is.Value != want || is.Default != "easy" || is.Doc == "" {
				t.Errorf("%+v", is)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestAlter: a job is given back what it asks for, and nothing changes; what it carries changes in the fields that
// callers know.
func TestAlter(t *testing.T) {
	t.Parallel()
	db, _ := storetest.New(t, furnish)
	carries := &store.Payload{Script: "date", Dir: "/", Env: []string{"A=1"}, Umask: 0o22, Out: "o.%j", Append: true,
		Limits: []store.ResourceLimit{{Name: "nofile", Soft: 10, Hard: 20}},
		Ending: store.Ending{Retries: 2, RetryWait: time.Minute, Grace: time.Second, Mail: "end"}}
	err := db.Update(func(tx *store.Tx) error {
		made, err := tx.Submit(store.Submission{Request: placer.Request{Select: "1:ncpus=2", Place: "excl", Name: "x",
			User: "ann", Walltime: time.Hour}, Payload: carries, Priority: 0, Comment: "c",
			Begin: tx.Now().Add(time.Hour)})
		if err != nil {
			return err
		}
		before, err := tx.Job(made.First)
		if err != nil {
			return err
		}
		after, err := tx.Alter(made.First, store.Alteration{Request: &before.Request, Begin: &before.Begin})
		if diff := cmp.Diff(before, after); err != nil || diff != "" {
			t.Error(err, diff)
		}
		was, err := tx.Payload(made.First)
		if err != nil {
			return err
		}
		if diff := cmp.Diff(carries, was); diff != "" {
			t.Error(diff)
		}
		was.Env = []string{"A=2"}
		if _, err := tx.Alter(made.First, store.Alteration{Payload: was}); err != nil {
			return err
		}
		is, err := tx.Payload(made.First)
		if diff := cmp.Diff(was, is); err != nil || diff != "" {
			t.Error(err, diff)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestUpdateOnce: a change is made once for a key, however often and by whatever handle it is asked for.
func TestUpdateOnce(t *testing.T) {
	t.Parallel()
	db, _ := storetest.New(t, furnish)
	for i := range 3 {
		once := &store.Once{Key: "k", Request: []byte("r")}
		err := db.UpdateOnce(once, func(tx *store.Tx) error {
			made, err := tx.Submit(store.Submission{Request: one})
			if err == nil {
				once.Answer = []byte{byte(made.First)}
			}
			return err
		})
		if err != nil || once.Repeated != (i > 0) || string(once.Answer) != "\x08" {
			t.Errorf("call %d: %+v, %v", i, once, err)
		}
	}
	if err := db.UpdateOnce(&store.Once{Key: "k"}, func(*store.Tx) error { return nil }); !errors.Is(err,
		store.ErrKey) {
		t.Error(err)
	}
	failed := errors.New("not now")
	once := &store.Once{Key: "l"}
	if err := db.UpdateOnce(once, func(*store.Tx) error { return failed }); err != failed {
		t.Error(err)
	}
	if err := db.UpdateOnce(once, func(*store.Tx) error { return nil }); err != nil || once.Repeated {
		t.Error(err, once.Repeated)
	}
}

// TestWait: Wait returns when another writer has committed, and when its context ends.
func TestWait(t *testing.T) {
	t.Run("file", func(t *testing.T) {
		t.Parallel()
		db, _ := storetest.New(t, furnish)
		waits(t, db)
	})
	t.Run("log", func(t *testing.T) {
		t.Setenv("XDG_CACHE_HOME", t.TempDir()) // of the replica
		name, opt := "memory:///wait", &store.Options{Simulation: true}
		if err := store.Create(name, opt, furnish); err != nil {
			t.Fatal(err)
		}
		db, err := store.Open(name, opt)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		waits(t, db)
	})
}

func waits(t *testing.T, db *store.DB) {
	since, err := db.Wait(t.Context(), "")
	if err != nil || since == "" {
		t.Fatal(since, err)
	}
	came := make(chan string)
	go func() {
		state, err := db.Wait(t.Context(), since)
		if err != nil {
			t.Error(err)
		}
		came <- state
	}()
	if err := db.Update(func(tx *store.Tx) error { return tx.SetNodeState("n1", 0, "") }); err == nil {
		if err := db.Update(func(tx *store.Tx) error { _, err := tx.Hold(2, ""); return err }); err != nil {
			t.Error(err)
		}
	}
	if state := <-came; state == since {
		t.Error("the state is the same")
	}
	now, err := db.Wait(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := db.Wait(ctx, now); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// TestProspect: what a job waits for is known without a play; its start is known after PlayForecasts.
func TestProspect(t *testing.T) {
	t.Parallel()
	db, _ := storetest.New(t, furnish)
	var id uint64
	err := db.Update(func(tx *store.Tx) error {
		made, err := tx.Submit(store.Submission{Request: placer.Request{Select: "2:ncpus=4", Walltime: time.Hour}})
		id = made.First
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	look := func() (p *store.Prospect) {
		err := db.View(func(tx *store.Tx) (err error) { p, err = tx.Prospect(id); return err })
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if p := look(); p.Wait != store.WaitsRoom || p.Place == 0 || !p.Start.IsZero() {
		t.Errorf("%+v", p)
	}
	if err := db.PlayForecasts(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p := look(); p.Start.IsZero() {
		t.Errorf("%+v", p)
	}
}
