package nodes

import (
	"cmp"
	"slices"

	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer/limits"
)

// Beyond reports whether a job would go beyond a soft rule if it started now.
func (ru *Ruled) Beyond(j *row.Job) (beyond bool, err error) {
	all, err := ru.All()
	if all == nil || !all.Soft() || j.OverLimits || err != nil {
		return false, err
	}
	err = all.Of(j, func(a *limits.Applied, amount int64) error {
		if !a.Soft {
			return nil
		}
		_, c, err := ru.Counter(a)
		if err == nil && c.Left {
			amount = limits.Product(amount, j.Walltime)
		}
		beyond = beyond || err == nil && c.Held(ru.Calendar().Now())+amount > a.Max
		return err
	})
	return beyond, err
}

// Past returns the running jobs that are beyond a soft rule, by number: a job is if it and those
// that started before it exceed the rule. Pass all running jobs.
func (ru *Ruled) Past(running []*row.Job) (map[uint64]bool, error) {
	all, err := ru.All()
	if all == nil || !all.Soft() || err != nil {
		return nil, err
	}
	now, sums, past := ru.Calendar().Now(), make(map[string]int64), make(map[uint64]bool)
	running = slices.Clone(running)
	slices.SortFunc(running, func(a, b *row.Job) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.ID, b.ID))
	})
	for _, j := range running {
		err := all.Of(j, func(a *limits.Applied, amount int64) error {
			if !a.Soft {
				return nil
			}
			if a.Measure.Form == limits.Left {
				amount = limits.Product(amount, max(0, j.End-now))
			}
			key := row.LimitCounter(a)
			sums[key] += amount
			past[j.ID] = past[j.ID] || sums[key] > a.Max && !j.OverLimits
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return past, nil
}
