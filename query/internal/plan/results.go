package plan

import (
	"strings"

	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// expand lists the result columns, with stars written out.
func (s *scope) expand(x *syntax.Select) []syntax.ResultColumn {
	var out []syntax.ResultColumn
	for _, c := range x.Columns {
		if !c.Star {
			out = append(out, c)
			continue
		}
		n := len(out)
		for _, src := range s.sources {
			for i := range src.Columns {
				col := &src.Columns[i]
				if c.Table != "" && !strings.EqualFold(src.Name, c.Table) ||
					c.Table == "" && src.merged[values.Lower(col.Name)] {
					continue
				}
				x := &exactColumn{syntax.ColumnRef{Span: c.Span, Table: src.Name, Name: col.Name}, found{src, i}}
				out = append(out, syntax.ResultColumn{Span: c.Span, X: x, Text: col.Name})
			}
		}
		if len(out) == n {
			if c.Table == "" {
				s.c.fail(&c, "* needs a FROM")
			}
			s.missing(&syntax.ColumnRef{Span: c.Span, Table: c.Table, Name: "*"})
		}
		if len(out) > syntax.MaxColumns {
			s.c.fail(&c, "more than %d columns", syntax.MaxColumns)
		}
	}
	return out
}

// exactColumn is a column from a star. It needs no name resolution.
type exactColumn struct {
	syntax.ColumnRef
	at found
}

// results compiles the result columns.
func (s *scope) results(p *exec.Plan, list []syntax.ResultColumn) {
	for i := range list {
		c := s.compile(list[i].X)
		name := list[i].Alias
		if name == "" {
			name = list[i].Text
			if exact, ok := list[i].X.(*exactColumn); ok {
				name = exact.at.src.Columns[exact.at.col].Name
			} else if ref := asColumn(list[i].X); ref != nil {
				name = ref.Name
				if f, ok := s.find(ref); ok {
					name = f.src.Columns[f.col].Name
				}
			}
		}
		p.Out = append(p.Out, c)
		p.Columns = append(p.Columns, tables.Column{Name: name, Type: c.Affinity, Unit: c.Unit, Refuse: c.Refuse,
			JSON: c.JSON})
	}
}

func asColumn(x syntax.Expr) *syntax.ColumnRef {
	switch x := x.(type) {
	case *syntax.ColumnRef:
		return x
	case *exactColumn:
		return &x.ColumnRef
	}
	return nil
}

// limits compiles LIMIT and OFFSET.
func (s *scope) limits(p *exec.Plan, x *syntax.Select) {
	if x.Limit == nil {
		return
	}
	in := &scope{c: s.c, noAggs: "LIMIT comes last"}
	p.Limited, p.LimitAt, p.OffsetAt = true, x.Limit.Pos(), x.Limit.Pos()
	p.Limit, p.Offset = in.compile(x.Limit), exec.Constant(values.Int(0))
	if x.Offset != nil {
		p.Offset, p.OffsetAt = in.compile(x.Offset), x.Offset.Pos()
	}
}
