package query

import (
	"slices"
)

// windowRows is the rows that wait for their window functions.
type windowRows struct {
	w      *runWindows
	p      *selectPlan
	rows   [][]Value // of each: inputs, then what makes it what it is
	made   []int     // the numbers of groups' keys and aggregates
	result [][]Value // of each function, by row
}

// run gathers the rows, computes the functions and goes on with each row.
func (w *runWindows) run(e *env, p *selectPlan, out func() error) error {
	r := &windowRows{w: w, p: p}
	if g := p.group; g != nil {
		for i := range g.keys {
			r.made = append(r.made, g.made+i)
		}
		for _, a := range g.aggs {
			r.made = append(r.made, a.made)
		}
		for _, a := range g.bares {
			r.made = append(r.made, a.made)
		}
	}
	if err := p.produce(e, func() error { return r.keep(e) }); err != nil && err != errStop {
		return err
	}
	var order []int
	for i, spec := range w.specs {
		sorted := r.sort(spec)
		if i == 0 {
			order = sorted
		}
		if err := r.compute(e, spec, sorted); err != nil {
			return err
		}
	}
	places := make([]bufferRow, len(p.steps))
	for _, at := range order {
		r.restore(e, at, places)
		if err := out(); err != nil {
			return err
		}
	}
	return e.err
}

// keep remembers the row at hand.
func (r *windowRows) keep(e *env) error {
	row := make([]Value, 0, len(r.w.inputs)+len(r.made)+8)
	for i := range r.w.inputs {
		row = append(row, r.w.inputs[i].eval(e))
	}
	for _, at := range r.made {
		row = append(row, e.made[at])
	}
	if r.p.group == nil {
		for _, st := range r.p.steps {
			for _, col := range st.kept {
				row = append(row, e.row[st.src.slot].Column(col))
			}
		}
	}
	r.rows = append(r.rows, row)
	if e.err != nil {
		return e.err
	}
	return e.hold(row)
}

// restore stands on a row that was kept, with the results of the functions.
func (r *windowRows) restore(e *env, at int, places []bufferRow) {
	rest := r.rows[at][len(r.w.inputs):]
	for i, made := range r.made {
		e.made[made] = rest[i]
	}
	rest = rest[len(r.made):]
	if r.p.group == nil {
		for i, st := range r.p.steps {
			places[i] = bufferRow{rest[:len(st.kept)], st.place}
			e.row[st.src.slot] = &places[i]
			rest = rest[len(st.kept):]
		}
	}
	for i, call := range r.w.calls {
		e.made[call.made] = r.result[i][at]
	}
}

// sort is the rows in the order of a window: by partitions, and in each in order.
func (r *windowRows) sort(spec *windowSpec) []int {
	order := make([]int, len(r.rows))
	for i := range order {
		order[i] = i
	}
	s := &sorter{keys: spec.order}
	slices.SortStableFunc(order, func(a, b int) int {
		if n := r.comparePartition(spec, a, b); n != 0 {
			return n
		}
		return r.compareOrder(spec, s, a, b)
	})
	return order
}

func (r *windowRows) comparePartition(spec *windowSpec, a, b int) int {
	for _, i := range spec.partition {
		if n := compareValues(r.rows[a][i], r.rows[b][i], ByBytes); n != 0 {
			return n
		}
	}
	return 0
}

func (r *windowRows) compareOrder(spec *windowSpec, s *sorter, a, b int) int {
	for i, in := range spec.keys {
		one := sorter{keys: s.keys[i : i+1]}
		if n := one.compareKeys(r.rows[a][in:in+1], r.rows[b][in:in+1]); n != 0 {
			return n
		}
	}
	return 0
}

// compute computes all functions of a window, partition by partition.
func (r *windowRows) compute(e *env, spec *windowSpec, order []int) error {
	if r.result == nil {
		r.result = make([][]Value, len(r.w.calls))
	}
	for i, call := range r.w.calls {
		if call.spec == spec {
			r.result[i] = make([]Value, len(r.rows))
		}
	}
	s := &sorter{keys: spec.order}
	for from := 0; from < len(order); {
		to := from + 1
		for to < len(order) && r.comparePartition(spec, order[from], order[to]) == 0 {
			to++
		}
		part := &partition{r: r, spec: spec, rows: order[from:to]}
		part.group(s)
		for i, call := range r.w.calls {
			if call.spec != spec {
				continue
			}
			if err := part.call(e, call, r.result[i]); err != nil {
				return err
			}
		}
		from = to
	}
	return e.err
}
