package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
)

// TestDecayedRates: what is held now according to decaying use is compared with the running
// jobs. It is mended without a change of the past.
func TestDecayedRates(t *testing.T) {
	t.Parallel()
	db, clock := newDB(t)
	addNodes(t, db, "n", 2, 4)
	update := func(fn func(*Tx) error) {
		t.Helper()
		if err := db.Update(fn); err != nil {
			t.Fatal(err)
		}
	}
	update(func(tx *Tx) error {
		if err := tx.Config().Set("job_priority", "FAIRSHARE"); err != nil {
			return err
		}
		for _, user := range []string{"ann", "ann", "bob"} {
			if _, err := tx.Jobs().Place(placer.Request{Select: "1:ncpus=2", User: user,
				Walltime: time.Hour}); err != nil {
				return err
			}
		}
		return nil
	})
	clock.t += 600
	update(func(tx *Tx) error { _, err := tx.Jobs().Release(1); return err })
	if list := findings(t, db); len(list) > 0 {
		t.Fatalf("%q", list)
	}
	ann := row.DecayedKey((&row.Job{JobFacts: row.JobFacts{JobTerms: row.JobTerms{User: "ann"}}}).Whose())
	read := func() (x *row.Decayed) {
		update(func(tx *Tx) error {
			payload, err := tx.k.File.Get(row.Decays, ann)
			if err == nil {
				x, err = row.DecayedRow.Decode(ann, payload)
			}
			return err
		})
		return x
	}
	was := read()
	wrong := []func(tx *Tx) error{
		func(tx *Tx) error { // another rate
			x := copied(was)
			x.Uses[0].Rate += 3
			return tx.k.File.Put(row.Decays, ann, row.DecayedRow.Encode(x))
		},
		func(tx *Tx) error { return tx.k.File.Remove(row.Decays, ann) },
	}
	for i, spoil := range wrong {
		update(spoil)
		if list := findings(t, db); len(list) == 0 || !strings.Contains(list[0], "decaying use of ann") {
			t.Fatalf("%d: %q", i, list)
		}
		if err := db.Repair(func(string) {}); err != nil {
			t.Fatal(err)
		}
		if list := findings(t, db); len(list) > 0 {
			t.Fatalf("%d: %q", i, list)
		}
		if is := read(); is.Uses[0].Rate != was.Uses[0].Rate || i == 0 && is.Uses[0].Value != was.Uses[0].Value {
			t.Fatalf("%d: %+v, and it was %+v", i, is, was)
		}
		update(func(tx *Tx) error { return tx.k.File.Put(row.Decays, ann, row.DecayedRow.Encode(was)) })
	}
	update(func(tx *Tx) error { _, err := tx.ResetClock(tx.Now().Add(-time.Minute)); return err })
	if list := findings(t, db); len(list) > 0 {
		t.Fatalf("%q", list)
	}
}

// copied returns a copy of x.
func copied(x *row.Decayed) *row.Decayed {
	out := *x
	out.Uses = append([]row.DecayedUse{}, x.Uses...)
	return &out
}
