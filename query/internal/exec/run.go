package exec

import (
	"errors"

	"github.com/placectl/placectl/query/fault"
	"github.com/placectl/placectl/query/internal/functions"
	"github.com/placectl/placectl/query/values"
)

// ErrStop ends a run early without an error.
var ErrStop = errors.New("enough")

// Run goes through the rows of a plan. The row given to emit is valid until emit returns.
func (p *Plan) Run(e *Env, emit func(row []values.Value) error) error {
	limit, offset, err := p.bounds(e)
	if err != nil || limit == 0 {
		return err
	}
	if limit > 0 || offset > 0 {
		emit = bounded(emit, limit, offset)
	}
	var sort *sorter
	if len(p.Order) > 0 {
		most := -1
		if limit > 0 && limit+offset < 1<<20 && !p.Distinct {
			most = int(limit + offset)
		}
		sort = newSorter(p.Order, most)
	}
	row := make([]values.Value, len(p.Out))
	out := p.output(e, row, sort, emit)
	if p.Windows != nil {
		err = p.Windows.run(e, p, out)
	} else {
		err = p.produce(e, out)
	}
	if sort != nil && (err == nil || err == ErrStop) {
		sort.finish()
		err = nil
		for i := range sort.rows {
			if err = emit(sort.rows[i].row); err != nil {
				break
			}
		}
	}
	if err == ErrStop {
		err = nil
	}
	if err == nil {
		err = e.Err
	}
	return err
}

// produce goes through the rows, or groups, from which results are made.
func (p *Plan) produce(e *Env, out func() error) error {
	if p.Group == nil {
		return p.scan(e, out)
	}
	gs := newGroups(p.Group)
	if err := p.gather(e, gs); err != nil && err != ErrStop {
		return err
	}
	return gs.each(e, func() error {
		if p.Having != nil && p.Having(e) != values.Yes {
			return e.Err
		}
		return out()
	})
}

// bounds returns LIMIT, -1 for none, and OFFSET.
func (p *Plan) bounds(e *Env) (limit, offset int64, err error) {
	if !p.Limited {
		return -1, 0, nil
	}
	if limit, err = p.Limit.count(e, p.LimitAt); err != nil {
		return 0, 0, err
	}
	if offset, err = p.Offset.count(e, p.OffsetAt); err != nil {
		return 0, 0, err
	}
	return max(limit, -1), max(offset, 0), nil
}

// bounded passes on the rows between OFFSET and LIMIT.
func bounded(emit func([]values.Value) error, limit, offset int64) func([]values.Value) error {
	return func(row []values.Value) error {
		if offset > 0 {
			offset--
			return nil
		}
		if limit == 0 {
			return ErrStop
		}
		if err := emit(row); err != nil {
			return err
		}
		if limit > 0 {
			limit--
		}
		if limit == 0 {
			return ErrStop
		}
		return nil
	}
}

// output makes a result row from the current rows, and passes it on.
func (p *Plan) output(e *Env, row []values.Value, sort *sorter, emit func([]values.Value) error) func() error {
	fill := func() error {
		for i := range p.Out {
			row[i] = p.Out[i].Eval(e)
		}
		return e.Err
	}
	pass := func() error { return emit(row) }
	if sort != nil {
		pass = func() error { return p.sort(e, row, sort) }
		if sort.limit >= 0 {
			return p.sortFew(e, row, sort, fill)
		}
	}
	if !p.Distinct {
		return func() error {
			if err := fill(); err != nil {
				return err
			}
			return pass()
		}
	}
	var seen values.Index
	return func() error {
		if err := fill(); err != nil {
			return err
		}
		if _, fresh := seen.Put(row, 0); !fresh {
			return nil
		}
		if err := e.Hold(row, 0); err != nil {
			return err
		}
		return pass()
	}
}

// sort keeps a row for sorting.
func (p *Plan) sort(e *Env, row []values.Value, s *sorter) error {
	all := make([]values.Value, len(row)+len(p.Order))
	copy(all, row)
	keys := all[len(row):]
	p.keys(e, row, keys)
	if err := e.Hold(all, functions.HeldSort); err != nil {
		return err
	}
	s.add(keys, all[:len(row):len(row)])
	return e.Err
}

// keys computes the keys of ORDER BY. If row is nil it computes those of result columns again.
func (p *Plan) keys(e *Env, row, keys []values.Value) {
	for i := range p.Order {
		switch k := &p.Order[i]; {
		case k.Column < 0:
			keys[i] = k.Code.Eval(e)
		case row != nil:
			keys[i] = row[k.Column]
		default:
			keys[i] = p.Out[k.Column].Eval(e)
		}
	}
}

// sortFew is for ORDER BY with a LIMIT: it does not compute rows that will not be among the
// first.
func (p *Plan) sortFew(e *Env, row []values.Value, s *sorter, fill func() error) func() error {
	scratch := make([]values.Value, len(p.Order))
	return func() error {
		p.keys(e, nil, scratch)
		if e.Err != nil || !s.wants(scratch) {
			return e.Err
		}
		if err := fill(); err != nil {
			return err
		}
		all := append(append(make([]values.Value, 0, len(row)+len(scratch)), row...), scratch...)
		if s.room() {
			if err := e.Hold(all, functions.HeldSort); err != nil {
				return err
			}
		}
		s.add(all[len(row):], all[:len(row):len(row)])
		return nil
	}
}

// count evaluates a LIMIT or OFFSET.
func (c *Code) count(e *Env, at int) (int64, error) {
	v := values.NumericAffinity.Apply(c.Eval(e))
	if v.Kind() == values.Real {
		if n, ok := values.WholeFloat(v.Float64()); ok {
			v = values.Int(n)
		}
	}
	if v.Kind() != values.Integer {
		return 0, &fault.Error{Text: "", Offset: at, Msg: "LIMIT and OFFSET take whole numbers"}
	}
	return v.Int64(), e.Err
}
