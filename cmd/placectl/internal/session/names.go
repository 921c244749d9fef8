package session

import (
	"errors"

	"github.com/placectl/placectl/cmd/placectl/internal/jobref"
	"github.com/placectl/placectl/cmd/placectl/internal/told"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
)

// LiveStates returns the states of jobs that have not ended.
func LiveStates() (states []engine.JobState) {
	for _, s := range engine.JobStates() {
		if s.Live() {
			states = append(states, s)
		}
	}
	return states
}

// EachNamed calls fn for every node of a list.
func EachNamed(tx *engine.Tx, list string, fn func(*index.Node) error) error {
	numbers, err := tx.Nodes().Resolve(list)
	if err != nil {
		return err
	}
	for _, number := range numbers {
		n, err := tx.Nodes().ByNumber(number)
		if err != nil {
			return err
		}
		if err := fn(n); err != nil {
			return err
		}
	}
	return nil
}

// Names finds the jobs that words name, as the calling user means them. In a transaction of several lines a name is
// first that of a job that one of its lines has made.
func (r *Run) Names(tx *engine.Tx) jobref.Names {
	names := jobref.Names{In: tx.Jobs(), Self: r.Self()}
	if len(r.TxMade) > 0 {
		names.Own = func(name string) ([]*engine.Job, error) { return namedAmong(tx, r.TxMade, name) }
	}
	return names
}

// namedAmong returns those of some jobs that have a name.
func namedAmong(tx *engine.Tx, made []told.Numbers, name string) (jobs []*engine.Job, err error) {
	for _, m := range made {
		for id := m.First; id < m.First+m.Count; id++ {
			j, err := tx.Jobs().Get(id)
			if errors.Is(err, engine.ErrNotFound) { // the number of an array, or a job that is gone
				continue
			}
			if err != nil {
				return nil, err
			}
			if j.Name == name {
				jobs = append(jobs, j)
			}
		}
	}
	return jobs, nil
}

// Made returns the jobs that this run has made since a job's number was next, or when its key was new.
func (r *Run) Made(tx *engine.Tx, next uint64) told.Numbers {
	if n := tx.Jobs().Next() - next; n > 0 {
		return told.Numbers{First: next, Count: n}
	}
	return r.repeated
}

// SeveralNames is Names for a verb that takes a name of several live jobs of the user for all of them.
func (r *Run) SeveralNames(tx *engine.Tx) jobref.Names {
	names := r.Names(tx)
	names.Several = true
	return names
}
