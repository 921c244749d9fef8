package exec

import (
	"slices"

	"github.com/placectl/placectl/query/values"
)

// windowRows is the rows that wait for their window functions.
type windowRows struct {
	w      *Windows
	p      *Plan
	rows   [][]values.Value // of each: inputs, then what makes it what it is
	made   []int            // the numbers of groups' keys and aggregates
	result [][]values.Value // of each function, by row
	width  int              // of a row
	slab   []values.Value   // room for rows to come
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
		sorted := r.sort(spec)
		if i == 0 {
			order = sorted
		}
		if err := r.compute(e, spec, sorted); err != nil {
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

// slabRows is how many rows are given room at once.
const slabRows = 256

// room is an empty row, as long as it is going to be.
func (r *windowRows) room() []values.Value {
	if r.width == 0 {
		r.width = len(r.w.Inputs) + len(r.made) + 1
		for _, st := range r.p.Steps {
			r.width += len(st.Kept)
		}
	}
	if len(r.slab) == 0 {
		r.slab = make([]values.Value, r.width*min(slabRows, 8+len(r.rows)))
	}
	row := r.slab[:0:r.width]
	r.slab = r.slab[r.width:]
	return row
}

// keep remembers the row at hand.
func (r *windowRows) keep(e *Env) error {
	row := r.room()
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
	r.rows = append(r.rows, row)
	if e.Err != nil {
		return e.Err
	}
	return e.Hold(row)
}

// restore stands on a row that was kept, with the results of the functions.
func (r *windowRows) restore(e *Env, at int, places []bufferRow) {
	rest := r.rows[at][len(r.w.Inputs):]
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

// sort is the rows in the order of a window: by partitions, and in each in order.
func (r *windowRows) sort(spec *WindowSpec) []int {
	if order, ok := r.sortNumbers(spec); ok {
		return order
	}
	order := make([]int, len(r.rows))
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
	return order
}

func (r *windowRows) comparePartition(spec *WindowSpec, a, b int) int {
	for _, i := range spec.Partition {
		if n := values.Compare(r.rows[a][i], r.rows[b][i], r.w.Inputs[i].Collate); n != 0 {
			return n
		}
	}
	return 0
}

func (r *windowRows) compareOrder(spec *WindowSpec, s *sorter, a, b int) int {
	for i, in := range spec.Keys {
		one := sorter{keys: s.keys[i : i+1]}
		if n := one.compareKeys(r.rows[a][in:in+1], r.rows[b][in:in+1]); n != 0 {
			return n
		}
	}
	return 0
}

// compute computes all functions of a window, partition by partition.
func (r *windowRows) compute(e *Env, spec *WindowSpec, order []int) error {
	if r.result == nil {
		r.result = make([][]values.Value, len(r.w.Calls))
	}
	for i, call := range r.w.Calls {
		if call.Spec == spec {
			r.result[i] = make([]values.Value, len(r.rows))
		}
	}
	s := &sorter{keys: spec.Order}
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && r.comparePartition(spec, order[from], order[to]) == 0 {
			to++
		}
		part := &partition{r: r, spec: spec, rows: order[from:to]}
		part.group(s)
		for i, call := range r.w.Calls {
			if call.Spec != spec {
				continue
			}
			if err := part.call(e, call, r.result[i]); err != nil {
				return err
			}
		}
		from = to
	}
	return e.Err
}
