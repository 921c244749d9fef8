package check

import (
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/usage"
)

// had adds up what the existing jobs had, month by month.
func (d *recomputed) had() error {
	defs, err := d.store.Resources()
	if err != nil {
		return err
	}
	l := &usage.Ledger{Defs: defs}
	totals := make(map[string]*row.Total)
	err = d.store.Rows.Each(row.Jobs, nil, func(key, payload []byte) (bool, error) {
		j, err := row.DecodeJob(key, payload)
		if err != nil || j.CurrentAttempt() == 0 || !countable(j) {
			return true, err
		}
		return true, l.Whole(j, d.store.attempt, func(m row.Month, t *row.Total) {
			key := string(row.TotalKey(m, j.Whose()))
			if totals[key] == nil {
				totals[key] = new(row.Total)
			}
			totals[key].Add(t, 1)
		})
	})
	for key, t := range totals {
		if !t.Empty() {
			d.rows[row.Totals][key] = row.TotalRow.Encode(t)
		}
	}
	return err
}
