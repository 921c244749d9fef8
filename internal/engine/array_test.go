package engine

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/placectl/placectl/placer"
)

// TestArrayIndexes: the jobs of an array have the given indexes, or count from 0; invalid
// lists are refused. The array's number comes before those of its jobs.
func TestArrayIndexes(t *testing.T) {
	db, _ := newDB(t)
	addNodes(t, db, "n", 1, 4)
	submit := func(s Submission) (got []string, err error) {
		s.Request = placer.Request{Select: "1:ncpus=1", Walltime: time.Hour}
		err = db.Update(func(tx *Tx) error {
			jobs, err := tx.Jobs().Submit(s)
			if err != nil {
				return err
			}
			again, err := tx.Jobs().Array(jobs[0].Array)
			if len(again) != len(jobs) {
				t.Errorf("%d jobs, and the array has %d", len(jobs), len(again))
			}
			for i, j := range again {
				if j.ID != j.Array+1+uint64(i) {
					t.Errorf("job %d is the %d-th of array %d", j.ID, i, j.Array)
				}
				got = append(got, fmt.Sprintf("%d[%d]", j.Array, j.Index))
			}
			return err
		})
		return got, err
	}
	if got, err := submit(Submission{Indexes: []int{0, 7, MaxIndex}}); err != nil ||
		fmt.Sprint(got) != "[1[0] 1[7] 1[1000000000]]" {
		t.Error(got, err)
	}
	if got, err := submit(Submission{Array: 2}); err != nil || fmt.Sprint(got) != "[5[0] 5[1]]" {
		t.Error(got, err)
	}
	for _, s := range []Submission{
		{Indexes: []int{1, 1}}, {Indexes: []int{2, 1}}, {Indexes: []int{-1}}, {Indexes: []int{MaxIndex + 1}},
		{Indexes: []int{1}, Array: 1}, {Indexes: make([]int, MaxArray+1)},
	} {
		if got, err := submit(s); !errors.Is(err, ErrInvalid) {
			t.Errorf("array %d, %d indexes from %v on: %v, %v", s.Array, len(s.Indexes), s.Indexes[0], got, err)
		}
	}
}
