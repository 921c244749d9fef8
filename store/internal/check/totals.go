package check

import (
	"github.com/placectl/placectl/store/internal/ledger"
	"github.com/placectl/placectl/store/internal/row"
)

// had adds up what the existing jobs had, month by month.
func (d *recomputed) had() error {
	defs, err := d.store.Resources()
	if err != nil {
		return err
	}
	l := &ledger.Ledger{Defs: defs}
	totals := make(map[string]*row.Total)
	err = d.store.Rows.Each(row.Jobs, nil, func(key, payload []byte) (bool, error) {
		j, err := row.DecodeJob(key, payload)
		if err != nil || j.CurrentAttempt() == 0 || !countable(j) {
			return true, err
		}
		return true, l.Whole(j, d.store.attempt, func(m row.Month, t *row.Total) {
			key := string(row.TotalKey(m, j.Payers()))
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
