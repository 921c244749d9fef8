package exec

import (
	"github.com/placectl/placectl/query/internal/functions"
	"github.com/placectl/placectl/query/values"
)

// Aggregate is a call of an aggregate function in a SELECT.
type Aggregate struct {
	functions.AggregateKind
	Args     []Code
	Filter   func(*Env) values.Truth
	Star     bool
	Distinct bool
	Made     int // where its result goes
	Name     string
	Order    []OrderKey        // the order in which it takes its rows; nil for any
	Best     bool              // it is min or max
	Bare     bool              // it is a column, not an aggregate
	Failed   func(error) error // gives an error its place in the statement; nil for a bare column
}

// tally holds what an aggregate has seen of a group. If it takes each value once, or rows in
// an order, it keeps them.
type tally struct {
	functions.State
	seen map[values.Value]struct{}
	rows *sorter
}

// update adds the current row, n times.
func (a *Aggregate) update(e *Env, s *tally, scratch []values.Value, times int64) error {
	if a.Filter != nil && a.Filter(e) != values.Yes {
		return e.Err
	}
	if a.Star {
		s.N += times
		return nil
	}
	v := a.Args[0].Eval(e)
	if v.Kind() == values.Null && !a.Nulls {
		return e.Err
	}
	for i := 1; i < len(a.Args); i++ {
		scratch[i] = a.Args[i].Eval(e)
	}
	if a.Distinct {
		key := values.Normal(v)
		if _, twice := s.seen[key]; twice {
			return e.Err
		}
		if s.seen == nil {
			s.seen = make(map[values.Value]struct{})
			e.Held += functions.HeldMap
		}
		s.seen[key] = struct{}{}
		if scratch[0], times = v, 1; e.Hold(scratch[:1], functions.HeldEntry) != nil {
			return e.Err
		}
	}
	if a.Order != nil {
		return a.keep(e, s, v, scratch)
	}
	a.take(e, &s.State, v, scratch[:len(a.Args)], times)
	return e.Err
}

// take adds a value.
func (a *Aggregate) take(e *Env, s *functions.State, v values.Value, args []values.Value, times int64) {
	s.Json = len(a.Args) > 0 && a.Args[len(a.Args)-1].JSON
	if a.Add(&e.Budget, s, v, args, times); e.Err != nil {
		a.failed(e)
	}
}

func (a *Aggregate) failed(e *Env) {
	if e.Err != nil && a.Failed != nil {
		e.Err = a.Failed(e.Err)
	}
}

// keep keeps a row for an aggregate with an order.
func (a *Aggregate) keep(e *Env, s *tally, v values.Value, args []values.Value) error {
	if s.rows == nil {
		s.rows = newSorter(a.Order, -1)
	}
	row := make([]values.Value, len(a.Args), len(a.Args)+len(a.Order))
	copy(row, args[:len(a.Args)])
	row[0] = v
	keys := make([]values.Value, len(a.Order))
	for i := range a.Order {
		keys[i] = a.Order[i].Code.Eval(e)
	}
	if err := e.Hold(append(row, keys...), functions.HeldSort); err != nil {
		return err
	}
	s.rows.add(keys, row)
	return e.Err
}

// resultOf returns the result of the rows, in the aggregate's order.
func (a *Aggregate) resultOf(e *Env, s *tally) values.Value {
	if a.Order != nil && s.rows != nil {
		in := s.rows
		in.finish()
		s = &tally{}
		for i := range in.rows {
			a.take(e, &s.State, in.rows[i].row[0], in.rows[i].row, 1)
		}
	}
	v := a.AggregateKind.Result(&e.Budget, &s.State)
	a.failed(e)
	return v
}
