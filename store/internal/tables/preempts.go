package tables

import (
	"github.com/placectl/placectl/placer/preempt"
	"github.com/placectl/placectl/query"
	"github.com/placectl/placectl/store/internal/row"
)

func preemptsTable(c *Catalog, _ int64) (query.Table, error) {
	return &listTable[*preempt.Rule]{[]getter[*preempt.Rule]{
		textColumn("rule", "whose jobs make way for whose", func(r **preempt.Rule) string { return (*r).String() }),
		textColumn("how", "what becomes of them: requeue or cancel", func(r **preempt.Rule) string { return (*r).How.String() }),
		valueColumn("grace", "for how long they go on once they were told; NULL: each as long as it has said itself", query.IntegerAffinity, query.Duration,
			func(r **preempt.Rule) query.Value {
				if (*r).Grace == preempt.OwnGrace {
					return query.Value{}
				}
				return query.Int((*r).Grace)
			}),
		valueColumn("min_run", "how long they have run before", query.IntegerAffinity, query.Duration, func(r **preempt.Rule) query.Value { return query.Int((*r).MinRun) }),
		intColumn("at_most", "how often one is stopped in its life; 0: as often as need be", func(r **preempt.Rule) int64 { return int64((*r).AtMost) }),
	}, func(add func(*preempt.Rule)) error {
		return c.src.Rows.Each(row.Preempts, nil, func(key, payload []byte) (bool, error) {
			r, err := row.DecodePreempt(key, payload)
			if err == nil {
				add(r)
			}
			return true, err
		})
	}}, nil
}
