package query

// A view, or a subquery in FROM, that only names some columns of one table and takes some
// of its rows as a set is read as that table, so that conditions on it become sets of
// rows, too, and its rows are not made anew. Others are run, and their results read.

// tableOf is the table that a plan is a part of, false for one that has to be run.
func tableOf(p *selectPlan) (Table, bool) {
	if len(p.steps) != 1 || p.group != nil || p.windows != nil || p.distinct || p.limited || len(p.order) > 0 || len(p.once)+len(p.final) > 0 || p.outer != 0 || p.noIndex {
		return nil, false
	}
	st := p.steps[0]
	if st.src.table == nil || st.method != scanJoin || st.span != nil || len(st.filters)+len(st.on)+len(st.after)+len(st.asked) > 0 {
		return nil, false
	}
	part := partTable{table: st.src.table, rows: st.rows}
	names := map[string]bool{}
	for i := range p.out {
		c := &p.out[i]
		name := lowerASCII(p.columns[i].Name)
		if !c.column || c.collated || c.slot != st.src.slot || names[name] {
			return nil, false
		}
		names[name] = true
		col := st.src.columns[c.col]
		col.Name = p.columns[i].Name
		part.columns, part.of = append(part.columns, col), append(part.of, c.col)
	}
	if indexed, ok := st.src.table.(Indexed); ok {
		return &indexedPart{part, indexed}, true
	}
	return &part, part.rows == nil
}

// flatten reads a source's query as a table where it is one.
func (s *scope) flatten(src *source) bool {
	p, ok := src.sub.(*selectPlan)
	if !ok {
		return false
	}
	table, ok := tableOf(p)
	if !ok {
		return false
	}
	src.sub, src.table, src.columns = nil, table, table.Columns()
	return true
}
