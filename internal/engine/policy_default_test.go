package engine

import (
	"testing"
	"time"

	"github.com/placectl/placectl/placer"
)

// TestPolicyOfTheDay: a job that names no policy is placed by the one that is set when it is
// placed, however often. One that names its own is placed by that.
func TestPolicyOfTheDay(t *testing.T) {
	t.Parallel()
	db, _ := newDB(t)
	addNodes(t, db, "n", 3, 1)
	var own, free []*Job
	err := db.Update(func(tx *Tx) (err error) {
		r := placer.Request{Select: "1:ncpus=1", Walltime: time.Hour}
		if free, err = tx.Jobs().Submit(Submission{Request: r}); err != nil {
			return err
		}
		r.Policy = "minresource"
		own, err = tx.Jobs().Submit(Submission{Request: r})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, policy := range []string{"lastavailable", "tetris", "", "lastavailable"} {
		err := db.Update(func(tx *Tx) error {
			if err := tx.Config().Set("policy", policy); err != nil {
				return err
			}
			if _, err := tx.Cycle().Run(CycleSpec{}); err != nil {
				return err
			}
			if policy == "" {
				policy = "firstavailable"
			}
			for _, c := range []struct {
				id            uint64
				placed, asked string
			}{{free[0].ID, policy, ""}, {own[0].ID, "minresource", "minresource"}} {
				j, err := tx.Jobs().Get(c.id)
				if err != nil {
					return err
				}
				if j.State != JobRunning || j.Policy != c.placed || j.Request().Policy != c.asked {
					t.Errorf("with policy %s job %d is %s by %q, asks for %q", policy, c.id, j.State, j.Policy,
						j.Request().Policy)
				}
				if j, err = tx.Jobs().Requeue(c.id, ""); err != nil {
					return err
				}
				if j.Policy != c.asked {
					t.Errorf("in the queue again job %d has policy %q", c.id, j.Policy)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
