package plan

import (
	"strconv"

	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/tables"
)

// renamed returns a producer whose columns have other names.
func (c *compiler) renamed(at syntax.Node, p exec.Producer, name string, names []syntax.Name) []tables.Column {
	columns, _ := p.Shape()
	if names == nil {
		return columns
	}
	if len(names) != len(columns) {
		c.fail(at, "%s has %d columns, and %d names for them", name, len(columns), len(names))
	}
	out := append([]tables.Column(nil), columns...)
	for i := range out {
		out[i].Name = names[i].Text
	}
	return out
}

// wrap makes a plan of a producer: SELECT * FROM it, with order and limit.
func (c *compiler) wrap(x *syntax.Select, p exec.Producer, parent *scope) *exec.Plan {
	from := syntax.FromItem{Span: x.Span}
	return c.compileCore(&syntax.Select{Span: x.Span, Columns: []syntax.ResultColumn{{Span: x.Span, Star: true}},
		From:    []syntax.FromItem{from},
		OrderBy: x.OrderBy, Limit: x.Limit, Offset: x.Offset}, parent, p)
}

// values compiles VALUES. Its columns are called column1, column2 and so on.
func (c *compiler) values(x *syntax.Select, parent *scope) exec.Producer {
	s := &scope{c: c, parent: parent, aliases: map[string]syntax.Expr{}, noAggs: "VALUES has no rows to be grouped"}
	v := &exec.ValuesPlan{Plain: true}
	for _, row := range x.Values {
		codes := s.all(row)
		for i := range codes {
			v.Plain = v.Plain && codes[i].Uses == 0
		}
		v.Rows = append(v.Rows, codes)
	}
	for i := range v.Rows[0] {
		column := tables.Column{Name: "column" + strconv.Itoa(i+1), Unit: v.Rows[0][i].Unit}
		for _, row := range v.Rows {
			column.Unit = c.sameUnit(x, column.Unit, row[i].Unit)
		}
		v.Columns = append(v.Columns, column)
	}
	v.Outer = s.outer
	return v
}

// sameUnit returns the unit of a column in two joined queries.
func (c *compiler) sameUnit(at syntax.Node, a, b tables.Unit) tables.Unit {
	switch {
	case a == b:
		return a
	case a.Measured() && b.Measured():
		c.fail(at, "a column would be %s here and %s there", a.Shown(), b.Shown())
	case a.Measured():
		return a
	case b.Measured():
		return b
	}
	return tables.NoUnit
}
