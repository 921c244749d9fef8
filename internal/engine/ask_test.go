package engine

import (
	"errors"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
)

// A text that a transaction has read before means the same, with the walltime that is given
// this time, until the resources change.
func TestReadAgain(t *testing.T) {
	db, _ := newDB(t)
	addNodes(t, db, "n", 4, 8)
	err := db.Update(func(tx *Tx) error {
		if err := tx.Config().AddResource(index.Def{Name: "tape", Type: index.Long, Consumable: true}); err != nil {
			return err
		}
		ask := placer.Request{Select: "1:tape=1+2:ncpus=1"}
		for range 2 {
			if _, err := tx.Ask().Ask(ask); err != nil {
				return err
			}
		}
		if err := tx.Config().RemoveResource("tape"); err != nil {
			return err
		}
		if _, err := tx.Ask().Ask(ask); !errors.Is(err, placer.ErrRequest) {
			t.Errorf("a resource that is no more: %v", err)
		}
		for _, walltime := range []time.Duration{time.Hour, 2 * time.Hour, time.Hour} {
			j, err := tx.Jobs().Place(placer.Request{Select: "ncpus=2", Place: "pack:excl", Walltime: walltime})
			if err != nil {
				return err
			}
			if j.Select != "1:ncpus=2" || j.Place != "pack:excl" || j.Walltime != walltime ||
				j.End.Sub(j.Start) != walltime {
				t.Errorf("%+v", j)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
