package check

import (
	"fmt"

	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer/limits"
)

// counters notes what a job holds of counters: of existing pools, and of its array's throttle
// if there is one. It is no contradiction if more is held than there is, because the counter
// may have been reduced since.
func (d *recomputed) counters(j *row.Job) {
	for key, h := range j.Held {
		d.held(fmt.Sprintf("job %d", j.ID), key, h)
	}
	if j.Array == 0 {
		return
	}
	key := row.ArrayKey(j.Array)
	if payload, err := d.store.Rows.Get(row.Counters, []byte(key)); err == nil && payload != nil {
		h := j.InArray()
		d.rows[row.Holdings][string(row.HoldingKey(key, h.Owner))] = row.HoldingRow.Encode(&h)
	}
}

// ruled notes what a job that has not ended counts in the rules that apply to it.
func (d *recomputed) ruled(j *row.Job) error {
	if d.rules == nil || !j.State.Live() {
		return nil
	}
	waits, starts := j.State != row.JobRunning, j.State == row.JobRunning || j.State == row.JobReserved
	return d.rules.Of(j, func(a *limits.Applied, amount int64) error {
		key := row.LimitCounter(a)
		switch {
		case a.Measure.Timed() && starts:
			h := j.InArray()
			h.Amount = amount
			d.rows[row.Holdings][string(row.HoldingKey(key, h.Owner))] = row.HoldingRow.Encode(&h)
		case !a.Measure.Counts(waits):
			return nil
		}
		sum := d.sums[key] + amount
		d.sums[key], d.rows[row.LimitSums][key] = sum, row.LimitSumRow.Encode(&sum)
		return nil
	})
}

// held adds what a holder has of a pool.
func (d *recomputed) held(who, key string, h limits.Holder) {
	if payload, err := d.store.Rows.Get(row.Counters, []byte(key)); err != nil || payload == nil {
		d.contradict("%s has %d of %s, which there is not", who, h.Amount, key)
	}
	d.rows[row.Holdings][string(row.HoldingKey(key, h.Owner))] = row.HoldingRow.Encode(&h)
}

// claims verifies that claims belong to waiting jobs alone.
func (d *recomputed) claims() error {
	return d.store.Rows.Each(row.Claims, nil, func(key, _ []byte) (bool, error) {
		payload, err := d.store.Rows.Get(row.Jobs, key)
		if err != nil {
			return false, err
		}
		d.at = Row{row.Claims, string(key)}
		if payload == nil {
			d.contradict("job %d has a claim, and there is no such job", row.Number64(key))
			return true, nil
		}
		j, err := row.DecodeJob(key, payload)
		if err == nil && j.State != row.JobQueued {
			d.contradict("job %d has a claim, and is %s", j.ID, j.State)
		}
		return true, err
	})
}
