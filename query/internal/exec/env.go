package exec

import (
	"context"

	"github.com/placectl/placectl/query/internal/functions"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// Env is what a plan runs with: the row that each source stands on, the results of
// grouping, and what the run has taken so far. Sources, keys and aggregates are
// numbered through the whole statement, subqueries included, so that an inner query
// finds the rows of those around it where they are.
type Env struct {
	functions.Budget
	Row  []tables.Row   // by slot
	Made []values.Value // by number: keys of groups, results of aggregates
	Item values.Value   // of a subquery, that is being read
}

// NewEnv begins a run of a statement with so many sources, and so many results of grouping.
func NewEnv(ctx context.Context, limits functions.Limits, slots, made int) *Env {
	return &Env{Budget: functions.Budget{Ctx: ctx, Limits: limits.OrDefault()}, Row: make([]tables.Row, slots), Made: make([]values.Value, made)}
}

// Note keeps the error of a subquery's run.
func (e *Env) Note(err error) {
	if err != nil && err != ErrStop {
		e.Fail(err)
	}
}

// Once remembers the answer for a run, where it does not depend on rows.
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
