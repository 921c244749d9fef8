package oracle

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/placectl/placectl/query/fault"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"

	"github.com/placectl/placectl/query"
)

// corpusTables returns the tables of the written statements.
func corpusTables() map[string]*tables.Memory {
	i, s, f, null := values.Int, values.String, values.Float, values.Value{}
	integer := func(name string) tables.Column { return tables.Column{Name: name, Type: values.IntegerAffinity} }
	text := func(name string) tables.Column { return tables.Column{Name: name, Type: values.TextAffinity} }
	return map[string]*tables.Memory{
		"n": {Cols: []tables.Column{text("name"), text("queue"), integer("ncpus"), integer("mem"),
			{Name: "load", Type: values.RealAffinity}, text("tag")},
			Rows: [][]values.Value{
				{s("n1"), s("q1"), i(8), i(64), f(0.5), s("7")}, {s("n2"), s("q1"), i(8), null, f(2), s("a")},
				{s("n3"), s("q2"), i(16), i(128), f(0), s("B")},
				{s("n4"), s("q2"), i(4), i(64), f(0.25), s("7.0")}, {s("n5"), null, i(64), i(512), null, null},
				{s("N6"), s("q3"), i(16), null, f(16), s("b")}}},
		"a": {Cols: []tables.Column{integer("job"), text("node"), integer("start"), integer("end"), integer("ncpus")},
			Rows: [][]values.Value{{i(1), s("n1"), i(10), i(20), i(4)}, {i(1), s("n2"), i(10), i(20), i(4)},
				{i(2), s("n3"), i(15), i(40), i(16)},
				{i(3), s("n3"), i(50), null, i(8)}, {i(4), null, i(5), i(6), null},
				{i(9), s("gone"), i(1), i(2), i(1)}}},
		"j": {Cols: []tables.Column{integer("job"), text("user"), text("state")},
			Rows: [][]values.Value{{i(1), s("ann"), s("running")}, {i(2), s("bob"), s("running")},
				{i(3), s("ann"), s("reserved")}, {i(5), null, s("queued")}}},
		"e": {Cols: []tables.Column{integer("job"), text("node")}},
	}
}

// TestCorpus compares the written statements, without indexes and with.
func TestCorpus(t *testing.T) {
	var text []byte
	for _, file := range []string{"testdata/corpus.sql", "testdata/second.sql"} {
		part, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, part...)
	}
	memory := corpusTables()
	db, err := Load(memory)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	plain, indexed := Tables{}, Tables{}
	for name, m := range memory {
		plain[name] = m
		by := map[int]bool{}
		for i := range m.Cols {
			by[i] = true
		}
		indexed[name] = &tables.IndexedMemory{Memory: *m, By: by}
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "--") {
			continue
		}
		n++
		for how, c := range map[string]Tables{"without indexes": plain, "with indexes": indexed} {
			compare(t, how, line, func(text string) ([]string, []string, error) { return AskSQLite(db, text) }, c)
		}
	}
	t.Logf("%d statements", n)
}

func compare(t *testing.T, how, line string, lite func(string) ([]string, []string, error), c Tables) {
	t.Helper()
	if text, ok := strings.CutPrefix(line, "refused: "); ok {
		_, rows, err := AskQuery(c, text, query.Options{})
		if !errors.Is(err, fault.ErrQuery) {
			t.Errorf("%s succeeds with %v, %v, want an error", text, rows, err)
		}
		return
	}
	names, want, err := lite(line)
	if err != nil {
		t.Errorf("%s: SQLite: %v", line, err)
		return
	}
	columns, got, err := AskQuery(c, line, query.Options{})
	if err != nil {
		t.Errorf("%s: %v", line, err)
		return
	}
	if d := Differ(line, want, got, strings.Contains(line, "ORDER BY") && !strings.HasSuffix(line, ")")); d != "" {
		t.Errorf("%s, %s:\n%s", how, line, d)
	}
	if a, b := strings.Join(names, "|"), strings.Join(columns, "|"); a != b {
		t.Errorf("%s: columns %s, SQLite has %s", line, b, a)
	}
}
