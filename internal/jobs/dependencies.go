package jobs

import (
	"fmt"
	"slices"

	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
)

// Ready reports whether everything a job depends on has happened. If not, it says what the job
// waits for, or, with ErrUnmet, what can no longer happen.
func Ready(tx *kernel.Tx, j *row.Job) (waitsFor string, err error) {
	for _, d := range j.After {
		other, err := tx.Progress(d)
		if err != nil {
			return "", err
		}
		met, err := other.Met(d.When)
		if err != nil {
			number, state := d.Job, other.State
			if other.Bad != nil {
				number, state = other.Bad.ID, other.Bad.State
			}
			return "", fmt.Errorf("%s %w: job %d %s", d, err, number, state.Is())
		}
		if !met && waitsFor == "" {
			waitsFor = fmt.Sprintf("waits for job %d (%s)", d.Job, d.When)
		}
	}
	return waitsFor, nil
}

// dependencies verifies that the jobs and arrays exist, and sorts them.
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
		is, err := tx.IsArray(d.Job)
		if err == nil && !is {
			_, err = tx.Job(d.Job)
		}
		if err != nil {
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
	counterparts, err := Jobs{tx}.Counterparts(s.AfterCorr)
	if err != nil {
		return nil, err
	}
	after := make([][]row.Dependency, s.count())
	for i := range after {
		if after[i], err = counterparts.Of(s.index(i)); err == nil {
			after[i], err = dependencies(tx, append(after[i], j.After...))
		}
		if err != nil {
			return nil, err
		}
	}
	return after, nil
}

// Counterparts are the jobs of some arrays, by index.
type Counterparts []counterpart

type counterpart struct {
	array uint64
	jobs  map[int]uint64
}

// Counterparts returns the jobs of arrays. It fails with ErrNotFound if there is no such array.
func (js Jobs) Counterparts(arrays []uint64) (list Counterparts, err error) {
	for _, array := range arrays {
		jobs, err := js.tx.ArrayJobs(array)
		if err != nil {
			return nil, err
		}
		c := counterpart{array, make(map[int]uint64, len(jobs))}
		for _, j := range jobs {
			c.jobs[j.Index] = j.ID
		}
		list = append(list, c)
	}
	return list, nil
}

// Of returns the dependencies of an array's job on those with its index. It fails with ErrInvalid if an
// array has none.
func (list Counterparts) Of(index int) (after []row.Dependency, err error) {
	for _, c := range list {
		id, ok := c.jobs[index]
		if !ok {
			return nil, fmt.Errorf("%w: array %d has no job of index %d", row.ErrInvalid, c.array, index)
		}
		after = append(after, row.Dependency{When: row.AfterOK, Job: id})
	}
	return after, nil
}
