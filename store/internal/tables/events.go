package tables

import (
	"github.com/placectl/placectl/query"
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
)

// eventsTable is the events that have been written down, in the order of their
// numbers. What the clock has brought since has no numbers yet.
func eventsTable(c *Catalog, _ int64) (query.Table, error) {
	recorded := int64(c.src.Events)
	part := func(from, to int64) *file.Cursor { return c.src.Rows.Numbers(row.Events, from, min(to, recorded)) }
	return &orderedTable[row.Event]{rowsTable[row.Event]{
		columns: []getter[row.Event]{
			intColumn("id", "its number, in the order of writing", func(e *row.Event) int64 { return int64(e.ID) }),
			timeColumn("time", "when it happened", func(e *row.Event) int64 { return e.Time }),
			numberColumn("job", "of which job", func(e *row.Event) int64 { return int64(e.Job) }),
			textColumn("node", "of which node, or reservation", func(e *row.Event) string { return e.Node }),
			wordColumn("event", "what happened, in a word", EventWords, func(e *row.Event) string { return e.Event }),
			textColumn("old", "the state before", func(e *row.Event) string { return e.Old }),
			textColumn("new", "the state after", func(e *row.Event) string { return e.New }),
			textColumn("reason", "why", func(e *row.Event) string { return e.Reason }),
			valueColumn("uid", "the uid of who did it; NULL: time did, or nobody knows", query.IntegerAffinity, query.NoUnit, func(e *row.Event) query.Value {
				if e.By == nil {
					return query.Value{}
				}
				return query.Int(int64(*e.By))
			}),
		},
		size: int(recorded),
		open: func() *file.Cursor { return part(0, recorded) },
		read: func(key, payload []byte, out []row.Event) ([]row.Event, error) {
			ev, err := row.DecodeEvent(key, payload)
			if err != nil {
				return nil, err
			}
			return append(out, *ev), nil
		},
	}, part}, nil
}
