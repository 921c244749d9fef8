package tables

import (
	"cmp"
	"maps"
	"slices"

	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/usage"
	"github.com/placectl/placectl/placer/subject"
	"github.com/placectl/placectl/query/tables"
)

// monthly is a subject's use in a month.
type monthly struct {
	month row.Month
	subject.Names
	row.Total
}

// whoseColumns are the columns user, group, account, class and queue.
func whoseColumns[T any](of func(*T) *subject.Names) (out []getter[T]) {
	for _, k := range row.Payers {
		out = append(out, textColumn(k.String(), k.String(), func(t *T) string { return of(t)[k] }))
	}
	return out
}

// usageTable returns the use by month of existing and archived jobs, with a row for each user,
// group, account, class and queue. Running attempts count when they end.
func usageTable(c *Catalog, _ int64) (tables.Table, error) {
	defs, err := c.src.Resources()
	if err != nil {
		return nil, err
	}
	columns := append([]getter[monthly]{
		textColumn("month", "month in UTC, such as 2026-11; jobs count in the month of their end, resources in the "+
			"month of their use", func(m *monthly) string { return m.month.String() }),
	}, whoseColumns(func(m *monthly) *subject.Names { return &m.Names })...)
	columns = append(columns,
		intColumn("jobs", "number of ended jobs that had started", func(m *monthly) int64 { return m.Jobs }),
		intColumn("failed", "number of those that failed", func(m *monthly) int64 { return m.Failed }),
		intColumn("preempted", "number of preemptions", func(m *monthly) int64 { return m.Preempted }),
		unitColumn("waits", "total time from submit to first start", tables.Duration, func(m *monthly) int64 {
			return m.Waits
		}),
	)
	held := func(name, doc string) {
		columns = append(columns, intColumn(name+"_seconds", doc, func(m *monthly) int64 { return m.Of(name) }))
	}
	held(usage.HeldNodes, "nodes x seconds held")
	for _, def := range defs.All() {
		if def.Consumable {
			held(def.Name, def.Name+" x seconds requested and held; sizes in MB")
		}
	}
	for _, pool := range defs.Pools() {
		held(pool, "of the pool "+pool+" x seconds")
	}
	return &listTable[monthly]{columns, func(add func(monthly)) error {
		sum := make(map[string]*row.Total)
		for _, t := range []row.Table{row.Totals, row.Gone} {
			err := c.src.Rows.Each(t, nil, func(key, payload []byte) (bool, error) {
				t, err := row.TotalRow.Decode(key, payload)
				if err == nil && sum[string(key)] != nil {
					sum[string(key)].Add(t, 1)
				} else {
					sum[string(key)] = t
				}
				return true, err
			})
			if err != nil {
				return err
			}
		}
		var list []monthly
		for key := range maps.Keys(sum) {
			m, p, err := row.SplitTotalKey([]byte(key))
			if err != nil {
				return err
			}
			if !sum[key].Empty() {
				list = append(list, monthly{m, p, *sum[key]})
			}
		}
		slices.SortFunc(list, func(a, b monthly) int {
			return cmp.Or(cmp.Compare(a.month, b.month), slices.Compare(a.Names[:], b.Names[:]))
		})
		for _, m := range list {
			add(m)
		}
		return nil
	}}, nil
}
