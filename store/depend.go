package store

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// When is how far another job must have come before a job that depends on it may
// start. The numbers are on disk and must not change; the names are those of PBS.
type When uint8

// The kinds of dependency.
const (
	After      When = 1 // it has started
	AfterOK    When = 2 // it has ended with status 0
	AfterNotOK When = 3 // it has failed, or was cancelled
	AfterAny   When = 4 // it has ended, however
)

var whenNames = [...]string{After: "after", AfterOK: "afterok", AfterNotOK: "afternotok", AfterAny: "afterany"}

func (w When) String() string {
	if int(w) < len(whenNames) && whenNames[w] != "" {
		return whenNames[w]
	}
	return fmt.Sprintf("when(%d)", w)
}

// Dependency is another job, and how far that must have come.
type Dependency struct {
	When When
	Job  uint64
}

func (d Dependency) String() string { return d.When.String() + ":" + strconv.FormatUint(d.Job, 10) }

// errUnmet is what a dependency that can no longer be met is.
var errUnmet = errors.New("depends on what will not happen")

// met reports whether a dependency on a job is met. The error is errUnmet when it
// never will be.
func (d Dependency) met(other *Job) (bool, error) {
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
func (tx *Tx) ready(j *Job) (waitsFor string, err error) {
	for _, d := range j.After {
		other, err := tx.Job(d.Job)
		if err != nil {
			return "", err
		}
		met, err := d.met(other)
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
func (tx *Tx) validDependencies(list []Dependency) ([]Dependency, error) {
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b Dependency) int {
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
		if _, err := tx.Job(d.Job); err != nil {
			return nil, err
		}
	}
	return list, nil
}
