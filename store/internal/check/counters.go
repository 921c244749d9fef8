package check

import (
	"fmt"

	"github.com/placectl/placectl/placer/limits"
	"github.com/placectl/placectl/store/internal/row"
)

// counters notes what a job holds of counters: of pools that there are, and of the throttle
// of its array where that has one. That more is held than there is, is no contradiction:
// a counter may have been given less since.
func (d *derived) counters(j *row.Job) {
	for key, h := range j.Held {
		d.held(fmt.Sprintf("job %d", j.ID), key, h)
	}
	if j.Array == 0 {
		return
	}
	key := row.ArrayKey(j.Array)
	if payload, err := d.store.Rows.Get(row.Counters, []byte(key)); err == nil && payload != nil {
		d.rows[row.Holdings][string(row.HoldingKey(key, row.JobOwner(j.ID)))] = row.EncodeHolding(j.InArray())
	}
}

// held notes what somebody holds of a pool.
func (d *derived) held(who, key string, h limits.Holder) {
	if payload, err := d.store.Rows.Get(row.Counters, []byte(key)); err != nil || payload == nil {
		d.contradict("%s has %d of %s, which there is not", who, h.Amount, key)
	}
	d.rows[row.Holdings][string(row.HoldingKey(key, h.Owner))] = row.EncodeHolding(h)
}
