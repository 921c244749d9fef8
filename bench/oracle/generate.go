package oracle

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// Generator makes random tables and random statements about them. The sums of its numbers are exact in
// any order.
type Generator struct {
	*rand.Rand
	tables map[string][]tables.Column
	depth  int
}

// NewGenerator makes a generator, which is the same for the same seed.
func NewGenerator(seed uint64) *Generator {
	return &Generator{Rand: rand.New(rand.NewPCG(seed, 1))}
}

func (g *Generator) pick(list ...string) string { return list[g.IntN(len(list))] }

func (g *Generator) chance(percent int) bool { return g.IntN(100) < percent }

// Tables makes three small tables. In some, the first column of t1 and of t2 is the number of the row.
func (g *Generator) Tables() map[string]*tables.Memory {
	shapes := map[string][]tables.Column{
		"t1": {{Name: "a", Type: values.IntegerAffinity}, {Name: "b", Type: values.TextAffinity},
			{Name: "c", Type: values.RealAffinity}, {Name: "d", Type: values.IntegerAffinity}},
		"t2": {{Name: "a", Type: values.IntegerAffinity}, {Name: "e", Type: values.TextAffinity},
			{Name: "f", Type: values.IntegerAffinity}},
		"t3": {{Name: "b", Type: values.TextAffinity}, {Name: "g", Type: values.RealAffinity}},
	}
	g.tables = shapes
	out := map[string]*tables.Memory{}
	numbered := g.chance(40)
	for _, name := range []string{"t1", "t2", "t3"} {
		m := &tables.Memory{Cols: shapes[name]}
		for range g.IntN(9) {
			row := make([]values.Value, len(m.Cols))
			for i, c := range m.Cols {
				row[i] = g.value(c.Type)
			}
			if numbered && name != "t3" {
				row[0] = values.Int(int64(len(m.Rows)))
			}
			m.Rows = append(m.Rows, row)
		}
		out[name] = m
	}
	return out
}

func (g *Generator) value(a values.Affinity) values.Value {
	if g.chance(20) {
		return values.Value{}
	}
	switch a {
	case values.IntegerAffinity:
		if g.chance(3) {
			return values.Int([]int64{1 << 62, -1 << 63, 1<<63 - 1, 4503599627370497}[g.IntN(4)])
		}
		return values.Int(int64(g.IntN(7) - 2))
	case values.RealAffinity:
		return values.Float(float64(g.IntN(33)-12) / 4)
	}
	return values.String(g.word())
}

func (g *Generator) word() string {
	return g.pick("", "a", "A", "ab", "b", "aB", "node1", "node10", "1", "2", "2.0", " 3", "1e1", "x%", "_", "zz", "Ä",
		"free", "-1", "1x")
}

// source is a table of a statement, with its columns.
type source struct {
	name    string
	columns []tables.Column
}

// Statement makes a SELECT, and reports whether its order is determined.
func (g *Generator) Statement() (text string, ordered bool) {
	g.depth = 0
	return g.query(nil, true)
}

func (g *Generator) query(outer []source, top bool) (string, bool) {
	if top && g.chance(12) {
		return g.compound(outer)
	}
	if top && g.chance(12) {
		return g.with()
	}
	from, sources := g.from(outer)
	if g.chance(12) {
		return g.windows(from, sources)
	}
	scope := append(append([]source(nil), sources...), outer...)
	if g.chance(35) {
		return g.grouped(from, sources, scope, top)
	}
	n := 1 + g.IntN(3)
	items := make([]string, n)
	for i := range items {
		items[i] = g.expr(scope, 3)
	}
	distinct := g.pick("", "", "", "DISTINCT ")
	text := "SELECT " + distinct + strings.Join(items, ", ") + from
	if g.chance(70) {
		text += " WHERE " + g.pick(g.condition(scope, 3), "TRUE")
		for g.chance(35) {
			text += " AND " + g.column(sources) + g.pick(" < ", " <= ", " > ", " >= ", " = ", " BETWEEN 0 AND ") +
				g.pick("0", "1", "2", "3")
		}
	}
	return g.order(text, n, top)
}

func (g *Generator) order(text string, n int, top bool) (string, bool) {
	if !g.chance(50) {
		return text, false
	}
	terms := make([]string, n)
	for i := range terms {
		terms[i] = fmt.Sprintf("%d%s%s", i+1, g.pick("", " DESC", " ASC"),
			g.pick("", "", " NULLS FIRST", " NULLS LAST"))
	}
	text += " ORDER BY " + strings.Join(terms, ", ")
	if g.chance(50) {
		text += fmt.Sprintf(" LIMIT %d", g.IntN(6)-1)
		if g.chance(50) {
			text += fmt.Sprintf(" OFFSET %d", g.IntN(3))
		}
	}
	return text, true
}

func (g *Generator) grouped(from string, sources, scope []source, top bool) (string, bool) {
	var keys []string
	for range g.IntN(3) {
		keys = append(keys, g.column(sources))
	}
	items := append([]string(nil), keys...)
	for range 1 + g.IntN(2) {
		items = append(items, g.aggregate(sources))
	}
	text := "SELECT " + strings.Join(items, ", ") + from
	if g.chance(50) {
		text += " WHERE " + g.condition(scope, 2)
	}
	if len(keys) > 0 {
		text += " GROUP BY " + strings.Join(keys, ", ")
		if g.chance(40) {
			text += " HAVING " + g.aggregate(sources) + g.pick(" > ", " = ", " <> ", " IS NOT ") + g.literal()
		}
	}
	return g.order(text, len(items), top)
}

func (g *Generator) aggregate(sources []source) string {
	x := g.expr(sources, 1)
	call := g.pick("count(*)", "count("+x+")", "sum("+x+")", "total("+x+")", "min("+x+")", "max("+x+")",
		"avg("+g.column(sources)+")",
		"count(DISTINCT "+x+")", "sum(DISTINCT "+g.column(sources)+")")
	if g.chance(20) {
		call += " FILTER (WHERE " + g.condition(sources, 1) + ")"
	}
	return call
}

func (g *Generator) from(outer []source) (string, []source) {
	n := 1
	for n < 3 && g.chance(35) {
		n++
	}
	text := ""
	var sources []source
	for i := range n {
		name, columns := g.table()
		alias := fmt.Sprintf("x%d", len(outer)+i)
		item := name + " AS " + alias
		s := source{alias, columns}
		switch {
		case g.tables["v1"] != nil && i > 0 && g.chance(8):
			item, s = g.each(sources, alias)
			text += g.pick(" JOIN ", " LEFT JOIN ") + item + " ON " + g.on(append(sources, s))
			sources = append(sources, s)
			continue
		case g.depth < 2 && g.chance(12):
			item, s = g.derived(alias)
		case g.depth < 2 && g.chance(4):
			item, s = g.rows(alias)
		}
		switch {
		case i == 0:
			text = " FROM " + item
			sources = append(sources, s)
			continue
		case g.chance(25):
			text += ", " + item
			sources = append(sources, s)
			continue
		}
		sources = append(sources, s)
		text += g.pick(" JOIN ", " JOIN ", " LEFT JOIN ", " LEFT JOIN ", " INNER JOIN ") + item + " ON " + g.on(sources)
	}
	return text, sources
}

// derived makes a subquery in FROM.
func (g *Generator) derived(alias string) (string, source) {
	g.depth++
	defer func() { g.depth-- }()
	name := g.pick("t1", "t2", "t3")
	inner := []source{{"y", g.tables[name]}}
	text := "(SELECT " + g.column(inner) + " AS p, " + g.pick(g.column(inner), g.expr(inner, 1)) +
		" AS q FROM " + name + " AS y"
	if g.chance(50) {
		text += " WHERE " + g.condition(inner, 1)
	}
	return text + ") AS " + alias, source{alias, []tables.Column{{Name: "p"}, {Name: "q"}}}
}

func (g *Generator) on(sources []source) string {
	last := sources[len(sources)-1:]
	before := sources[:len(sources)-1]
	text := g.column(before) + " = " + g.column(last)
	for g.chance(25) {
		text += g.pick(" AND ", " OR ") + g.condition(sources, 1)
	}
	return text
}

func (g *Generator) column(sources []source) string {
	s := sources[g.IntN(len(sources))]
	return s.name + "." + s.columns[g.IntN(len(s.columns))].Name
}

func (g *Generator) literal() string {
	return g.pick("NULL", "0", "1", "2", "-1", "3", "1.5", "2.0", "-0.25", "'a'", "'A'", "'1'", "'2.0'", "'ab'", "''",
		"'x'", "9223372036854775807", "1e3", "TRUE")
}

func (g *Generator) expr(sources []source, depth int) string {
	if depth == 0 || g.chance(30) {
		if g.chance(70) {
			return g.column(sources)
		}
		return g.literal()
	}
	x := func() string { return g.expr(sources, depth-1) }
	switch g.IntN(17) {
	case 0, 1, 2:
		return "(" + x() + g.pick(" + ", " - ", " * ", " / ", " % ") + x() + ")"
	case 3:
		return "(" + x() + " || " + x() + ")"
	case 4:
		return "CASE WHEN " + g.condition(sources, depth-1) + " THEN " + x() + " ELSE " + x() + " END"
	case 5:
		return "CASE " + x() + " WHEN " + x() + " THEN " + x() + " END"
	case 6:
		return "CAST(" + x() + " AS " + g.pick("INTEGER", "REAL", "TEXT", "NUMERIC") + ")"
	case 7:
		return g.pick("coalesce", "ifnull", "nullif", "min", "max") + "(" + x() + ", " + x() + ")"
	case 8:
		return g.pick("abs", "length", "lower", "upper", "typeof", "trim", "ltrim", "rtrim", "quote", "sign", "floor",
			"ceil", "hex", "json_array") + "(" + g.column(sources) + ")"
	case 9:
		return "substr(" + x() + ", " + g.pick("0", "1", "2", "-1", "-2", "3") + g.pick("", ", 1", ", 2", ", -1",
			", 0") + ")"
	case 10:
		return "round(" + g.column(sources) + g.pick("", ", 1", ", 2") + ")"
	case 11:
		return "instr(" + x() + ", " + x() + ")"
	case 12:
		return "replace(" + x() + ", " + x() + ", " + x() + ")"
	case 13:
		return g.pick("-", "+", "~") + "(" + x() + ")"
	case 14:
		return "(" + x() + g.pick(" & ", " | ", " << ", " >> ") + x() + ")"
	case 15:
		if g.depth < 1 {
			return g.scalar(sources)
		}
	}
	return "(" + g.condition(sources, depth-1) + ")"
}

// scalar makes a subquery for a value, which may refer to outer tables.
func (g *Generator) scalar(outer []source) string {
	g.depth++
	defer func() { g.depth-- }()
	name := g.pick("t1", "t2", "t3")
	inner := []source{{fmt.Sprintf("z%d", g.depth), g.tables[name]}}
	join := ""
	if g.chance(30) {
		other := g.pick("t1", "t2", "t3")
		inner = append(inner, source{fmt.Sprintf("w%d", g.depth), g.tables[other]})
		join = g.pick(" JOIN ", " LEFT JOIN ") + other + " AS " + inner[1].name + " ON " + g.column(inner[:1]) + " = " +
			g.column(inner[1:])
	}
	scope := append(append([]source(nil), inner...), outer...)
	text := "(SELECT " + g.pick("count(*)", "min("+g.column(inner)+")", "max("+g.column(inner)+")",
		"sum("+g.column(inner)+")") +
		" FROM " + name + " AS " + inner[0].name + join
	if g.chance(70) {
		text += " WHERE " + g.condition(scope, 1)
	}
	return text + ")"
}

func (g *Generator) condition(sources []source, depth int) string {
	x := func() string { return g.expr(sources, max(depth-1, 0)) }
	if depth <= 0 {
		return g.column(sources) + g.pick(" = ", " <> ", " < ", " <= ", " > ", " >= ") + g.literal()
	}
	not := g.pick("", "", "NOT ")
	switch g.IntN(13) {
	case 0, 1:
		return "(" + g.condition(sources, depth-1) + " AND " + g.condition(sources, depth-1) + ")"
	case 2, 3:
		return "(" + g.condition(sources, depth-1) + " OR " + g.condition(sources, depth-1) + ")"
	case 4:
		return "NOT " + "(" + g.condition(sources, depth-1) + ")"
	case 5:
		return x() + " " + not + "IN (" + g.literal() + ", " + x() + ", " + g.literal() + ")"
	case 6:
		return x() + " " + not + "BETWEEN " + x() + " AND " + x()
	case 7:
		return x() + " " + not + g.pick("LIKE", "GLOB") + " " + g.pick("'a%'", "'a*'", "'%b'", "'_'", "'[a-z]*'",
			"'1%'", "'node1*'", "'node%'", "''", "'%'", "'?'", "'[^a]*'")
	case 8:
		return x() + g.pick(" IS NULL", " IS NOT NULL", " ISNULL", " NOTNULL", " IS 1", " IS NOT 'a'", " IS TRUE",
			" IS NOT FALSE")
	case 9:
		return x() + " IS " + g.pick("", "NOT ", "NOT DISTINCT FROM ") + x()
	case 10:
		if g.depth < 1 {
			return g.inner(sources, not)
		}
	case 11:
		return x() + g.pick(" = ", " < ", " >= ") + x()
	}
	return x() + g.pick(" = ", " <> ", " < ", " <= ", " > ", " >= ") + x()
}

// inner makes IN (SELECT ...) or EXISTS.
func (g *Generator) inner(outer []source, not string) string {
	g.depth++
	defer func() { g.depth-- }()
	name := g.pick("t1", "t2", "t3")
	inner := []source{{fmt.Sprintf("z%d", g.depth), g.tables[name]}}
	scope := append(append([]source(nil), inner...), outer...)
	where := " WHERE " + g.condition(scope, 1)
	if g.chance(50) {
		where = " WHERE " + g.column(inner) + " = " + g.column(outer)
	}
	if g.chance(50) {
		return not + "EXISTS (SELECT 1 FROM " + name + " AS " + inner[0].name + where + ")"
	}
	return g.column(outer) + " " + not + "IN (SELECT " + g.column(inner) + " FROM " + name + " AS " + inner[0].name +
		g.pick("", where) + ")"
}
