package query

import (
	"context"
)

// env is what a plan runs with: the row that each source stands on, the results of
// grouping, and what the run has taken so far. Sources, keys and aggregates are
// numbered through the whole statement, subqueries included, so that an inner query
// finds the rows of those around it where they are.
type env struct {
	budget
	row  []Row   // by slot
	made []Value // by number: keys of groups, results of aggregates
	item Value   // of a subquery, that is being read
}

// newEnv begins a run of a statement with so many sources, and so many results of grouping.
func newEnv(ctx context.Context, limits Limits, slots, made int) *env {
	return &env{budget: budget{ctx: ctx, limits: limits.orDefault()}, row: make([]Row, slots), made: make([]Value, made)}
}

// note keeps the error of a subquery's run.
func (e *env) note(err error) {
	if err != nil && err != errStop {
		e.fail(err)
	}
}

// once remembers the answer for a run, where it does not depend on rows.
func once(p *selectPlan, f func(*env) Value) func(*env) Value {
	if p.outer != 0 || !p.steady() {
		return f
	}
	var of *env
	var v Value
	return func(e *env) Value {
		if of != e {
			of, v = e, f(e)
		}
		return v
	}
}
