package query

import "strconv"

// producer is what a source reads that is no table: a subquery, queries joined by UNION
// and the like, VALUES, a query of WITH.
type producer interface {
	// run goes through the rows. What emit is given lasts until it returns.
	run(e *env, emit func(row []Value) error) error
	// shape is its columns, and the sources of queries around that it looks at.
	shape() (columns []Column, outer slots)
	// steady reports whether it has the same rows throughout a run.
	steady() bool
}

func (p *selectPlan) shape() ([]Column, slots) { return p.columns, p.outer }

func (p *selectPlan) steady() bool {
	for _, st := range p.steps {
		if st.src.sub != nil && !st.src.sub.steady() {
			return false
		}
	}
	return p.outer == 0
}

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
	from := FromItem{span: x.span, made: p}
	return c.compileCore(&Select{span: x.span, Columns: []ResultColumn{{span: x.span, Star: true}}, From: []FromItem{from},
		OrderBy: x.OrderBy, Limit: x.Limit, Offset: x.Offset}, parent)
}

// valuesPlan is VALUES.
type valuesPlan struct {
	rows    [][]code
	columns []Column
	outer   slots
	plain   bool // nothing in it changes
}

func (v *valuesPlan) shape() ([]Column, slots) { return v.columns, v.outer }
func (v *valuesPlan) steady() bool             { return v.plain }

func (v *valuesPlan) run(e *env, emit func([]Value) error) error {
	row := make([]Value, len(v.columns))
	for _, codes := range v.rows {
		for i := range codes {
			row[i] = codes[i].eval(e)
		}
		if err := e.step(); err != nil {
			return err
		}
		if err := emit(row); err != nil {
			return pastStop(err)
		}
	}
	return e.err
}

// pastStop is the error of a run that ends early: none where the reader had enough.
func pastStop(err error) error {
	if err == errStop {
		return nil
	}
	return err
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
