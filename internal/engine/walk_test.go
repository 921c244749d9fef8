package engine

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/subject"
	"pgregory.net/rapid"
)

// TestWalkWhileChanging: an iteration over a table sees each row that was there at the
// beginning once and in order, whatever happens to the table meanwhile and whoever else
// iterates over it.
func TestWalkWhileChanging(t *testing.T) {
	t.Parallel()
	db, _ := newDB(t)
	rapid.Check(t, func(t *rapid.T) {
		_ = db.DryRun(func(tx *Tx) error {
			key := rapid.Custom(func(t *rapid.T) []byte {
				return fmt.Appendf(nil, "k%03d", rapid.IntRange(0, 400).Draw(t, "key"))
			})
			want := map[string]bool{}
			for _, k := range rapid.SliceOfN(key, 0, 300).Draw(t, "rows") {
				want[string(k)] = true
				if err := tx.k.File.Mark(row.Views, k); err != nil {
					t.Fatal(err)
				}
			}
			rounds := rapid.IntRange(1, 3).Draw(t, "nested")
			walkAndChange(t, tx, key, want, rounds)
			return nil
		})
	})
}

// walkAndChange goes through the keys, changes some keys at some of them, and starts further
// iterations within.
func walkAndChange(t *rapid.T, tx *Tx, key *rapid.Generator[[]byte], want map[string]bool, nested int) {
	var got []string
	now := make(map[string]bool)
	for k := range want {
		now[k] = true
	}
	err := tx.k.File.Each(row.Views, nil, func(k, _ []byte) (bool, error) {
		got = append(got, string(k))
		for range rapid.SampledFrom([]int{0, 0, 0, 0, 0, 1, 5}).Draw(t, "changes") {
			k, change := key.Draw(t, "changed"), tx.k.File.Mark
			if now[string(k)] = rapid.Bool().Draw(t, "there"); !now[string(k)] {
				change = tx.k.File.Remove
			}
			if err := change(row.Views, k); err != nil {
				return false, err
			}
		}
		if nested > 1 && len(got) == 3 {
			there := make(map[string]bool)
			for k, is := range now {
				if is {
					there[k] = true
				}
			}
			walkAndChange(t, tx, key, there, nested-1)
		}
		return true, nil
	})
	var wanted []string
	for k := range want {
		wanted = append(wanted, k)
	}
	slices.Sort(wanted)
	if diff := cmp.Diff(wanted, got); diff != "" || err != nil {
		t.Fatalf("%v (-there at the beginning +seen)\n%s", err, diff)
	}
}

// eachCases go through everything with every method that iterates, and remove or change what
// they get.
var eachCases = map[string]func(tx *Tx, seen func(string)) error{
	"EachJob": func(tx *Tx, seen func(string)) error {
		return tx.Jobs().Each(func(j *Job) error {
			seen(fmt.Sprint(j.ID))
			if !j.State.Live() {
				return nil
			}
			_, err := tx.Jobs().Cancel(j.ID, "")
			return err
		}, JobRunning, JobReserved, JobHeld, JobQueued, JobFinished, JobCancelled)
	},
	"EachNode": func(tx *Tx, seen func(string)) error {
		return tx.Nodes().Each(func(n *index.Node) error {
			seen(n.Name)
			more := &index.Node{Name: n.Name + "x"}
			if _, err := tx.Nodes().Put(more); err != nil {
				return err
			}
			err := tx.Nodes().Remove(n.Number)
			if list := tx.k.Calendar().At(n.Number); len(list) > 0 && err != nil {
				return nil
			}
			return err
		})
	},
	"EachReservation": func(tx *Tx, seen func(string)) error {
		return tx.Reservations().Each(func(r *Reservation) error {
			seen(r.Name)
			_, err := tx.Reservations().Remove(r.Name)
			return err
		})
	},
	"EachStanding": func(tx *Tx, seen func(string)) error {
		return tx.Reservations().EachStanding(func(s *Standing) error {
			seen(s.Name)
			_, err := tx.Reservations().Remove(s.Name)
			return err
		})
	},
	"EachAttempt": func(tx *Tx, seen func(string)) error {
		return tx.Attempts().Each(0, func(a *Attempt) error {
			seen(fmt.Sprint(a.Job, a.Number))
			_, err := tx.Jobs().Cancel(a.Job, "test")
			if errors.Is(err, ErrConflict) {
				return nil
			}
			return err
		})
	},
	"EachEvent": func(tx *Tx, seen func(string)) error {
		return tx.EachEvent(0, func(ev *Event) (bool, error) {
			seen(fmt.Sprint(ev.ID))
			return true, tx.k.Happened(row.Event{Event: "more"})
		})
	},
	"EachBatch": func(tx *Tx, seen func(string)) error {
		return tx.Batches().Each(func(b *Batch) error {
			seen(b.Name)
			_, err := tx.Batches().Remove(b.Name)
			return err
		})
	},
	"EachBatchRange": func(tx *Tx, seen func(string)) error {
		return tx.Batches().EachRange("work0", func(c *locality.Cursor) error {
			seen(fmt.Sprint(c.First))
			_, err := tx.Batches().Next("work0", "other", "", locality.Want{})
			return err
		})
	},
	"EachBatchHost": func(tx *Tx, seen func(string)) error {
		return tx.Batches().EachHost("work0", func(h *locality.Host, _ *locality.Member) error {
			seen(h.Name)
			_, err := tx.Batches().Next("work0", h.Name+"x", "", locality.Want{})
			return err
		})
	},
	"EachBatchJob": func(tx *Tx, seen func(string)) error {
		return tx.Batches().EachJob("work0", func(n int, _ *locality.Job, _ *locality.Task) error {
			seen(fmt.Sprint(n))
			_, err := tx.Batches().Next("work0", fmt.Sprint("host", n), "", locality.Want{})
			if errors.Is(err, locality.ErrIdle) || errors.Is(err, locality.ErrOver) {
				err = nil
			}
			return err
		})
	},
}

// TestEachWhileChanging runs those cases after a look that changes nothing: both see the same.
func TestEachWhileChanging(t *testing.T) {
	t.Parallel()
	db, _ := fullDB(t)
	typ := reflect.TypeFor[*Tx]()
	for i := range typ.NumMethod() {
		if name := typ.Method(i).Name; strings.HasPrefix(name, "Each") && eachCases[name] == nil {
			t.Errorf("no case for %s", name)
		}
	}
	for name, each := range eachCases {
		t.Run(name, func(t *testing.T) {
			look, change := []string{}, []string{}
			err := db.DryRun(func(tx *Tx) error {
				if err := stir(tx); err != nil {
					return err
				}
				if err := lookAt(tx, name, func(s string) { look = append(look, s) }); err != nil {
					return err
				}
				return each(tx, func(s string) { change = append(change, s) })
			})
			slices.Sort(look)
			slices.Sort(change)
			if diff := cmp.Diff(look, change); diff != "" || err != nil || len(look) < 2 {
				t.Errorf("%v (-looking +changing)\n%s", err, diff)
			}
		})
	}
}

// stir changes a row of every table over which one can iterate: a table that was written to is
// in memory, where removing rows moves the others.
func stir(tx *Tx) error {
	if _, err := tx.Nodes().Put(&index.Node{Name: "stirred"}); err != nil {
		return err
	}
	if _, err := tx.Jobs().Submit(Submission{Request: placer.Request{Select: "1:ncpus=1"}}); err != nil {
		return err
	}
	s := ReserveSpec{Name: "stirred", Nodes: []uint32{0}, Start: kernel.Instant(tx.k.Now + 5_000_000),
		End: kernel.Instant(tx.k.Now + 5_000_100)}
	if _, err := tx.Reservations().Add(s); err != nil {
		return err
	}
	s.Name, s.Start, s.End, s.Repeat.Rule = "stirring", s.Start.Add(1000*time.Second), s.End.Add(1000*time.Second),
		"daily"
	if _, err := tx.Reservations().Add(s); err != nil {
		return err
	}
	for _, name := range []string{"work0", "work1", "work2"} {
		if _, err := tx.Batches().Next(name, "stirrer", "", locality.Want{}); err != nil {
			return err
		}
	}
	return nil
}

// lookAt goes through the same without changing anything.
func lookAt(tx *Tx, name string, seen func(string)) error {
	switch name {
	case "EachJob":
		return tx.Jobs().Each(func(j *Job) error { seen(fmt.Sprint(j.ID)); return nil })
	case "EachNode":
		return tx.Nodes().Each(func(n *index.Node) error { seen(n.Name); return nil })
	case "EachReservation":
		return tx.Reservations().Each(func(r *Reservation) error { seen(r.Name); return nil })
	case "EachStanding":
		return tx.Reservations().EachStanding(func(s *Standing) error { seen(s.Name); return nil })
	case "EachAttempt":
		return tx.Attempts().Each(0, func(a *Attempt) error { seen(fmt.Sprint(a.Job, a.Number)); return nil })
	case "EachEvent":
		return tx.EachEvent(0, func(ev *Event) (bool, error) { seen(fmt.Sprint(ev.ID)); return true, nil })
	case "EachBatch":
		return tx.Batches().Each(func(b *Batch) error { seen(b.Name); return nil })
	case "EachBatchRange":
		return tx.Batches().EachRange("work0", func(c *locality.Cursor) error { seen(fmt.Sprint(c.First)); return nil })
	case "EachBatchHost":
		return tx.Batches().EachHost("work0", func(h *locality.Host, _ *locality.Member) error {
			seen(h.Name)
			return nil
		})
	case "EachBatchJob":
		return tx.Batches().EachJob("work0", func(n int, _ *locality.Job, _ *locality.Task) error {
			seen(fmt.Sprint(n))
			return nil
		})
	}
	return nil
}

// fullDB returns a database with something of everything: nodes with and without jobs,
// jobs in all states, reservations, standing ones, queues, batches, events.
func fullDB(t *testing.T) (*DB, *clock) {
	t.Helper()
	db, clock := newDB(t)
	err := db.Update(func(tx *Tx) error {
		for _, def := range []index.Def{{Name: "color", Type: index.String},
			{Name: "lic", Type: index.Long, Consumable: true}} {
			if err := tx.Config().AddResource(def); err != nil {
				return err
			}
		}
		if err := tx.Queues().Add(Queue{Name: "q", Policy: "lastavailable"}); err != nil {
			return err
		}
		for i := range 40 {
			n := &index.Node{Name: fmt.Sprintf("n%02d", i)}
			n.Set(index.NCPUs, index.Value{Num: int64(4 + i%2)})
			n.Set(index.Mem, index.Value{Num: 8 << 20})
			if _, err := tx.Nodes().Put(n); err != nil {
				return err
			}
		}
		return tx.Config().Set("group_key", "color")
	})
	if err == nil {
		err = db.Update(fillJobs)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		name := fmt.Sprint("work", i)
		addBatch(t, db, name, locality.Settings{Hosts: 20}, someJobs(400))
		workBatch(t, db, name)
	}
	return db, clock
}

func fillJobs(tx *Tx) error {
	ask := placer.Request{Select: "1:ncpus=1", Place: "scatter", Walltime: time.Hour, User: "ann"}
	for i := range 30 {
		r := ask
		r.Place = []string{"scatter", "scatter:excl"}[i%2]
		if _, err := tx.Jobs().Place(r); err != nil {
			return err
		}
		if _, err := tx.Jobs().PlaceAt(r, kernel.Instant(tx.k.Now+int64(7200+100*i))); err != nil {
			return err
		}
		if _, err := tx.Jobs().Submit(Submission{Request: r, Hold: i%2 == 0, Command: []string{"true"}}); err != nil {
			return err
		}
		s := ReserveSpec{Name: fmt.Sprintf("r%d", i), Nodes: []uint32{uint32(20 + i%20)},
			Start: kernel.Instant(tx.k.Now + 1_000_000 + int64(i)*1000)}
		s.End = s.Start.Add(500 * time.Second)
		s.Access = placer.AccessList{{Subject: subject.User.Of("ann"), Affinity: placer.Positive}}
		if i%5 == 0 {
			s.Name, s.Repeat.Rule = fmt.Sprintf("s%d", i), "daily"
		}
		if _, err := tx.Reservations().Add(s); err != nil {
			return err
		}
	}
	_, err := tx.Jobs().Finish(1, 0, "")
	return err
}
