package query

import (
	"errors"
)

// errStop ends a run early, without fault.
var errStop = errors.New("enough")

// run goes through the rows of a plan. What emit is given lasts until it returns.
func (p *selectPlan) run(e *env, emit func(row []Value) error) error {
	limit, offset, err := p.bounds(e)
	if err != nil || limit == 0 {
		return err
	}
	if limit > 0 || offset > 0 {
		emit = bounded(emit, limit, offset)
	}
	var sort *sorter
	if len(p.order) > 0 {
		most := -1
		if limit > 0 && limit+offset < 1<<20 && !p.distinct {
			most = int(limit + offset)
		}
		sort = newSorter(p.order, most)
	}
	row := make([]Value, len(p.out))
	out := p.output(e, row, sort, emit)
	if p.windows != nil {
		err = p.windows.run(e, p, out)
	} else {
		err = p.produce(e, out)
	}
	if sort != nil && (err == nil || err == errStop) {
		sort.finish()
		err = nil
		for i := range sort.rows {
			if err = emit(sort.rows[i].row); err != nil {
				break
			}
		}
	}
	if err == errStop {
		err = nil
	}
	if err == nil {
		err = e.err
	}
	return err
}

// produce goes through the rows, or groups, of which results are made.
func (p *selectPlan) produce(e *env, out func() error) error {
	if p.group == nil {
		return p.scan(e, out)
	}
	gs := newGroups(p.group)
	if err := p.gather(e, gs); err != nil && err != errStop {
		return err
	}
	return gs.each(e, func() error {
		if p.having != nil && p.having(e) != yes {
			return e.err
		}
		return out()
	})
}

// bounds are LIMIT, -1 for none, and OFFSET.
func (p *selectPlan) bounds(e *env) (limit, offset int64, err error) {
	if !p.limited {
		return -1, 0, nil
	}
	if limit, err = p.limit.count(e, p.limitAt); err != nil {
		return 0, 0, err
	}
	if offset, err = p.offset.count(e, p.offsetAt); err != nil {
		return 0, 0, err
	}
	return max(limit, -1), max(offset, 0), nil
}

// bounded passes on what lies between OFFSET and LIMIT.
func bounded(emit func([]Value) error, limit, offset int64) func([]Value) error {
	return func(row []Value) error {
		if offset > 0 {
			offset--
			return nil
		}
		if limit == 0 {
			return errStop
		}
		if err := emit(row); err != nil {
			return err
		}
		if limit > 0 {
			limit--
		}
		if limit == 0 {
			return errStop
		}
		return nil
	}
}

// output makes a result row of where the sources stand, and passes it on.
func (p *selectPlan) output(e *env, row []Value, sort *sorter, emit func([]Value) error) func() error {
	fill := func() error {
		for i := range p.out {
			row[i] = p.out[i].eval(e)
		}
		return e.err
	}
	pass := func() error { return emit(row) }
	if sort != nil {
		pass = func() error { return p.sort(e, row, sort) }
		if sort.limit >= 0 {
			return p.sortFew(e, row, sort, fill)
		}
	}
	if !p.distinct {
		return func() error {
			if err := fill(); err != nil {
				return err
			}
			return pass()
		}
	}
	var seen hashIndex
	return func() error {
		if err := fill(); err != nil {
			return err
		}
		if _, fresh := seen.put(row, 0); !fresh {
			return nil
		}
		if err := e.hold(row); err != nil {
			return err
		}
		return pass()
	}
}

// sort keeps a row to be sorted.
func (p *selectPlan) sort(e *env, row []Value, s *sorter) error {
	all := make([]Value, len(row)+len(p.order))
	copy(all, row)
	keys := all[len(row):]
	p.keys(e, row, keys)
	if err := e.hold(all); err != nil {
		return err
	}
	s.add(keys, all[:len(row):len(row)])
	return e.err
}

// keys makes the keys of ORDER BY; row nil makes those of result columns anew.
func (p *selectPlan) keys(e *env, row, keys []Value) {
	for i := range p.order {
		switch k := &p.order[i]; {
		case k.column < 0:
			keys[i] = k.code.eval(e)
		case row != nil:
			keys[i] = row[k.column]
		default:
			keys[i] = p.out[k.column].eval(e)
		}
	}
}

// sortFew is for ORDER BY with a LIMIT: a row that does not come in among the first is
// not made at all.
func (p *selectPlan) sortFew(e *env, row []Value, s *sorter, fill func() error) func() error {
	scratch := make([]Value, len(p.order))
	return func() error {
		p.keys(e, nil, scratch)
		if e.err != nil || !s.wants(scratch) {
			return e.err
		}
		if err := fill(); err != nil {
			return err
		}
		all := append(append(make([]Value, 0, len(row)+len(scratch)), row...), scratch...)
		if s.room() {
			if err := e.hold(all); err != nil {
				return err
			}
		}
		s.add(all[len(row):], all[:len(row):len(row)])
		return nil
	}
}

// count is a LIMIT or OFFSET.
func (c *code) count(e *env, at int) (int64, error) {
	v := NumericAffinity.apply(c.eval(e))
	if v.kind == Real {
		if n, ok := wholeFloat(v.Float64()); ok {
			v = Int(n)
		}
	}
	if v.kind != Integer {
		return 0, &Error{"", at, "LIMIT and OFFSET take whole numbers"}
	}
	return v.Int64(), e.err
}
