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
	Named  map[string]values.Value // named parameters, without their sign
	Limits functions.Limits
	// Now is the clock in Unix seconds, for date('now') and the like; nil for none.
	Now func() int64
	// Ahead is how many seconds the clocks of 'localtime' are ahead of UTC at an instant; nil if
	// unknown.
	Ahead func(at int64) int
	// Views are named queries to use as tables, by name in lower case.
	Views map[string]*syntax.View
	// Nanos is a clock for EXPLAIN ANALYZE; nil omits times.
	Nanos func() int64
	// NoIndex reads every row, for tests.
	NoIndex bool
	// Progress, if not nil, is called now and then with the number of further rows read.
	Progress func(rows int64)
	// Context ends a run early.
	Context context.Context
	// Input reports whether an error of the Catalog is about the text and so gets a place. If
	// it is nil, all are.
	Input func(error) bool
}

func (o *Options) context() context.Context {
	if o.Context == nil {
		return context.Background()
	}
	return o.Context
}

// toUTC returns the instant at which the clocks of 'localtime' show t.
func (o *Options) toUTC(t dates.Instant) dates.Instant {
	guess := t - dates.Instant(o.Ahead(t.Seconds())*1000)
	return t - dates.Instant(o.Ahead(guess.Seconds())*1000)
}

func (o *Options) isInput(err error) bool { return o.Input == nil || o.Input(err) }
