package query

import (
	"github.com/RoaringBitmap/roaring/v2"
)

// gather puts all rows into groups: where only the parts of a table matter, without
// looking at rows.
func (p *selectPlan) gather(e *env, gs *groups) error {
	if done, err := p.byParts(e, gs); done || err != nil {
		return err
	}
	return p.scan(e, func() error { return gs.add(e, 1) })
}

// partTable is the table of a plan whose groups can be made of its parts; not ok for
// any other.
func (p *selectPlan) partTable() (st *runStep, cols []int, ok bool) {
	if len(p.steps) != 1 || len(p.group.bares) > 0 || len(p.steps[0].filters) > 0 && !p.counted || p.steps[0].method != scanJoin || p.steps[0].src.table == nil {
		return nil, nil, false
	}
	st = p.steps[0]
	for i, used := range st.src.used {
		if used {
			cols = append(cols, i)
		}
	}
	for _, a := range p.group.aggs {
		if a.distinct || !a.weighs || a.order != nil || len(a.args) > 0 && (!a.args[0].column || a.args[0].affinity == RealAffinity && !a.best && a.name[:5] != "count") {
			return nil, nil, false
		}
	}
	return st, cols, true
}

func (p *selectPlan) byParts(e *env, gs *groups) (done bool, err error) {
	st, cols, ok := p.partTable()
	if !ok {
		return false, nil
	}
	if p.counted {
		return p.countParts(e, gs, st, cols)
	}
	table, indexed := st.src.table.(Indexed)
	counted, knows := st.src.table.(Counted)
	switch {
	case p.noIndex:
		return false, nil
	case len(cols) == 0 && st.rows != nil:
		return true, p.part(e, gs, st, nullRow{}, st.rows.GetCardinality())
	case len(cols) == 0 && knows:
		return true, p.part(e, gs, st, nullRow{}, uint64(counted.Count()))
	case len(cols) == 0 && indexed:
		return true, p.part(e, gs, st, nullRow{}, table.All().GetCardinality())
	case !indexed:
		return false, nil
	}
	parts, ok := table.Split(cols)
	if !ok {
		return false, nil
	}
	for row, rows := range parts {
		if err := p.part(e, gs, st, row, within(rows, st.rows)); err != nil {
			return true, err
		}
	}
	return gs.orderless(), nil
}

// orderless reports whether the sums are the same in whatever order they are made. If
// not, one may overflow in the order of the rows, and they are made anew.
func (gs *groups) orderless() bool {
	for _, s := range gs.states {
		if s.size >= 1<<62 {
			*gs = *newGroups(gs.g)
			return false
		}
	}
	return true
}

func within(rows, only *roaring.Bitmap) uint64 {
	if only == nil {
		return rows.GetCardinality()
	}
	return rows.AndCardinality(only)
}

// part adds the rows of a part.
func (p *selectPlan) part(e *env, gs *groups, st *runStep, row Row, n uint64) error {
	if n == 0 {
		return nil
	}
	e.row[st.src.slot] = row
	for _, test := range p.once {
		if test(e) != yes {
			return e.err
		}
	}
	st.counts.rows += int64(n)
	return gs.add(e, int64(n))
}
