package oracle

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"

	"github.com/placectl/placectl/query"
)

// Features that SQLite has in other words or not at all: views, tables at another instant, and functions
// that make tables of columns. SQLiteText translates them for SQLite.

// then is the instant for which queries get other tables than for now.
const then = 1000

// Views makes two views of the tables, as statements that both sides understand.
func (g *Generator) Views() []string {
	pq := []tables.Column{{Name: "p"}, {Name: "q"}}
	var out []string
	for _, name := range []string{"v1", "v2"} {
		table := g.pick("t1", "t2", "t3")
		in := []source{{table, g.tables[table]}}
		text := "CREATE TEMP VIEW " + name + " AS SELECT " + g.column(in) + " AS p, " + g.pick(
			g.column(in), g.expr(in, 1)) + " AS q FROM " + table
		if g.chance(30) {
			text += " WHERE " + g.condition(in, 1)
		}
		out = append(out, text)
		g.tables[name] = pq
	}
	return out
}

// viewsOf parses the views for the options of a statement.
func viewsOf(statements []string) (map[string]*syntax.View, error) {
	out := map[string]*syntax.View{}
	for _, text := range statements {
		list, err := query.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		out[list[0].View.Name] = list[0].View
	}
	return out, nil
}

// table makes an item of FROM: a table, sometimes at the instant then, or a view.
func (g *Generator) table() (text string, columns []tables.Column) {
	name := g.pick("t1", "t2", "t3")
	switch {
	case g.tables["v1"] != nil && g.chance(20):
		name = g.pick("v1", "v2")
	case g.tables["v1"] != nil && g.chance(15):
		return fmt.Sprintf("%s AT '%d'", name, then), g.tables[name]
	}
	return name, g.tables[name]
}

// each makes a call of the function each, which returns a row for each of its arguments. These come from
// the tables before it.
func (g *Generator) each(sources []source, alias string) (string, source) {
	args := []string{g.column(sources)}
	if g.chance(60) {
		args = append(args, g.pick(g.column(sources), "1", "'a'", "NULL"))
	}
	return "each(" + strings.Join(args, ", ") + ") AS " + alias, source{alias, []tables.Column{{Name: "value"}}}
}

var (
	atThen   = regexp.MustCompile(fmt.Sprintf(` AT '%d'`, then))
	eachCall = regexp.MustCompile(`\beach\(([^()]*)\)`)
	ofEach   = regexp.MustCompile(`\b(x\d+\.value)\b`)
)

// SQLiteText translates a statement for SQLite. To us the values of a function have no type. In SQLite
// they are a column of type BLOB, but as an expression they have none, too.
func SQLiteText(text string) string {
	text = eachCall.ReplaceAllString(atThen.ReplaceAllString(text, "_then"), "json_each(json_array($1))")
	return ofEach.ReplaceAllString(text, "(+$1)")
}

// each is the function each.
type each struct{}

// Columns describes its only column.
func (each) Columns() []tables.Column { return []tables.Column{{Name: "value"}} }

// Rows returns the arguments.
func (each) Rows(args []values.Value) (tables.Cursor, error) {
	m := &tables.Memory{Cols: each{}.Columns()}
	for _, v := range args {
		m.Rows = append(m.Rows, []values.Value{v})
	}
	return m.Scan(nil), nil
}
