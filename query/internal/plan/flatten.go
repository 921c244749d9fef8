package plan

import (
	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// A view or a subquery in FROM may only rename columns of one table and select rows by a set. Then it is
// read as that table: conditions on it become sets of rows, too, and its rows are not copied. Other
// queries run, and their results are read.

// tableOf returns the table that a plan is part of; false if the plan has to run.
func tableOf(p *exec.Plan) (tables.Table, bool) {
	if len(p.Steps) != 1 || p.Group != nil || p.Windows != nil || p.Distinct || p.Limited || len(p.Order) > 0 ||
		len(p.Once) > 0 || p.Outer != 0 || p.NoIndex {
		return nil, false
	}
	st := p.Steps[0]
	if st.Src.Table == nil || st.Method != exec.ScanJoin || st.Span != nil ||
		len(st.Filters)+len(st.On)+len(st.After) > 0 {
		return nil, false
	}
	part := partTable{table: st.Src.Table, rows: st.Rows}
	names := map[string]bool{}
	for i := range p.Out {
		c := &p.Out[i]
		name := values.Lower(p.Columns[i].Name)
		if !c.Column || c.Slot != st.Src.Slot || names[name] {
			return nil, false
		}
		names[name] = true
		col := st.Src.Columns[c.Col]
		col.Name = p.Columns[i].Name
		part.columns, part.of = append(part.columns, col), append(part.of, c.Col)
	}
	if indexed, ok := st.Src.Table.(tables.Indexed); ok {
		return &indexedPart{part, indexed}, true
	}
	return &part, part.rows == nil
}

// flatten reads a source's query as a table if possible.
func (s *scope) flatten(src *source) bool {
	p, ok := src.Sub.(*exec.Plan)
	if !ok {
		return false
	}
	table, ok := tableOf(p)
	if !ok {
		return false
	}
	src.Sub, src.Table, src.Columns = nil, table, table.Columns()
	return true
}
