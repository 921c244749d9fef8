package engine

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/recur"
	"github.com/placectl/placectl/placer/subject"
)

// TestRemoveQueueThatIsNeeded: a queue cannot be removed while something refers to it, and the
// error names what does.
func TestRemoveQueueThatIsNeeded(t *testing.T) {
	t.Parallel()
	ask := placer.Request{Select: "1:ncpus=1", Walltime: time.Hour, Queue: "q"}
	lets := placer.AccessList{{Subject: subject.Queue.Of("q")}}
	for _, c := range []struct {
		name, who string
		do        func(*Tx) error
	}{
		{"one that waits", "job 1", func(tx *Tx) error {
			_, err := tx.Jobs().Submit(Submission{Request: ask})
			return err
		}},
		{"one that is held", "job 1", func(tx *Tx) error {
			_, err := tx.Jobs().Submit(Submission{Request: ask, Hold: true})
			return err
		}},
		{"one that runs", "job 1", func(tx *Tx) error { _, err := tx.Jobs().Place(ask); return err }},
		{"one that is planned", "job 1", func(tx *Tx) error {
			_, err := tx.Jobs().PlaceAt(ask, kernel.Instant(tx.k.Now+100))
			return err
		}},
		{"a node", "n1", func(tx *Tx) error {
			_, err := tx.Nodes().Put(&index.Node{Name: "n1", Queue: "q"})
			return err
		}},
		{"a reservation for its jobs", "reservation r", func(tx *Tx) error {
			_, err := tx.Reservations().Add(ReserveSpec{Name: "r", Nodes: []uint32{0}, Start: kernel.Instant(tx.k.Now),
				End: kernel.Instant(tx.k.Now + 9), Access: lets})
			return err
		}},
		{"one that repeats", "reservation r", func(tx *Tx) error {
			_, err := tx.Reservations().Add(ReserveSpec{Name: "r", Request: ask, Start: kernel.Instant(tx.k.Now),
				End: kernel.Instant(tx.k.Now + 3600), Repeat: recur.Repeat{Rule: "daily"}})
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			db, clock := newDB(t)
			addNodes(t, db, "n", 3, 1)
			err := db.Update(func(tx *Tx) error {
				if err := tx.Queues().Add(Queue{Name: "q"}); err != nil {
					return err
				}
				return c.do(tx)
			})
			if err != nil {
				t.Fatal(err)
			}
			remove := func(tx *Tx) error { return tx.Queues().Remove("q") }
			if err := db.Update(remove); !errors.Is(err, ErrConflict) || !strings.Contains(err.Error(), c.who) {
				t.Errorf("removed: %v, want %s", err, c.who)
			}
			err = db.Update(func(tx *Tx) error {
				if _, err := tx.Jobs().Cancel(1, ""); err != nil && !errors.Is(err, ErrNotFound) {
					return err
				}
				if _, err := tx.Reservations().Remove("r"); err != nil && !errors.Is(err, ErrNotFound) {
					return err
				}
				_, err := tx.Nodes().Put(&index.Node{Name: "n1"})
				return err
			})
			clock.t++
			if err == nil {
				err = db.Update(remove)
			}
			if err != nil {
				t.Errorf("nothing refers to it any more: %v", err)
			}
		})
	}
}

// A replaced node may have been the only one on which a waiting job could ever run: the next
// cycle says so.
func TestReplacedNodeInvalidates(t *testing.T) {
	t.Parallel()
	db, _ := newDB(t)
	addNodes(t, db, "n", 1, 4)
	var waits []*Job
	err := db.Update(func(tx *Tx) (err error) {
		whole := placer.Request{Select: "1:ncpus=4", Walltime: time.Hour}
		if _, err = tx.Jobs().Place(whole); err != nil {
			return err
		}
		if waits, err = tx.Jobs().Submit(Submission{Request: whole}); err != nil {
			return err
		}
		_, err = tx.Cycle().Run(CycleSpec{Backfill: FCFS})
		return err
	})
	if err == nil {
		addNodes(t, db, "n", 1, 2)
		err = db.Update(func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{Backfill: FCFS}); return err })
	}
	if err == nil {
		err = db.View(func(tx *Tx) error {
			j, err := tx.Jobs().Get(waits[0].ID)
			if err == nil && !j.Never {
				t.Errorf("it waits for a node that there is not any more: %+v", j)
			}
			return err
		})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A job that has ended gets no command.
func TestSetCommandOfAnOldRow(t *testing.T) {
	t.Parallel()
	db, _ := newDB(t)
	addNodes(t, db, "n", 1, 1)
	job, _, err := place(db, "1:ncpus=1", time.Hour)
	if err == nil {
		err = db.Update(func(tx *Tx) error { _, err := tx.Jobs().Finish(job.ID, 0, ""); return err })
	}
	if err == nil {
		err = db.Update(func(tx *Tx) error { return tx.Jobs().SetCommand(job.ID, []string{"true"}) })
	}
	if !errors.Is(err, ErrConflict) {
		t.Fatal(err)
	}
	err = db.View(func(tx *Tx) error {
		j, err := tx.Jobs().Get(job.ID)
		if err == nil && (j.State != JobFinished || len(j.Command) != 0) {
			t.Errorf("%+v", j)
		}
		return err
	})
	if list := findings(t, db); err != nil || len(list) > 0 {
		t.Error(err, list)
	}
}

// Batches that are made at the same time are two, and one that is given up is none.
func TestBatchesMadeAtOnce(t *testing.T) {
	t.Parallel()
	db, _ := newDB(t)
	err := db.Update(func(tx *Tx) error {
		var makers []*BatchMaker
		for _, name := range []string{"a", "b", "given up", "a"} {
			m, err := tx.Batches().Make(strings.ReplaceAll(name, " ", "-"), locality.Settings{Hosts: 2})
			if err != nil {
				return err
			}
			makers = append(makers, m)
			for range 200 + len(makers) {
				if err := m.AddFile(BatchFile{Name: name, Size: 1}); err != nil {
					return err
				}
			}
		}
		for i, m := range makers {
			for range 300 + i {
				if err := m.AddJob(locality.Job{Credit: 1, Quorum: 1}); err != nil {
					return err
				}
			}
			if i == 2 {
				continue
			}
			if _, err := m.Finish(); (err == nil) != (i < 2) || i == 3 && !errors.Is(err, ErrConflict) {
				t.Errorf("batch %d: %v", i, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(func(tx *Tx) error {
		for name, jobs := range map[string]int{"a": 300, "b": 301} {
			b, err := tx.Batches().Get(name)
			if err != nil {
				return err
			}
			n := 0
			err = tx.Batches().EachJob(name, func(int, *locality.Job, *locality.Task) error { n++; return nil })
			if err != nil || n != jobs || b.Files != 201+jobs-300 {
				t.Errorf("batch %s: %d jobs, %+v, %v", name, n, b, err)
			}
		}
		return nil
	})
	if list := findings(t, db); err != nil || len(list) > 0 {
		t.Error(err, list)
	}
}

// Settings cannot be changed without the transaction.
func TestSettingsAreACopy(t *testing.T) {
	t.Parallel()
	db, _ := newDB(t)
	err := db.Update(func(tx *Tx) error {
		if err := tx.Config().Set("signature", "ncpus"); err != nil {
			return err
		}
		for range 2 {
			s, err := tx.Config().Settings()
			if err != nil {
				return err
			}
			if s.Signature[0] != "ncpus" || s.FinishOverdue {
				t.Errorf("%+v", s)
			}
			s.Signature[0], s.FinishOverdue = "mem", true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Amounts are limited at the input, so that nothing overflows.
func TestAmountsAreBounded(t *testing.T) {
	t.Parallel()
	db, _ := newDB(t)
	for _, c := range []struct {
		n    int64
		fine bool
	}{{-1, false}, {0, true}, {index.MaxAmount, true}, {index.MaxAmount + 1, false}, {math.MaxInt64, false}} {
		err := db.DryRun(func(tx *Tx) error {
			n := &index.Node{Name: "n"}
			n.Set(index.Mem, index.Value{Num: c.n})
			_, err := tx.Nodes().Put(n)
			return err
		})
		if c.fine != (err == nil) || !c.fine && !errors.Is(err, ErrInvalid) {
			t.Errorf("%d: %v", c.n, err)
		}
	}
	addNodes(t, db, "n", 3000, index.MaxAmount)
	err := db.Update(func(tx *Tx) error {
		s, err := tx.Ask().Stats()
		if err != nil || s.CPUs != math.MaxInt64 {
			t.Errorf("%d cpus: %v", s.CPUs, err)
		}
		j, err := tx.Jobs().Place(placer.Request{Select: "2000:ncpus=9007199254740992", Place: "scatter",
			Walltime: time.Hour})
		// the sum is too large to be asked for
		if !errors.Is(err, placer.ErrRequest) && !errors.Is(err, placer.ErrNever) {
			t.Errorf("%+v, %v", j, err)
		}
		_, err = tx.Jobs().Place(placer.Request{Select: "900:ncpus=9007199254740992", Place: "scatter",
			Walltime: time.Hour})
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if list := findings(t, db); len(list) > 0 {
		t.Error(list)
	}
}

// TestKeysAreKeptForAMinute: a caller that lost an answer has time to repeat the request.
func TestKeysAreKeptForAMinute(t *testing.T) {
	t.Parallel()
	db, _ := newDB(t)
	for value, fits := range map[string]bool{"0": false, "59": false, "60": true, "1m": true} {
		err := db.Update(func(tx *Tx) error { return tx.Config().Set("keep_keys", value) })
		if (err == nil) != fits || err != nil && !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v, want it to do: %v", value, err, fits)
		}
	}
}
