package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/placectl/placectl/placer"
)

// TestBatchTogether: parts of a transaction succeed, fail, panic and leave their goroutine alone.
func TestBatchTogether(t *testing.T) {
	t.Parallel()
	db, _ := newDB(t)
	addNodes(t, db, "n", 10, 8)
	fails := errors.New("fails")
	var mu sync.Mutex
	kept := make(map[uint64]bool)
	var failed, full, died, left int
	note := func(n *int) {
		mu.Lock()
		defer mu.Unlock()
		*n++
	}
	var all sync.WaitGroup
	for i := range 120 {
		all.Add(1)
		go func() {
			defer all.Done()
			returned := false
			defer func() {
				switch {
				case recover() != nil:
					note(&died)
				case !returned:
					note(&left)
				}
			}()
			var id uint64
			err := db.Batch(func(tx *Tx) error {
				j, err := tx.Jobs().Place(placer.Request{Select: "1:ncpus=1", Walltime: time.Hour})
				if err != nil {
					return err
				}
				id = j.ID
				switch i % 6 {
				case 1:
					return fails
				case 2:
					panic(fmt.Sprint("part ", i))
				case 3:
					runtime.Goexit()
				}
				return nil
			})
			returned = true
			switch {
			case errors.Is(err, fails):
				note(&failed)
			case errors.Is(err, placer.ErrNotNow):
				note(&full)
			case err != nil:
				t.Error(err)
			default:
				mu.Lock()
				defer mu.Unlock()
				if kept[id] {
					t.Errorf("job %d is of two parts", id)
				}
				kept[id] = true
			}
		}()
	}
	all.Wait()
	n := 0
	err := db.View(func(tx *Tx) error {
		return tx.Jobs().Each(func(j *Job) error {
			if n++; !kept[j.ID] {
				t.Errorf("job %d is of no part that succeeded", j.ID)
			}
			return nil
		})
	})
	if err != nil || n != len(kept) || n+full != 60 || failed != 20 || died != 20 || left != 20 {
		t.Error(n, len(kept), full, failed, died, left, err)
	}
	if list := findings(t, db); len(list) > 0 {
		t.Error(list)
	}
}

// TestBatchEqualsUpdates: parts of one transaction leave the rows that the same functions leave one by one, whether
// some fail or not.
func TestBatchEqualsUpdates(t *testing.T) {
	t.Parallel()
	fails := errors.New("fails")
	var states [2]map[uint64]string
	for way := range states {
		db, _ := newDB(t)
		addNodes(t, db, "n", 4, 8)
		step := func(i int) func(*Tx) error {
			return func(tx *Tx) error {
				if i > 8 && i%3 == 0 {
					if _, err := tx.Jobs().Release(uint64(i / 3)); err != nil && !errors.Is(err, ErrNotFound) {
						return err
					}
				}
				_, err := tx.Jobs().Place(placer.Request{Select: fmt.Sprintf("%d:ncpus=%d", 1+i%2, 1+i%3),
					Walltime: time.Hour})
				if i%5 == 4 {
					return fails
				}
				return err
			}
		}
		for from := 0; from < 60; from += 20 {
			var list []*part
			for i := from; i < from+20; i++ {
				list = append(list, &part{ctx: context.Background(), fn: step(i), over: make(chan struct{})})
			}
			if way == 0 {
				db.parts.waiting = slices.Clone(list)
				for len(db.parts.all()) > 0 { // again, if there was no time for all
					db.together()
				}
			}
			for i, p := range list {
				if way == 1 {
					p.err = db.Update(p.fn)
				} else if <-p.over; (p.err == nil) != ((from+i)%5 != 4) && !errors.Is(p.err, placer.ErrNotNow) {
					t.Errorf("part %d: %v", from+i, p.err)
				}
			}
		}
		states[way] = make(map[uint64]string)
		err := db.View(func(tx *Tx) error {
			return tx.Jobs().Each(func(j *Job) error {
				states[way][j.ID] = fmt.Sprint(j.State, j.Select, j.Chunks)
				return nil
			})
		})
		if err != nil || len(states[way]) < 20 {
			t.Fatal(err, states[way])
		}
		if list := findings(t, db); len(list) > 0 {
			t.Error(list)
		}
	}
	if fmt.Sprint(states[0]) != fmt.Sprint(states[1]) {
		t.Errorf("together\n%v\none by one\n%v", states[0], states[1])
	}
}

// TestBatchWaits: a part inside a part fails when its time is over, one whose context ends is not run, and those
// that wait for another handle give up together.
func TestBatchWaits(t *testing.T) {
	t.Parallel()
	const patience = time.Second
	plain, clock := newDB(t)
	db, err := Open(plain.Path(), &Options{LockTimeout: patience, Now: clock.now})
	if err != nil {
		t.Fatal(err)
	}
	nothing := func(*Tx) error { return nil }
	err = db.Batch(func(*Tx) error { return db.Batch(nothing) })
	if !errors.Is(err, ErrNested) || !errors.Is(err, ErrLocked) {
		t.Errorf("a part inside a part: %v", err)
	}
	err = plain.Update(func(*Tx) error {
		ctx, stop := context.WithTimeout(context.Background(), patience/10)
		defer stop()
		run := func(*Tx) error { t.Error("it ran"); return nil }
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				began := time.Now()
				if i == 7 {
					if err := db.BatchContext(ctx, run); !errors.Is(err, context.DeadlineExceeded) {
						t.Error(err)
					}
					return
				}
				if err := db.Batch(run); !errors.Is(err, ErrLocked) || time.Since(began) > 3*patience {
					t.Error(err, time.Since(began))
				}
			})
		}
		all.Wait()
		return nil
	})
	if err == nil {
		err = db.Batch(nothing)
	}
	if err != nil {
		t.Error(err)
	}
}

// TestBatchEndedAmidst: a part whose context ends while an earlier part of its transaction runs is not run.
func TestBatchEndedAmidst(t *testing.T) {
	t.Parallel()
	db, _ := newDB(t)
	ctx, end := context.WithCancel(t.Context())
	ran := 0
	run := func(*Tx) error { ran++; return nil }
	list := []*part{{ctx: t.Context(), fn: func(*Tx) error { end(); return nil }}, {ctx: ctx, fn: run},
		{ctx: t.Context(), fn: run}}
	for _, p := range list {
		p.over = make(chan struct{})
	}
	db.parts.waiting = slices.Clone(list)
	for len(db.parts.all()) > 0 { // again, if there was no time for all
		db.together()
	}
	if !errors.Is(list[1].err, context.Canceled) || list[0].err != nil || list[2].err != nil || ran != 1 {
		t.Error(list[0].err, list[1].err, list[2].err, ran)
	}
}

// TestEndedContext: a transaction does not begin under a context that has ended.
func TestEndedContext(t *testing.T) {
	t.Parallel()
	db, _ := newDB(t)
	ctx, end := context.WithCancel(t.Context())
	end()
	run := func(*Tx) error { t.Error("it ran"); return nil }
	for name, do := range map[string]func(context.Context, func(*Tx) error) error{
		"View": db.ViewContext, "Update": db.UpdateContext, "Batch": db.BatchContext} {
		if err := do(ctx, run); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
