package tables

import (
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer/preempt"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

func preemptsTable(c *Catalog, _ int64) (tables.Table, error) {
	return &listTable[*preempt.Rule]{[]getter[*preempt.Rule]{
		textColumn("rule", "which jobs are preempted for which", func(r **preempt.Rule) string {
			return (*r).String()
		}),
		textColumn("how", "what happens to them: requeue or cancel", func(r **preempt.Rule) string {
			return (*r).How.String()
		}),
		valueColumn("grace", "time between the warning and the end; NULL: each job's own", values.IntegerAffinity,
			tables.Duration,
			func(r **preempt.Rule) values.Value {
				if (*r).Grace == preempt.OwnGrace {
					return values.Value{}
				}
				return values.Int((*r).Grace)
			}),
		valueColumn("min_run", "minimum run time before preemption", values.IntegerAffinity, tables.Duration,
			func(r **preempt.Rule) values.Value { return values.Int((*r).MinRun) }),
		intColumn("at_most", "maximum preemptions of a job; 0: no maximum", func(r **preempt.Rule) int64 {
			return int64((*r).AtMost)
		}),
	}, func(add func(*preempt.Rule)) error {
		return c.src.Rows.Each(row.Preempts, nil, func(key, payload []byte) (bool, error) {
			r, err := row.PreemptRow.Decode(key, payload)
			if err == nil {
				add(r)
			}
			return true, err
		})
	}}, nil
}
