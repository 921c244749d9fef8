package exec

import (
	"cmp"
	"slices"

	"github.com/placectl/placectl/query/values"
)

// windowRows are the rows kept for their window functions.
type windowRows struct {
	w      *Windows
	p      *Plan
	n      int
	slabs  [][]values.Value // of slabRows rows each: inputs, then everything else about a row
	width  int              // of a row
	eval   []int            // the computed inputs, which come first in a row
	in     []int            // the place of each input in a row
	made   []int            // the numbers of groups' keys and aggregates
	result [][]values.Value // of each function, in the order of the first window, in which results are made
}

// run gathers the rows, computes the functions, and goes on with each row.
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
	var order, places []int // places: where each row is in the order
	for i, spec := range w.Specs {
		sorted, starts := r.sort(spec)
		if i == 0 {
			order = sorted
		} else if places == nil {
			places = make([]int, r.n)
			for place, at := range order {
				places[at] = place
			}
		}
		if err := r.compute(e, spec, sorted, starts, places); err != nil {
			return err
		}
	}
	rows := make([]bufferRow, len(p.Steps))
	for place, at := range order {
		r.restore(e, at, place, rows)
		if err := out(); err != nil {
			return err
		}
	}
	return e.Err
}

// slabRows is the number of rows in one allocation. The first has fewer.
const slabRows = 1024

// row returns a kept row.
func (r *windowRows) row(at int) []values.Value {
	from := at % slabRows * r.width
	return r.slabs[at/slabRows][from : from+r.width]
}

// open begins with the first row, which tells the width. An input that is a column is not stored twice.
func (r *windowRows) open() {
	r.in = make([]int, len(r.w.Inputs))
	columns := make(map[[2]int]int) // by slot and column: the place after the inputs
	r.width = len(r.made)
	if r.p.Group == nil {
		for _, st := range r.p.Steps {
			for i, col := range st.Kept {
				columns[[2]int{st.Src.Slot, col}] = r.width + i
			}
			r.width += len(st.Kept)
		}
	}
	behind := make(map[int]int)
	for i := range r.w.Inputs {
		c := &r.w.Inputs[i]
		if at, ok := columns[[2]int{c.Slot, c.Col}]; ok && c.Column {
			behind[i] = at
			continue
		}
		r.in[i] = len(r.eval)
		r.eval = append(r.eval, i)
	}
	for i, at := range behind {
		r.in[i] = len(r.eval) + at
	}
	r.width += len(r.eval)
}

// input returns an input of a row.
func (r *windowRows) input(at, number int) values.Value { return r.row(at)[r.in[number]] }

// keep keeps the current row.
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
	for _, i := range r.eval {
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
	return e.Hold(row[from:], 0)
}

// restore moves to a kept row, with the results of the functions.
func (r *windowRows) restore(e *Env, at, place int, rows []bufferRow) {
	rest := r.row(at)[len(r.eval):]
	for i, made := range r.made {
		e.Made[made] = rest[i]
	}
	rest = rest[len(r.made):]
	if r.p.Group == nil {
		for i, st := range r.p.Steps {
			rows[i] = bufferRow{rest[:len(st.Kept)], st.Place}
			e.Row[st.Src.Slot] = &rows[i]
			rest = rest[len(st.Kept):]
		}
	}
	for i, call := range r.w.Calls {
		e.Made[call.Made] = r.result[i][place]
	}
}

// placed is a kept row, its number, and the first key of its order.
type placed struct {
	first values.Value
	row   []values.Value
	at    int
}

// sort returns the rows in the order of a window: by partitions, and sorted in each; starts is where
// each partition begins.
func (r *windowRows) sort(spec *WindowSpec) (order, starts []int) {
	order = make([]int, 0, r.n)
	for _, rows := range r.partitions(spec) {
		starts = append(starts, len(order))
		if len(spec.Keys) > 0 {
			slices.SortFunc(rows, func(a, b placed) int {
				if n := spec.Order[0].compare(&a.first, &b.first); n != 0 {
					return n
				}
				return cmp.Or(r.compareOrder(spec, a.row, b.row), a.at-b.at)
			})
		}
		for i := range rows {
			order = append(order, rows[i].at)
		}
	}
	return order, starts
}

// partitions returns the rows of each partition as they came, in the order of the partitions.
func (r *windowRows) partitions(spec *WindowSpec) [][]placed {
	var index values.Index
	var parts [][]placed
	key := make([]values.Value, len(spec.Partition))
	for at := range r.n {
		p := placed{row: r.row(at), at: at}
		for i, in := range spec.Partition {
			key[i] = p.row[r.in[in]]
		}
		if len(spec.Keys) > 0 {
			p.first = p.row[r.in[spec.Keys[0]]]
		}
		n, fresh := index.Put(key, len(parts))
		if fresh {
			parts = append(parts, nil)
		}
		parts[n] = append(parts[n], p)
	}
	slices.SortFunc(parts, func(a, b []placed) int {
		for _, in := range spec.Partition {
			if n := values.Compare(a[0].row[r.in[in]], b[0].row[r.in[in]]); n != 0 {
				return n
			}
		}
		return 0
	})
	return parts
}

func (r *windowRows) compareOrder(spec *WindowSpec, a, b []values.Value) int {
	for i, in := range spec.Keys {
		if n := spec.Order[i].compare(&a[r.in[in]], &b[r.in[in]]); n != 0 {
			return n
		}
	}
	return 0
}

// compute computes all functions of a window, partition by partition. If it is not the first window,
// places says where each row is in the first one's order.
func (r *windowRows) compute(e *Env, spec *WindowSpec, order, starts, places []int) error {
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
	for i, from := range starts {
		to := len(order)
		if i+1 < len(starts) {
			to = starts[i+1]
		}
		part := &partition{r: r, spec: spec, rows: order[from:to]}
		if peers {
			part.group()
		}
		for i, call := range r.w.Calls {
			if call.Spec != spec {
				continue
			}
			if err := part.call(e, call, r.result[i][from:to]); err != nil {
				return err
			}
		}
	}
	for i, call := range r.w.Calls {
		if call.Spec == spec && places != nil {
			moved := make([]values.Value, r.n)
			for at, row := range order {
				moved[places[row]] = r.result[i][at]
			}
			r.result[i] = moved
		}
	}
	return e.Err
}
