package query

// countParts puts the parts of a table into groups by their sizes alone.
func (p *selectPlan) countParts(e *env, gs *groups, st *runStep, cols []int) (done bool, err error) {
	table, ok := st.src.table.(Countable)
	if !ok {
		return false, nil
	}
	parts, ok := table.Parts(cols)
	if !ok {
		return false, nil
	}
	for row, size := range parts {
		e.row[st.src.slot] = row
		if !all(st.filters, e) {
			if e.err != nil {
				return true, e.err
			}
			continue
		}
		if err := p.part(e, gs, st, row, size()); err != nil {
			return true, err
		}
	}
	return gs.orderless(), nil
}

// sizeOfParts counts the rows of the parts for which conditions hold, for EXPLAIN.
func (st *runStep) sizeOfParts(filters []func(*env) truth) uint64 {
	var cols []int
	for i, used := range st.src.used {
		if used {
			cols = append(cols, i)
		}
	}
	parts, ok := st.src.table.(Countable).Parts(cols)
	if !ok {
		return 0
	}
	e := &env{budget: budget{limits: DefaultLimits}, row: make([]Row, maxSlots)}
	sum := uint64(0)
	for row, size := range parts {
		if e.row[st.src.slot] = row; all(filters, e) {
			sum += size()
		}
	}
	return sum
}

// explainParts says of each condition how many rows it leaves.
func (st *runStep) explainParts() {
	st.notes = st.notes[:0]
	for i, x := range st.asked {
		st.notes = append(st.notes, x+": "+rowsText(st.sizeOfParts(st.filters[i:i+1])))
	}
}
