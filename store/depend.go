package store

import (
	"errors"
	"fmt"
	"slices"

	"github.com/placectl/placectl/store/internal/row"
)

// errUnmet is what a dependency that can no longer be met is.
var errUnmet = errors.New("depends on what will not happen")

// met reports whether a dependency on a job is met. The error is errUnmet when it
// never will be.
func met(d row.Dependency, other *row.Job) (bool, error) {
	ended := !other.State.Live()
	ok := other.State == JobFinished
	switch d.When {
	case After:
		started := other.Start != 0 && (other.State == JobRunning || ended && other.Start <= other.End)
		if ended && !started {
			return false, errUnmet
		}
		return started, nil
	case AfterOK:
		if ended && !ok {
			return false, errUnmet
		}
		return ended, nil
	case AfterNotOK:
		if ended && ok {
			return false, errUnmet
		}
		return ended, nil
	}
	return ended, nil
}

// ready reports whether all that a job depends on has happened. It says what the
// job waits for otherwise, or, with errUnmet, in vain.
func (tx *Tx) ready(j *row.Job) (waitsFor string, err error) {
	for _, d := range j.After {
		other, err := tx.job(d.Job)
		if err != nil {
			return "", err
		}
		met, err := met(d, other)
		if err != nil {
			return "", fmt.Errorf("%w: %s, and job %d is %s", err, d, d.Job, other.State)
		}
		if !met && waitsFor == "" {
			waitsFor = fmt.Sprintf("waits for job %d (%s)", d.Job, d.When)
		}
	}
	return waitsFor, nil
}

// validDependencies makes sure that the jobs are there, and puts them in order.
func (tx *Tx) validDependencies(list []row.Dependency) ([]row.Dependency, error) {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b row.Dependency) int {
		if a.Job != b.Job {
			return int(int64(a.Job) - int64(b.Job))
		}
		return int(a.When) - int(b.When)
	})
	list = slices.Compact(list)
	for _, d := range list {
		if d.When < After || d.When > AfterAny {
			return nil, fmt.Errorf("%w: %s is no kind of dependency", ErrInvalid, d.When)
		}
		if _, err := tx.job(d.Job); err != nil {
			return nil, err
		}
	}
	return list, nil
}
