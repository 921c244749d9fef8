package exec

import (
	"github.com/placectl/placectl/query/internal/functions"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// countParts groups the parts of a table by their sizes alone.
func (p *Plan) countParts(e *Env, gs *groups, st *Step, cols []int) (done bool, err error) {
	table, ok := st.Src.Table.(tables.Countable)
	if !ok {
		return false, nil
	}
	parts, ok := table.Parts(cols)
	if !ok {
		return false, nil
	}
	for row, size := range parts {
		e.Row[st.Src.Slot] = row
		if !all(st.Filters, e) {
			if e.Err != nil {
				return true, e.Err
			}
			continue
		}
		if err := p.part(e, gs, st, row, size()); err != nil {
			return true, err
		}
	}
	return gs.orderless(), nil
}

// sizeOfParts counts the rows of the parts that satisfy conditions, for EXPLAIN.
func (st *Step) sizeOfParts(filters []func(*Env) values.Truth) uint64 {
	var cols []int
	for i, used := range st.Src.Used {
		if used {
			cols = append(cols, i)
		}
	}
	parts, ok := st.Src.Table.(tables.Countable).Parts(cols)
	if !ok {
		return 0
	}
	e := &Env{Budget: functions.Budget{Limits: functions.DefaultLimits}, Row: make([]tables.Row, MaxSlots)}
	sum := uint64(0)
	for row, size := range parts {
		if e.Row[st.Src.Slot] = row; all(filters, e) {
			sum += size()
		}
	}
	return sum
}

// explainParts records how many rows each condition leaves.
func (st *Step) explainParts() {
	st.Notes = st.Notes[:0]
	for i, x := range st.Asked {
		st.Notes = append(st.Notes, x+": "+RowsText(st.sizeOfParts(st.Filters[i:i+1])))
	}
}
