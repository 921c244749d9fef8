package query

import (
	"github.com/placectl/placectl/index/heap"
)

// shared reads the rows of a query of WITH: as they come where that is done once, and
// otherwise out of memory.
type shared struct {
	name    string
	plan    producer
	columns []Column
	refs    int // how often it is named
	of      *env
	rows    [][]Value // of a run in which they are read again
	kept    bool
}

func (t *shared) shape() ([]Column, slots) {
	_, outer := t.plan.shape()
	return t.columns, outer
}

func (t *shared) steady() bool { return t.plan.steady() }

func (t *shared) run(e *env, emit func([]Value) error) error {
	if t.of != e {
		t.of, t.rows, t.kept = e, nil, false
		if t.refs == 1 {
			return t.plan.run(e, emit)
		}
	}
	if !t.kept || !t.steady() {
		t.rows, t.kept = nil, true
		err := t.plan.run(e, func(row []Value) error {
			t.rows = append(t.rows, append([]Value(nil), row...))
			return e.hold(row)
		})
		if err != nil {
			return err
		}
	}
	for _, row := range t.rows {
		if err := e.step(); err != nil {
			return err
		}
		if err := emit(row); err != nil {
			return pastStop(err)
		}
	}
	return e.err
}

// self is the row at hand of a recursive query.
type self struct {
	columns []Column
	row     []Value
}

func (s *self) shape() ([]Column, slots)                   { return s.columns, 0 }
func (s *self) steady() bool                               { return false }
func (s *self) run(_ *env, emit func([]Value) error) error { return pastStop(emit(s.row)) }

// recursive is a query that is run again for each of its own rows, one after the other,
// until no new ones come.
type recursive struct {
	first    producer
	arms     []*selfed
	distinct bool
	order    []orderKey
	limited  *selectPlan // whose limits these are
	columns  []Column
	outer    slots
}

func (r *recursive) shape() ([]Column, slots) { return r.columns, r.outer }

func (r *recursive) steady() bool { return r.outer == 0 && r.first.steady() }

// selfed is an arm with the row that it reads.
type selfed struct {
	*selectPlan
	self *self
}

func (r *recursive) run(e *env, emit func([]Value) error) error {
	limit, offset, err := r.limited.bounds(e)
	if err != nil || limit == 0 {
		return err
	}
	if limit > 0 || offset > 0 {
		emit = bounded(emit, limit, offset)
	}
	sort := newSorter(r.order, -1)
	queue := heap.New(func(a, b *sorted) bool { return sort.compare(a, b) < 0 })
	var seen hashIndex
	seq := 0
	add := func(row []Value) error {
		if r.distinct {
			if _, fresh := seen.put(row, 0); !fresh {
				return nil
			}
		}
		seq++
		kept := append([]Value(nil), row...)
		keys := make([]Value, len(r.order))
		for i := range r.order {
			keys[i] = kept[r.order[i].column]
		}
		queue.Push(sorted{keys, kept, seq})
		return e.hold(row)
	}
	if err := r.first.run(e, add); err != nil {
		return err
	}
	for queue.Len() > 0 {
		next := queue.Pop()
		if err := e.step(); err != nil {
			return err
		}
		if err := emit(next.row); err != nil {
			return pastStop(err)
		}
		for _, arm := range r.arms {
			arm.self.row = next.row
			if err := arm.run(e, add); err != nil {
				return err
			}
		}
	}
	return e.err
}
