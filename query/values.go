package query

import (
	"strconv"
)

// renamed is a producer whose columns are called otherwise.
func (c *compiler) renamed(at Node, p producer, name string, names []Name) []Column {
	columns, _ := p.shape()
	if names == nil {
		return columns
	}
	if len(names) != len(columns) {
		c.fail(at, "%s has %d columns, and %d names for them", name, len(columns), len(names))
	}
	out := append([]Column(nil), columns...)
	for i := range out {
		out[i].Name = names[i].Text
	}
	return out
}

// wrap makes a plan of a producer: SELECT * FROM it, in an order and with a limit.
func (c *compiler) wrap(x *Select, p producer, parent *scope) *selectPlan {
	from := FromItem{span: x.span}
	return c.compileOf(&Select{span: x.span, Columns: []ResultColumn{{span: x.span, Star: true}}, From: []FromItem{from},
		OrderBy: x.OrderBy, Limit: x.Limit, Offset: x.Offset}, parent, given{from: p}).selectPlan
}

// values compiles VALUES; its columns are called column1, column2 and so on.
func (c *compiler) values(x *Select, parent *scope) producer {
	s := &scope{c: c, parent: parent, aliases: map[string]Expr{}, noAggs: "VALUES has no rows to be grouped"}
	v := &valuesPlan{plain: true}
	for _, row := range x.Values {
		codes := s.all(row)
		for i := range codes {
			v.plain = v.plain && codes[i].uses == 0
		}
		v.rows = append(v.rows, codes)
	}
	for i := range v.rows[0] {
		column := Column{Name: "column" + strconv.Itoa(i+1), Unit: v.rows[0][i].unit}
		for _, row := range v.rows {
			column.Unit = c.sameUnit(x, column.Unit, row[i].unit)
		}
		v.columns = append(v.columns, column)
	}
	v.outer = s.outer
	return v
}

// sameUnit is the unit of a column of two queries that are joined.
func (c *compiler) sameUnit(at Node, a, b Unit) Unit {
	switch {
	case a == b:
		return a
	case a.measured() && b.measured():
		c.fail(at, "a column would be %s here and %s there", a.shown(), b.shown())
	case a.measured():
		return a
	case b.measured():
		return b
	}
	return NoUnit
}
