package daily

import (
	"time"

	"github.com/placectl/placectl/store"
)

// Waiter is a waiting job.
type Waiter struct {
	Job      *store.Job
	Why      string
	Expected time.Time // zero if unknown
}

// ReadQueue lists the waiting jobs, the next to start first.
func ReadQueue(tx *store.Tx, zone *time.Location) (list []Waiter, err error) {
	look, err := tx.Ask().Outlook()
	if err != nil {
		return nil, err
	}
	f := Filter{States: []store.JobState{store.JobReserved, store.JobQueued, store.JobLate, store.JobHeld}}
	err = f.EachIn(tx, Next, func(j *store.Job) error {
		p, err := look.Prospect(j)
		list = append(list, Waiter{j, waitWord(p, zone), p.Start})
		return err
	})
	return list, err
}
