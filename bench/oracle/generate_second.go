package oracle

import (
	"fmt"
	"strings"

	"github.com/placectl/placectl/query/tables"
)

// core makes a SELECT of n columns without an order.
func (g *Generator) core(outer []source, n int) string {
	from, sources := g.from(outer)
	items := make([]string, n)
	for i := range items {
		items[i] = g.expr(sources, 1)
	}
	text := "SELECT " + strings.Join(items, ", ") + from
	if g.chance(50) {
		text += " WHERE " + g.condition(sources, 1)
	}
	return text
}

// compound joins queries by UNION and the like.
func (g *Generator) compound(outer []source) (string, bool) {
	n := 1 + g.IntN(2)
	text := g.core(outer, n)
	for range 1 + g.IntN(3) {
		text += g.pick(" UNION ", " UNION ALL ", " INTERSECT ", " EXCEPT ") + g.core(outer, n)
	}
	return g.order(text, n, true)
}

// with names queries and joins them with each other and with tables.
func (g *Generator) with() (string, bool) {
	text := "WITH c1(p, q) AS (" + g.core(nil, 2) + ")"
	names := []string{"c1"}
	if g.chance(40) {
		op := g.pick(" UNION ", " UNION ALL ")
		text = fmt.Sprintf("WITH RECURSIVE c1(p, q) AS (SELECT %s, 1%sSELECT %s, q + 1 FROM c1 WHERE q < %d)",
			g.literal(), op, g.pick("p", "p + 1", "q", "p || 'x'"), 2+g.IntN(4))
	}
	if g.chance(50) {
		text += ", c2 AS (SELECT c1.p AS p, c1.q AS q FROM c1 WHERE " + g.condition(
			[]source{{"c1", []tables.Column{{Name: "p"}, {Name: "q"}}}}, 1) + ")"
		names = append(names, "c2")
	}
	pq := []tables.Column{{Name: "p"}, {Name: "q"}}
	sources := []source{{"u", pq}}
	from := " FROM " + g.pick(names...) + " AS u"
	if g.chance(50) {
		sources = append(sources, source{"v", pq})
		from += g.pick(" JOIN ", " LEFT JOIN ") + g.pick(names...) + " AS v ON " + g.on(sources)
	}
	items := []string{g.expr(sources, 2), g.expr(sources, 1)}
	text += " SELECT " + strings.Join(items, ", ") + from
	if g.chance(30) {
		text += " WHERE u.p IN " + names[0]
		if !strings.Contains(text, "c2") {
			text = strings.TrimSuffix(text, " WHERE u.p IN "+names[0]) + " WHERE u.p IN (SELECT p FROM c1)"
		} else {
			text = strings.TrimSuffix(text, " IN "+names[0]) + " IN (SELECT q FROM c2)"
		}
	}
	return g.order(text, 2, true)
}

// rows makes VALUES as a table.
func (g *Generator) rows(alias string) (string, source) {
	var rows []string
	for range 1 + g.IntN(4) {
		rows = append(rows, "("+g.literal()+", "+g.literal()+")")
	}
	return "(VALUES " + strings.Join(rows, ", ") + ") AS " + alias,
		source{alias, []tables.Column{{Name: "column1"}, {Name: "column2"}}}
}

// windows makes a SELECT with window functions. Their orders are total as far as the results can tell:
// rows that tie are equal in all columns.
func (g *Generator) windows(from string, sources []source) (string, bool) {
	var all []string
	for _, s := range sources {
		for _, c := range s.columns {
			all = append(all, s.name+"."+c.Name, "typeof("+s.name+"."+c.Name+")")
		}
	}
	total := strings.Join(all, ", ")
	n := 1 + g.IntN(3)
	items := make([]string, n)
	for i := range items {
		partition := ""
		if g.chance(50) {
			partition = "PARTITION BY " + g.column(sources) + " "
		}
		column := g.column(sources)
		switch g.IntN(4) {
		case 0:
			items[i] = g.pick("rank()", "dense_rank()", "percent_rank()", "cume_dist()", "count(*)", "min("+column+")",
				"max("+column+")", "count("+column+")") +
				" OVER (" + partition + "ORDER BY " + g.column(sources) + g.pick("", " DESC") + g.pick("", "",
				" NULLS LAST", " NULLS FIRST") + ")"
		case 1:
			items[i] = g.pick("lag("+column+")", "lead("+column+", 2)", "lag("+column+", 1, "+g.literal()+")",
				"first_value("+column+")", "last_value("+column+")", "row_number()") +
				" OVER (" + partition + "ORDER BY " + total + ")"
		case 2:
			items[i] = g.pick("count("+column+")", "min("+column+")", "max("+column+")", "count(*)",
				"total("+column+")") + g.pick("", "", " FILTER (WHERE "+g.condition(sources, 1)+")") +
				" OVER (" + partition + "ORDER BY " + total + " " + g.frame() + ")"
		default:
			items[i] = g.pick("count("+column+")", "min("+column+")", "max("+column+")", "count(*)") +
				" OVER (" + partition + "ORDER BY " + g.column(sources) + g.pick("", " DESC") + " RANGE BETWEEN " +
				g.pick("UNBOUNDED PRECEDING AND CURRENT ROW", "CURRENT ROW AND CURRENT ROW",
					"CURRENT ROW AND UNBOUNDED FOLLOWING",
					"UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING") + ")"
		}
		if g.chance(20) {
			items[i] = "(" + items[i] + g.pick(" + ", " = ", " || ") + g.column(sources) + ")"
		}
	}
	text := "SELECT " + strings.Join(items, ", ") + from
	if g.chance(40) {
		text += " WHERE " + g.condition(sources, 2)
	}
	return g.order(text, n, true)
}

// frame makes a frame of rows that does not end before it begins.
func (g *Generator) frame() string {
	ends := []string{"UNBOUNDED PRECEDING", "2 PRECEDING", "1 PRECEDING", "CURRENT ROW", "1 FOLLOWING", "3 FOLLOWING",
		"UNBOUNDED FOLLOWING"}
	from := g.IntN(6)
	to := max(from, 1) + g.IntN(7-max(from, 1))
	return "ROWS BETWEEN " + ends[from] + " AND " + ends[to]
}
