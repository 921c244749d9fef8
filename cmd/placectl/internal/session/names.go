package session

import (
	"fmt"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/jobref"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store"
)

// FoldNumbers writes sorted numbers with ranges: 3,5-9.
func FoldNumbers(ids []uint64) string {
	slices.Sort(ids)
	var b strings.Builder
	for i := 0; i < len(ids); i++ {
		first := i
		for i+1 < len(ids) && ids[i+1] == ids[i]+1 {
			i++
		}
		if first > 0 {
			b.WriteByte(',')
		}
		fmt.Fprint(&b, ids[first])
		if i > first {
			fmt.Fprintf(&b, "-%d", ids[i])
		}
	}
	return b.String()
}

// LiveStates returns the states of jobs that have not ended.
func LiveStates() (states []store.JobState) {
	for _, s := range store.JobStates() {
		if s.Live() {
			states = append(states, s)
		}
	}
	return states
}

// EachNamed calls fn for every node of a list.
func EachNamed(tx *store.Tx, list string, fn func(*index.Node) error) error {
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

// Names finds the jobs that words name, as the calling user means them.
func (r *Run) Names(tx *store.Tx) jobref.Names { return jobref.Names{In: tx.Jobs(), Self: r.Self()} }

// SeveralNames is Names for a verb that takes a name of several live jobs of the user for all of them.
func (r *Run) SeveralNames(tx *store.Tx) jobref.Names {
	names := r.Names(tx)
	names.Several = true
	return names
}
