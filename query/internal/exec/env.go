package exec

import (
	"context"

	"github.com/placectl/placectl/query/internal/functions"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// Env is the state of a run: the current row of each source, the results of grouping, and the cost so
// far. Sources, keys and aggregates are numbered through the whole statement with its subqueries, so an
// inner query finds the rows of the outer ones.
type Env struct {
	functions.Budget
	Row  []tables.Row   // by slot
	Made []values.Value // by number: keys of groups, and results of aggregates
	Item values.Value   // the value of a subquery that is being read
}

// NewEnv begins a run of a statement with numbers of sources and of grouping results.
func NewEnv(ctx context.Context, limits functions.Limits, slots, made int) *Env {
	return &Env{Budget: functions.Budget{Ctx: ctx, Limits: limits.OrDefault()}, Row: make([]tables.Row, slots),
		Made: make([]values.Value, made)}
}

// Note records the error of a subquery's run.
func (e *Env) Note(err error) {
	if err != nil && err != ErrStop {
		e.Fail(err)
	}
}

// Once keeps the answer for a run if it does not depend on rows.
func Once(p *Plan, f func(*Env) values.Value) func(*Env) values.Value {
	if p.Outer != 0 || !p.Steady() {
		return f
	}
	var of *Env
	var v values.Value
	return func(e *Env) values.Value {
		if of != e {
			of, v = e, f(e)
		}
		return v
	}
}
