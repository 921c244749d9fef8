package engine

import (
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
)

// Sorting the nodes into buckets again must not lose what is left of shared nodes, or requests
// for it would be refused.
func TestReindexWhileShared(t *testing.T) {
	t.Parallel()
	share := placer.Request{Select: "1:ncpus=2", Place: "shared", Walltime: time.Hour}
	for _, c := range []struct {
		name   string
		change func(*Tx) error
	}{
		{"a signature", func(tx *Tx) error { return tx.Config().Set("signature", "ncpus") }},
		{"the signature that there is", func(tx *Tx) error { return tx.Config().Set("signature", "") }},
		{"a resource less", func(tx *Tx) error { return tx.Config().RemoveResource("color") }},
		{"a resource more", func(tx *Tx) error {
			return tx.Config().AddResource(index.Def{Name: "shape", Type: index.String})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			db, _ := newDB(t)
			addNodes(t, db, "n", 1, 4)
			var first *Job
			err := db.Update(func(tx *Tx) (err error) {
				if err = tx.Config().AddResource(index.Def{Name: "color", Type: index.String}); err == nil {
					first, err = tx.Jobs().Place(share)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := db.Update(c.change); err != nil {
				t.Fatal(err)
			}
			if list := findings(t, db); len(list) > 0 {
				t.Errorf("after the change: %q", list)
			}
			err = db.Update(func(tx *Tx) error {
				if _, err := tx.Jobs().Place(share); err != nil {
					return err
				}
				_, err := tx.Jobs().Release(first.ID)
				return err
			})
			if err != nil {
				t.Errorf("the other half of the node: %v", err)
			}
			if list := findings(t, db); len(list) > 0 {
				t.Errorf("after a job more and a job less: %q", list)
			}
		})
	}
}
