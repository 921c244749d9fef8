package pbs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/fronts"
)

// entry is one entry of qstat: a job, or an array as a whole.
type entry struct {
	*fronts.Job
	all []*fronts.Job // of the array; nil for a single job
}

// entries lists the jobs of a selection, with those of an array together.
func (s *status) entries(v fronts.View, sel fronts.Selection) (list []*entry, err error) {
	arrays := make(map[uint64]*entry)
	err = v.Jobs(sel, func(j *fronts.Job) error {
		if j.Array == 0 {
			list = append(list, &entry{Job: j})
			return nil
		}
		e := arrays[j.Array]
		if e == nil {
			e = &entry{Job: j}
			arrays[j.Array] = e
			list = append(list, e)
		}
		e.all = append(e.all, j)
		return nil
	})
	return list, err
}

// pick finds the entries of a name: an array as a whole, or with an index, or -t, its elements.
func (s *status) pick(r ref, all []*entry) (found []*entry) {
	for _, e := range all {
		if e.all == nil {
			if r.names(e.Job) {
				found = append(found, e)
			}
			continue
		}
		if r.from < 0 && r.id == e.Array {
			found = append(found, e)
			continue
		}
		for _, j := range e.all {
			if r.names(j) {
				found = append(found, &entry{Job: j})
			}
		}
	}
	return found
}

func (e *entry) over() bool {
	if e.all == nil {
		return e.State.Over()
	}
	return !slices.ContainsFunc(e.all, func(j *fronts.Job) bool { return !j.State.Over() })
}

// shows reports whether -u, -i, -r and -J select an entry.
func (s *status) shows(e *entry) bool {
	if list, ok := s.set["u"]; ok && !slices.Contains(strings.Split(list, ","), e.User) {
		return false
	}
	running := e.State == fronts.Running
	switch {
	case s.set.Has("r") && !running, s.set.Has("i") && (running || e.State.Over()), s.set.Has("J") && e.all == nil:
		return false
	}
	return true
}

// letter returns the state of an entry.
func (s *status) letter(e *entry) string {
	if e.all == nil {
		return state(e.Job, s.about.Now)
	}
	if e.over() {
		return "F"
	}
	begun := slices.ContainsFunc(e.all, func(j *fronts.Job) bool { return j.State >= fronts.Running })
	if begun {
		return "B"
	}
	return state(e.Job, s.about.Now)
}

func (s *status) name(e *entry) string {
	if e.all != nil {
		return fmt.Sprintf("%d[].%s", e.Array, s.about.Server)
	}
	return name(e.Job, s.about.Server)
}
