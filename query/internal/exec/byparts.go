package exec

import (
	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// gather groups all rows. If only the parts of a table matter, it reads no rows.
func (p *Plan) gather(e *Env, gs *groups) error {
	if done, err := p.byParts(e, gs); done || err != nil {
		return err
	}
	return p.scan(e, func() error { return gs.add(e, 1) })
}

// partTable returns the table of a plan whose groups can be made from its parts; ok is false for other plans.
func (p *Plan) partTable() (st *Step, cols []int, ok bool) {
	if len(p.Steps) != 1 || len(p.Group.Bares) > 0 || len(p.Steps[0].Filters) > 0 ||
		p.Steps[0].Method != ScanJoin || p.Steps[0].Src.Table == nil {
		return nil, nil, false
	}
	st = p.Steps[0]
	for i, used := range st.Src.Used {
		if used {
			cols = append(cols, i)
		}
	}
	for _, a := range p.Group.Aggs {
		if a.Distinct || !a.Weighs || a.Order != nil || len(a.Args) > 0 && (!a.Args[0].Column ||
			a.Args[0].Affinity == values.RealAffinity && !a.Best && a.Name[:5] != "count") {
			return nil, nil, false
		}
	}
	return st, cols, true
}

func (p *Plan) byParts(e *Env, gs *groups) (done bool, err error) {
	st, cols, ok := p.partTable()
	if !ok {
		return false, nil
	}
	table, indexed := st.Src.Table.(tables.Indexed)
	counted, knows := st.Src.Table.(tables.Counted)
	switch {
	case p.NoIndex:
		return false, nil
	case len(cols) == 0 && st.Rows != nil:
		return true, p.part(e, gs, st, tables.NullRow{}, st.Rows.GetCardinality())
	case len(cols) == 0 && knows:
		return true, p.part(e, gs, st, tables.NullRow{}, uint64(counted.Count()))
	case len(cols) == 0 && indexed:
		return true, p.part(e, gs, st, tables.NullRow{}, table.All().GetCardinality())
	case !indexed:
		return false, nil
	}
	parts, ok := table.Split(cols)
	if !ok {
		return false, nil
	}
	for row, rows := range parts {
		if err := p.part(e, gs, st, row, within(rows, st.Rows)); err != nil {
			return true, err
		}
	}
	return gs.orderless(), nil
}

// orderless reports whether the sums do not depend on the order of rows. If they do, one may overflow in
// the rows' order, and they are computed again.
func (gs *groups) orderless() bool {
	for _, s := range gs.states {
		if s.Size >= 1<<62 {
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
func (p *Plan) part(e *Env, gs *groups, st *Step, row tables.Row, n uint64) error {
	if n == 0 {
		return nil
	}
	e.Row[st.Src.Slot] = row
	for _, test := range p.Once {
		if test(e) != values.Yes {
			return e.Err
		}
	}
	st.counts.Rows += int64(n)
	return gs.add(e, int64(n))
}
