package plan

import (
	"context"

	"github.com/placectl/placectl/query/internal/dates"
	"github.com/placectl/placectl/query/internal/functions"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/values"
)

// Options are what statements run with. The zero value works.
type Options struct {
	Args   []values.Value          // positional parameters
	Named  map[string]values.Value // the others, without their sign
	Limits functions.Limits
	// Now is the clock in Unix seconds, for date('now') and the like; nil if there
	// is none.
	Now func() int64
	// Ahead is by how many seconds the clocks of 'localtime' are ahead of UTC at an instant;
	// nil if that is not known.
	Ahead func(at int64) int
	// Views are queries with names, to be used as tables, by their names in lower case.
	Views map[string]*syntax.View
	// Nanos is a clock for EXPLAIN ANALYZE; nil leaves times out.
	Nanos func() int64
	// NoIndex looks at every row, for tests.
	NoIndex bool
	// Progress is told now and then how many rows more were looked at; it may be nil.
	Progress func(rows int64)
	// Context ends a run early.
	Context context.Context
	// Input recognises errors of the Catalog that are about what was asked for; they
	// get a position. Nil: all are.
	Input func(error) bool
}

func (o *Options) context() context.Context {
	if o.Context == nil {
		return context.Background()
	}
	return o.Context
}

// toUTC is the instant at which the clocks of 'localtime' show what t is in UTC.
func (o *Options) toUTC(t dates.Instant) dates.Instant {
	guess := t - dates.Instant(o.Ahead(t.Seconds())*1000)
	return t - dates.Instant(o.Ahead(guess.Seconds())*1000)
}

func (o *Options) isInput(err error) bool { return o.Input == nil || o.Input(err) }
