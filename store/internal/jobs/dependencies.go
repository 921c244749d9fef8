package jobs

import (
	"fmt"
	"slices"

	"github.com/placectl/placectl/store/internal/kernel"
	"github.com/placectl/placectl/store/internal/row"
)

// Ready reports whether everything a job depends on has happened. If not, it says what the job
// waits for, or, with ErrUnmet, what can no longer happen.
func Ready(tx *kernel.Tx, j *row.Job) (waitsFor string, err error) {
	for _, d := range j.After {
		other, err := RowOf(tx.File, d.Job)
		if err != nil {
			return "", err
		}
		met, err := kernel.Met(d, other)
		if err != nil {
			return "", fmt.Errorf("%w: %s, and job %d is %s", err, d, d.Job, other.State)
		}
		if !met && waitsFor == "" {
			waitsFor = fmt.Sprintf("waits for job %d (%s)", d.Job, d.When)
		}
	}
	return waitsFor, nil
}

// dependencies verifies that the jobs exist, and sorts them.
func dependencies(tx *kernel.Tx, list []row.Dependency) ([]row.Dependency, error) {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b row.Dependency) int {
		if a.Job != b.Job {
			return int(int64(a.Job) - int64(b.Job))
		}
		return int(a.When) - int(b.When)
	})
	list = slices.Compact(list)
	for _, d := range list {
		if d.When < row.After || d.When > row.AfterAny {
			return nil, fmt.Errorf("%w: %s is no kind of dependency", row.ErrInvalid, d.When)
		}
		if _, err := tx.Job(d.Job); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// corresponding returns the dependencies of each job of an array if they differ: those of all, and
// the job with its index in other arrays. It is nil without such arrays.
func corresponding(tx *kernel.Tx, j *row.Job, s Submission) ([][]row.Dependency, error) {
	if len(s.AfterCorr) == 0 {
		return nil, nil
	}
	if !s.isArray() {
		return nil, fmt.Errorf("%w: only jobs of an array have corresponding jobs", row.ErrInvalid)
	}
	after := make([][]row.Dependency, s.count())
	for _, array := range s.AfterCorr {
		others, err := tx.ArrayJobs(array)
		if err != nil {
			return nil, err
		}
		numbers := make(map[int]uint64, len(others))
		for _, o := range others {
			numbers[o.Index] = o.ID
		}
		for i := range after {
			id, ok := numbers[s.index(i)]
			if !ok {
				return nil, fmt.Errorf("%w: array %d has no job of index %d", row.ErrInvalid, array, s.index(i))
			}
			after[i] = append(after[i], row.Dependency{When: row.AfterOK, Job: id})
		}
	}
	for i := range after {
		var err error
		if after[i], err = dependencies(tx, append(after[i], j.After...)); err != nil {
			return nil, err
		}
	}
	return after, nil
}
