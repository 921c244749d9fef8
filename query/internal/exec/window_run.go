package exec

import (
	"slices"

	"github.com/placectl/placectl/query/values"
)

// windowRows is the rows that wait for their window functions.
type windowRows struct {
	w      *Windows
	p      *Plan
	n      int
	slabs  [][]values.Value // of slabRows rows each: inputs, then what makes a row what it is
	width  int              // of a row
	made   []int            // the numbers of groups' keys and aggregates
	result [][]values.Value // of each function, by row
}

// run gathers the rows, computes the functions and goes on with each row.
func (w *Windows) run(e *Env, p *Plan, out func() error) error {
	r := &windowRows{w: w, p: p}
	if g := p.Group; g != nil {
		for i := range g.Keys {
			r.made = append(r.made, g.Made+i)
		}
		for _, a := range g.Aggs {
			r.made = append(r.made, a.Made)
		}
		for _, a := range g.Bares {
			r.made = append(r.made, a.Made)
		}
	}
	if err := p.produce(e, func() error { return r.keep(e) }); err != nil && err != ErrStop {
		return err
	}
	var order []int
	for i, spec := range w.Specs {
		sorted, starts := r.sort(spec)
		if i == 0 {
			order = sorted
		}
		if err := r.compute(e, spec, sorted, starts); err != nil {
			return err
		}
	}
	places := make([]bufferRow, len(p.Steps))
	for _, at := range order {
		r.restore(e, at, places)
		if err := out(); err != nil {
			return err
		}
	}
	return e.Err
}

// slabRows is how many rows lie beside each other; there are fewer in the first.
const slabRows = 1024

// row is a row that was kept.
func (r *windowRows) row(at int) []values.Value {
	from := at % slabRows * r.width
	return r.slabs[at/slabRows][from : from+r.width]
}

// open begins with the first row, which tells how long they are.
func (r *windowRows) open() {
	r.width = len(r.w.Inputs) + len(r.made)
	if r.p.Group == nil {
		for _, st := range r.p.Steps {
			r.width += len(st.Kept)
		}
	}
}

// keep remembers the row at hand.
func (r *windowRows) keep(e *Env) error {
	if r.n == 0 {
		r.open()
	}
	if r.n%slabRows == 0 {
		most := slabRows
		if r.n == 0 {
			most = 16
		}
		r.slabs = append(r.slabs, make([]values.Value, 0, r.width*most))
	}
	last := &r.slabs[len(r.slabs)-1]
	from := len(*last)
	row := *last
	for i := range r.w.Inputs {
		row = append(row, r.w.Inputs[i].Eval(e))
	}
	for _, at := range r.made {
		row = append(row, e.Made[at])
	}
	if r.p.Group == nil {
		for _, st := range r.p.Steps {
			for _, col := range st.Kept {
				row = append(row, e.Row[st.Src.Slot].Column(col))
			}
		}
	}
	*last = row
	r.n++
	if e.Err != nil {
		return e.Err
	}
	return e.Hold(row[from:])
}

// restore stands on a row that was kept, with the results of the functions.
func (r *windowRows) restore(e *Env, at int, places []bufferRow) {
	rest := r.row(at)[len(r.w.Inputs):]
	for i, made := range r.made {
		e.Made[made] = rest[i]
	}
	rest = rest[len(r.made):]
	if r.p.Group == nil {
		for i, st := range r.p.Steps {
			places[i] = bufferRow{rest[:len(st.Kept)], st.Place}
			e.Row[st.Src.Slot] = &places[i]
			rest = rest[len(st.Kept):]
		}
	}
	for i, call := range r.w.Calls {
		e.Made[call.Made] = r.result[i][at]
	}
}

// sort is the rows in the order of a window: by partitions, and in each in order; starts is
// where each partition begins in it.
func (r *windowRows) sort(spec *WindowSpec) (order, starts []int) {
	if order, starts, ok := r.sortNumbers(spec); ok {
		return order, starts
	}
	order = make([]int, r.n)
	for i := range order {
		order[i] = i
	}
	s := &sorter{keys: spec.Order}
	slices.SortStableFunc(order, func(a, b int) int {
		if n := r.comparePartition(spec, a, b); n != 0 {
			return n
		}
		return r.compareOrder(spec, s, a, b)
	})
	for i := range order {
		if i == 0 || r.comparePartition(spec, order[i-1], order[i]) != 0 {
			starts = append(starts, i)
		}
	}
	return order, starts
}

func (r *windowRows) comparePartition(spec *WindowSpec, a, b int) int {
	for _, i := range spec.Partition {
		if n := values.Compare(r.row(a)[i], r.row(b)[i], r.w.Inputs[i].Collate); n != 0 {
			return n
		}
	}
	return 0
}

func (r *windowRows) compareOrder(spec *WindowSpec, s *sorter, a, b int) int {
	for i, in := range spec.Keys {
		one := sorter{keys: s.keys[i : i+1]}
		if n := one.compareKeys(r.row(a)[in:in+1], r.row(b)[in:in+1]); n != 0 {
			return n
		}
	}
	return 0
}

// compute computes all functions of a window, partition by partition.
func (r *windowRows) compute(e *Env, spec *WindowSpec, order, starts []int) error {
	if r.result == nil {
		r.result = make([][]values.Value, len(r.w.Calls))
	}
	peers := false
	for i, call := range r.w.Calls {
		if call.Spec == spec {
			r.result[i] = make([]values.Value, r.n)
			peers = peers || call.Agg != nil || !call.Kind.alone
		}
	}
	s := &sorter{keys: spec.Order}
	for i, from := range starts {
		to := len(order)
		if i+1 < len(starts) {
			to = starts[i+1]
		}
		part := &partition{r: r, spec: spec, rows: order[from:to]}
		if peers {
			part.group(s)
		}
		for i, call := range r.w.Calls {
			if call.Spec != spec {
				continue
			}
			if err := part.call(e, call, r.result[i]); err != nil {
				return err
			}
		}
	}
	return e.Err
}
