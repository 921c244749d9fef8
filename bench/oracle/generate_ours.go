package oracle

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/placectl/placectl/query"
)

// What SQLite has in other words, or not at all: views, tables at another instant, and
// functions that make tables of columns. SQLiteText says the same to SQLite.

// then is the instant at which tables are asked for that differ from those of now.
const then = 1000

// Views makes two views of the tables, as statements: both sides understand them.
func (g *Generator) Views() []string {
	pq := []query.Column{{Name: "p"}, {Name: "q"}}
	var out []string
	for _, name := range []string{"v1", "v2"} {
		table := g.pick("t1", "t2", "t3")
		in := []source{{table, g.tables[table]}}
		text := "CREATE TEMP VIEW " + name + " AS SELECT " + g.column(in) + g.collate() + " AS p, " + g.pick(g.column(in), g.expr(in, 1)) + " AS q FROM " + table
		if g.chance(30) {
			text += " WHERE " + g.condition(in, 1)
		}
		out = append(out, text)
		g.tables[name] = pq
	}
	return out
}

// viewsOf are the views as the options of a statement have them.
func viewsOf(statements []string) (map[string]*query.View, error) {
	out := map[string]*query.View{}
	for _, text := range statements {
		list, err := query.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		out[list[0].View.Name] = list[0].View
	}
	return out, nil
}

// table is what may stand in FROM: a table, sometimes as it is then, or a view.
func (g *Generator) table() (text string, columns []query.Column) {
	name := g.pick("t1", "t2", "t3")
	switch {
	case g.tables["v1"] != nil && g.chance(20):
		name = g.pick("v1", "v2")
	case g.tables["v1"] != nil && g.chance(15):
		return fmt.Sprintf("%s AT '%d'", name, then), g.tables[name]
	}
	return name, g.tables[name]
}

// each is a call of a function that makes a row of each of its arguments, of the tables
// before.
func (g *Generator) each(sources []source, alias string) (string, source) {
	args := []string{g.column(sources)}
	if g.chance(60) {
		args = append(args, g.pick(g.column(sources), "1", "'a'", "NULL"))
	}
	return "each(" + strings.Join(args, ", ") + ") AS " + alias, source{alias, []query.Column{{Name: "value"}}}
}

var (
	atThen   = regexp.MustCompile(fmt.Sprintf(` AT '%d'`, then))
	eachCall = regexp.MustCompile(`\beach\(([^()]*)\)`)
	ofEach   = regexp.MustCompile(`\b(x\d+\.value)\b`)
)

// SQLiteText is a statement in SQLite's words. What a function makes is of no type to us, and
// a column of type BLOB there: as an expression it is of none.
func SQLiteText(text string) string {
	text = eachCall.ReplaceAllString(atThen.ReplaceAllString(text, "_then"), "json_each(json_array($1))")
	return ofEach.ReplaceAllString(text, "(+$1)")
}

// each is the function.
type each struct{}

// Columns describes its only column.
func (each) Columns() []query.Column { return []query.Column{{Name: "value"}} }

// Rows are the arguments.
func (each) Rows(args []query.Value) (query.Cursor, error) {
	m := &query.Memory{Cols: each{}.Columns()}
	for _, v := range args {
		m.Rows = append(m.Rows, []query.Value{v})
	}
	return m.Scan(nil), nil
}
