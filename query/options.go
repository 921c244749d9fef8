package query

import (
	"context"
)

// Options are what statements run with. The zero value works.
type Options struct {
	Args   []Value          // positional parameters
	Named  map[string]Value // the others, without their sign
	Limits Limits
	// Now is the clock in Unix seconds, for date('now') and the like; nil where there
	// is none.
	Now func() int64
	// Ahead is by how many seconds the clocks of 'localtime' are ahead of UTC at an instant;
	// nil where that is not known.
	Ahead func(at int64) int
	// Views are queries with names, to be used as tables, by their names in lower case.
	Views map[string]*View
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
func (o *Options) toUTC(t instant) instant {
	guess := t - instant(o.Ahead(t.seconds())*1000)
	return t - instant(o.Ahead(guess.seconds())*1000)
}

func (o *Options) isInput(err error) bool { return o.Input == nil || o.Input(err) }
