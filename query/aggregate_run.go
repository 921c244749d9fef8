package query

// aggregate is one call of one in a SELECT.
type aggregate struct {
	aggregateKind
	args     []code
	filter   func(*env) truth
	star     bool
	distinct bool
	made     int // where its result goes
	name     string
	order    []orderKey // in which it takes its rows, nil for as they come
	best     bool       // it is the smallest or largest
	by       Collation  // by which it compares
	bare     bool       // it is a column beside aggregates
}

// tally is what an aggregate has seen of a group, the values it takes once and the rows that
// it takes in an order among it.
type tally struct {
	state
	seen map[Value]struct{}
	rows *sorter
}

// update adds the row at hand, so many times over.
func (a *aggregate) update(e *env, s *tally, scratch []Value, times int64) error {
	if a.filter != nil && a.filter(e) != yes {
		return e.err
	}
	if a.star {
		s.n += times
		return nil
	}
	v := a.args[0].eval(e)
	if v.kind == Null && !a.nulls {
		return e.err
	}
	for i := 1; i < len(a.args); i++ {
		scratch[i] = a.args[i].eval(e)
	}
	if a.distinct {
		key := normal(a.by.fold(v))
		if _, twice := s.seen[key]; twice {
			return e.err
		}
		if s.seen == nil {
			s.seen = make(map[Value]struct{})
		}
		s.seen[key] = struct{}{}
		if scratch[0], times = v, 1; e.hold(scratch[:1]) != nil {
			return e.err
		}
	}
	if a.order != nil {
		return a.keep(e, s, v, scratch)
	}
	a.take(e, &s.state, v, scratch[:len(a.args)], times)
	return e.err
}

// take adds a value.
func (a *aggregate) take(e *env, s *state, v Value, args []Value, times int64) {
	s.json = len(a.args) > 0 && a.args[len(a.args)-1].json
	a.add(&e.budget, s, v, args, times)
}

// keep remembers a row of an aggregate that has an order.
func (a *aggregate) keep(e *env, s *tally, v Value, args []Value) error {
	if s.rows == nil {
		s.rows = newSorter(a.order, -1)
	}
	row := make([]Value, len(a.args), len(a.args)+len(a.order))
	copy(row, args[:len(a.args)])
	row[0] = v
	keys := make([]Value, len(a.order))
	for i := range a.order {
		keys[i] = a.order[i].code.eval(e)
	}
	if err := e.hold(append(row, keys...)); err != nil {
		return err
	}
	s.rows.add(keys, row)
	return e.err
}

// resultOf is the result of what was added, in its order.
func (a *aggregate) resultOf(e *env, s *tally) Value {
	if a.order != nil && s.rows != nil {
		in := s.rows
		in.finish()
		s = &tally{}
		for i := range in.rows {
			a.take(e, &s.state, in.rows[i].row[0], in.rows[i].row, 1)
		}
	}
	return a.aggregateKind.result(&e.budget, &s.state)
}
