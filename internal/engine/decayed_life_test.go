package engine

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"pgregory.net/rapid"
)

// TestDecayedRatesOfResources declares and removes resources while jobs that ask for them run,
// wait and end. At every step, decaying use says exactly what running jobs hold.
func TestDecayedRatesOfResources(tt *testing.T) {
	rapid.Check(tt, func(t *rapid.T) {
		db, clock := newDB(tt)
		addNodes(tt, db, "n", 2, 4)
		var jobs []uint64
		step := func(what int) func(tx *Tx) error {
			return func(tx *Tx) error {
				name := fmt.Sprintf("r%d", rapid.IntRange(0, 1).Draw(t, "resource"))
				defs, err := tx.Config().Resources()
				if err != nil {
					return err
				}
				def, there := defs.Lookup(name)
				switch what {
				case 0: // declared, as another kind than before perhaps, or removed
					if there {
						return tx.Config().RemoveResource(name)
					}
					kind := rapid.SampledFrom([]index.Type{index.Long, index.Size, index.Float, index.String}).Draw(t,
						"type")
					return tx.Config().AddResource(index.Def{Name: name, Type: kind, Consumable: kind != index.String})
				case 1: // a node gets some of it, or has it no more
					n, err := tx.Nodes().ByNumber(0)
					if err != nil || !there {
						return err
					}
					if _, has := n.Get(def.ID); has {
						n.Unset(def.ID)
					} else if err := n.SetAmount(defs, name, "7"); err != nil {
						return err
					}
					_, err = tx.Nodes().Put(n)
					return err
				case 2:
					r := placer.Request{Select: "1:ncpus=1", User: rapid.SampledFrom([]string{"ann", "bob"}).Draw(t,
						"user"), Walltime: time.Hour}
					if there {
						r.Select += ":" + name + "=" + rapid.SampledFrom([]string{"1", "2", "7"}).Draw(t, "amount")
					}
					j, err := tx.Jobs().Place(r)
					if err == nil {
						jobs = append(jobs, j.ID)
					}
					return err
				}
				if len(jobs) == 0 {
					return nil
				}
				id := rapid.SampledFrom(jobs).Draw(t, "job")
				if what == 3 {
					_, err = tx.Jobs().Release(id)
				} else {
					_, err = tx.Jobs().Requeue(id, "")
				}
				return err
			}
		}
		if err := db.Update(func(tx *Tx) error { return tx.Config().Set("job_priority", "FAIRSHARE") }); err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(1, 15).Draw(t, "steps") {
			clock.t += rapid.Int64Range(0, 500).Draw(t, "pass")
			what := rapid.IntRange(0, 5).Draw(t, "what")
			run := step(what)
			if what == 5 {
				run = func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{}); return err }
			}
			if err := db.Update(run); errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			}
			err := db.Check(func(f string) { t.Fatalf("after %d: %s", what, f) })
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestSalvageDecayed loses decaying use: salvage makes it grow by what running jobs hold, from
// then on.
func TestSalvageDecayed(t *testing.T) {
	t.Parallel()
	db, clock := newDB(t)
	addNodes(t, db, "n", 2, 4)
	err := db.Update(func(tx *Tx) error {
		if err := tx.Config().Set("job_priority", "FAIRSHARE"); err != nil {
			return err
		}
		_, err := tx.Jobs().Place(placer.Request{Select: "1:ncpus=3", User: "ann", Walltime: time.Hour})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	spoilRow(t, db, row.Decays)
	to := filepath.Join(t.TempDir(), "new.db")
	out, err := Salvage(db.Path(), to, &SalvageOptions{Options: Options{Now: clock.now}})
	if err != nil || !strings.Contains(fmt.Sprintf("%+v", out.Tables), row.Decays.String()) {
		t.Fatalf("%+v, %v", out, err)
	}
	saved, err := Open(to, &Options{Now: clock.now})
	if err != nil {
		t.Fatal(err)
	}
	if list := findings(t, saved); len(list) > 0 {
		t.Fatalf("%q", list)
	}
	err = saved.View(func(tx *Tx) error {
		key := row.DecayedKey((&row.Job{JobFacts: row.JobFacts{JobTerms: row.JobTerms{User: "ann"}}}).Whose())
		payload, err := tx.k.File.Get(row.Decays, key)
		if err != nil || payload == nil {
			return fmt.Errorf("nothing decays: %w", err)
		}
		x, err := row.DecayedRow.Decode(key, payload)
		for _, u := range x.Uses {
			if u.Name == "ncpus" && u.Rate == 3 {
				return err
			}
		}
		return fmt.Errorf("%+v", x)
	})
	if err != nil {
		t.Fatal(err)
	}
}
