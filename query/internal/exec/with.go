package exec

import (
	"github.com/placectl/placectl/index/heap"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// Shared reads the rows of a query of WITH: directly if they are read once, and otherwise from memory.
type Shared struct {
	Name    string
	Plan    Producer
	Columns []tables.Column
	Refs    int // how often it is used
	of      *Env
	rows    [][]values.Value // in a run that reads them again
	kept    bool
}

func (t *Shared) Shape() ([]tables.Column, Slots) {
	_, outer := t.Plan.Shape()
	return t.Columns, outer
}

func (t *Shared) Steady() bool { return t.Plan.Steady() }

func (t *Shared) Run(e *Env, emit func([]values.Value) error) error {
	if t.of != e {
		t.of, t.rows, t.kept = e, nil, false
		if t.Refs == 1 {
			return t.Plan.Run(e, emit)
		}
	}
	if !t.kept || !t.Steady() {
		t.rows, t.kept = nil, true
		err := t.Plan.Run(e, func(row []values.Value) error {
			t.rows = append(t.rows, append([]values.Value(nil), row...))
			return e.Hold(row, 0)
		})
		if err != nil {
			return err
		}
	}
	for _, row := range t.rows {
		if err := e.Step(); err != nil {
			return err
		}
		if err := emit(row); err != nil {
			return pastStop(err)
		}
	}
	return e.Err
}

// Self is the current row of a recursive query.
type Self struct {
	Columns []tables.Column
	row     []values.Value
}

func (s *Self) Shape() ([]tables.Column, Slots)                   { return s.Columns, 0 }
func (s *Self) Steady() bool                                      { return false }
func (s *Self) Run(_ *Env, emit func([]values.Value) error) error { return pastStop(emit(s.row)) }

// Recursive is a query that runs again for each of its own rows, one after the other, until there are no
// new ones.
type Recursive struct {
	First    Producer
	Arms     []*Arm
	Distinct bool
	Order    []OrderKey
	Limited  *Plan // the plan with its limits
	Columns  []tables.Column
	Outer    Slots
}

func (r *Recursive) Shape() ([]tables.Column, Slots) { return r.Columns, r.Outer }

func (r *Recursive) Steady() bool { return r.Outer == 0 && r.First.Steady() }

// Arm is an arm with the row that it reads.
type Arm struct {
	*Plan
	Self *Self
}

func (r *Recursive) Run(e *Env, emit func([]values.Value) error) error {
	limit, offset, err := r.Limited.bounds(e)
	if err != nil || limit == 0 {
		return err
	}
	if limit > 0 || offset > 0 {
		emit = bounded(emit, limit, offset)
	}
	sort := newSorter(r.Order, -1)
	queue := heap.New(func(a, b *sorted) bool { return sort.compare(a, b) < 0 })
	var seen values.Index
	seq := 0
	add := func(row []values.Value) error {
		if r.Distinct {
			if _, fresh := seen.Put(row, 0); !fresh {
				return nil
			}
		}
		seq++
		kept := append([]values.Value(nil), row...)
		keys := make([]values.Value, len(r.Order))
		for i := range r.Order {
			keys[i] = kept[r.Order[i].Column]
		}
		queue.Push(sorted{keys, kept, seq})
		return e.Hold(row, 0)
	}
	if err := r.First.Run(e, add); err != nil {
		return err
	}
	for queue.Len() > 0 {
		next := queue.Pop()
		if err := e.Step(); err != nil {
			return err
		}
		if err := emit(next.row); err != nil {
			return pastStop(err)
		}
		for _, arm := range r.Arms {
			arm.Self.row = next.row
			if err := arm.Run(e, add); err != nil {
				return err
			}
		}
	}
	return e.Err
}
