package rows

import (
	"errors"
	"slices"
	"time"

	"github.com/placectl/placectl/internal/engine"
)

// endedSince lists the jobs that have ended since an instant, and some that ended before. Workflow
// managers ask for those of the last minutes every few seconds, and a database may keep many older ones.
// So endedSince reads events, which are numbered in order of time. known is false if events of that time
// are gone.
func (v *View) endedSince(since time.Time) (list []*engine.Job, known bool, err error) {
	from, known, err := engine.EventsSince(v.Tx, since)
	if err != nil || !known {
		return nil, false, err
	}
	over := make(map[string]bool)
	for _, s := range engine.JobStates() {
		over[s.String()] = !s.Live()
	}
	var ids []uint64
	err = v.Tx.EachEvent(from, func(e *engine.Event) (bool, error) {
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
		j, err := v.Tx.Jobs().Get(id)
		switch {
		case errors.Is(err, engine.ErrNotFound): // it was dropped since
		case err != nil:
			return nil, false, err
		case !j.State.Live():
			list = append(list, j)
		}
	}
	return list, true, nil
}
