package rows

import (
	"errors"
	"slices"
	"sort"
	"time"

	"github.com/placectl/placectl/store"
)

// endedSince are the jobs that have ended since an instant, and some that did before it. A
// database may keep any number of jobs that ended long ago, and workflow managers ask for
// those of the last minutes every few seconds, so the events tell: they are numbered as
// they happened. known is false where there are no events of that time any more.
func (v *View) endedSince(since time.Time) (list []*store.Job, known bool, err error) {
	from, known, err := v.eventsSince(since)
	if err != nil || !known {
		return nil, false, err
	}
	over := make(map[string]bool)
	for _, s := range store.JobStates() {
		over[s.String()] = !s.Live()
	}
	var ids []uint64
	err = v.Tx.EachEvent(from, func(e *store.Event) (bool, error) {
		if e.Job != 0 && over[e.New] {
			ids = append(ids, e.Job)
		}
		return true, nil
	})
	if err != nil {
		return nil, false, err
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		j, err := v.Tx.Job(id)
		switch {
		case errors.Is(err, store.ErrNotFound): // it was dropped since
		case err != nil:
			return nil, false, err
		case !j.State.Live():
			list = append(list, j)
		}
	}
	return list, true, nil
}

// eventsSince is a number: the events behind it are all those that happened since an
// instant, and maybe some of before it. Where the clock was set back several numbers divide
// events of before from such of after, and the search finds one of them.
func (v *View) eventsSince(since time.Time) (after uint64, known bool, err error) {
	var first *store.Event
	if err := v.Tx.EachEvent(0, func(e *store.Event) (bool, error) { first = e; return false, nil }); err != nil || first == nil {
		return 0, false, err
	}
	if !first.Time.Before(since) {
		return 0, first.ID == 1, nil
	}
	last := v.Tx.RecordedEvents()
	if last < first.ID {
		return first.ID - 1, true, nil
	}
	n := sort.Search(int(last-first.ID), func(i int) bool {
		late := true // where no event is behind
		if err == nil {
			err = v.Tx.EachEvent(first.ID+uint64(i), func(e *store.Event) (bool, error) {
				late = !e.Time.Before(since)
				return false, nil
			})
		}
		return late
	})
	return first.ID + uint64(n), true, err
}
