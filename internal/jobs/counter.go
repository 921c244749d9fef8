package jobs

import (
	"cmp"
	"slices"

	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer/limits"
)

// FitCounter removes plans for which a counter no longer has room, the last to start first.
func FitCounter(tx *kernel.Tx, c *limits.Counter) error {
	var planned []limits.Holder
	for h := range c.Holders {
		if !h.Claim && h.Start > tx.Now {
			planned = append(planned, h)
		}
	}
	slices.SortFunc(planned, func(a, b limits.Holder) int {
		return cmp.Or(cmp.Compare(b.Start, a.Start), cmp.Compare(b.Owner, a.Owner))
	})
	var list []*row.Job
	for _, h := range planned {
		if !c.Exceeded(h, false) {
			continue
		}
		j, err := tx.ListedJob(h.Owner >> 1)
		if err != nil {
			return err
		}
		if c.Binds(j.OverLimits) {
			c.Remove(h.Owner) // free it for those that start before it
			list = append(list, j)
		}
	}
	why := row.Because(row.CauseRoom, "there is less of "+c.Name+" now")
	if c.Rule {
		why = row.Because(row.CauseLimit, "it would go beyond the limit "+c.Name)
	}
	return displace(tx, list, why)
}

// Throttle sets the throttle of an array.
func Throttle(tx *kernel.Tx, array uint64, most int64, jobs []*row.Job) error {
	key := row.ArrayKey(array)
	c, err := tx.Counters().Named(key)
	if err != nil {
		return err
	}
	if err := tx.File.Put(row.Counters, []byte(key), row.CounterRow.Encode(&row.Counter{Amount: most})); err != nil {
		return err
	}
	tx.Loaded.Freed.Anywhere()
	if c != nil {
		c.SetTotal(most)
		return FitCounter(tx, c)
	}
	tx.Counters().Forget(key)
	if c, err = tx.Counters().Named(key); err != nil {
		return err
	}
	for _, j := range jobs {
		if j.State == row.JobRunning || j.State == row.JobReserved {
			if err := tx.Counters().Put(key, c, j.InArray()); err != nil {
				return err
			}
		}
	}
	return FitCounter(tx, c)
}
