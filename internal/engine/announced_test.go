package engine

import (
	"slices"
	"testing"
	"time"

	"github.com/placectl/placectl/placer"
)

// TestAnnouncedOnce: a cycle reports each job that it starts for launching, once, except those
// that their submitters' own processes launch.
func TestAnnouncedOnce(t *testing.T) {
	t.Parallel()
	db := arrayWaits(t, 0)
	var other uint64 // the job that nothing attends
	var reports [2][]uint64
	err := db.Update(func(tx *Tx) error {
		for _, id := range []uint64{2, 3} {
			if _, err := tx.Jobs().Release(id); err != nil {
				return err
			}
		}
		for _, attended := range []bool{true, false} {
			list, err := tx.Jobs().Submit(Submission{Request: placer.Request{Select: "1:ncpus=1", Walltime: time.Hour},
				Attended: attended})
			if err != nil {
				return err
			}
			other = list[0].ID
		}
		for i := range reports {
			r, err := tx.Cycle().Run(CycleSpec{})
			if err != nil {
				return err
			}
			for _, j := range r.Launch {
				reports[i] = append(reports[i], j.ID)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(reports[0], []uint64{other}) || len(reports[1]) > 0 {
		t.Errorf("launches reported: %v, want [%d], then none", reports, other)
	}
}
