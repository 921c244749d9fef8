package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/placer"
)

// TestUnattended: with start=auto, a job whose user has no process takes no part in the queue,
// with every kind of backfilling. It keeps its place, and a plan until that is due.
func TestUnattended(t *testing.T) {
	t.Parallel()
	for _, backfill := range []Backfill{FCFS, EASY, Conservative} {
		t.Run(backfill.String(), func(t *testing.T) {
			t.Parallel()
			db, clock := newDB(t)
			addNodes(t, db, "n", 1, 2)
			here := map[uint32]bool{1: true}
			db.opt.Present = func(_ Identity, uid uint32) bool { return here[uid] }
			update := func(fn func(*Tx) error) {
				t.Helper()
				if err := db.Update(fn); err != nil {
					t.Fatal(err)
				}
			}
			submit := func(uid uint32, name string, walltime time.Duration) (id uint64) {
				t.Helper()
				update(func(tx *Tx) error {
					list, err := tx.Jobs().Submit(
						Submission{Request: placer.Request{Select: "1:ncpus=2", Walltime: walltime, User: name},
							Command: []string{"true"},
							Payload: &Payload{Dir: "/", Owner: &Submitter{UID: uid, Name: name}}})
					if err == nil {
						id = list[0].ID
					}
					return err
				})
				return id
			}
			cycle := func() {
				t.Helper()
				update(func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{Backfill: backfill}); return err })
			}
			state := func(id uint64, want JobState) {
				t.Helper()
				err := db.View(func(tx *Tx) error {
					j, err := tx.Jobs().Get(id)
					if err == nil && j.State != want {
						t.Errorf("job %d is %v, want %v (%s)", id, j.State, want, j.Reason)
					}
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			over := func(id uint64) {
				t.Helper()
				update(func(tx *Tx) error { _, err := tx.Jobs().Cancel(id, ""); return err })
			}
			bob, ann := submit(2, "bob", time.Minute), submit(1, "ann", time.Minute)
			cycle() // manual: each has its turn
			state(bob, JobRunning)
			update(func(tx *Tx) error { return tx.Config().Set("start", StartAuto) })
			over(bob)
			cycle()
			state(ann, JobRunning)
			over(ann)

			bob, ann = submit(2, "bob", time.Minute), submit(1, "ann", 2*time.Minute)
			cycle()
			state(bob, JobQueued)
			state(ann, JobRunning)
			err := db.View(func(tx *Tx) error {
				look, err := tx.Ask().Outlook()
				if err != nil {
					return err
				}
				j, err := tx.Jobs().Get(bob)
				if err != nil {
					return err
				}
				p, err := look.Prospect(j)
				if p.Wait != WaitsUser || !p.Start.IsZero() || !strings.Contains(p.Reason, "no queue runner of bob") {
					t.Errorf("bob's job waits for %q: %s, %v", p.Wait, p.Reason, p.Start)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if backfill == FCFS { // there are no plans
				here[2] = true
				over(ann)
				cycle()
				state(bob, JobRunning)
				return
			}
			here[2] = true
			cycle()
			state(bob, JobReserved)
			delete(here, 2)
			cycle()
			state(bob, JobReserved)
			over(ann) // the plan gets no earlier
			cycle()
			state(bob, JobReserved)
			clock.t += 121
			update(func(tx *Tx) error { return nil })
			state(bob, JobQueued)
			later := submit(1, "ann", time.Minute)
			cycle()
			state(bob, JobQueued)
			state(later, JobRunning)
			over(later)
			here[2] = true
			cycle()
			state(bob, JobRunning)
		})
	}
}
