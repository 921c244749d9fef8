package e2e

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/query"
)

const (
	sqlPage    = "../../../docs/sql.md"
	tablesPage = "../../../docs/sql-tables.md"
)

var updatePage = flag.Bool("update-sql-page", false, "write docs/sql-tables.md again")

// TestSQLPage compares docs/sql-tables.md with the tables, columns and functions of the program.
func TestSQLPage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.db")
	if code := newCapture("init", "--db", path).run(); code != exit.OK {
		t.Fatal(code)
	}
	db, err := engine.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var b strings.Builder
	b.WriteString("# SQL: tables and functions\n\n" +
		"For anyone writing a query. This page lists every table, column and function of [SQL](sql.md);\n" +
		"`placectl query 'SELECT * FROM sys_columns'` lists the columns of your version.\n\n")
	fmt.Fprintf(&b, "## Functions\n\n%s\n\nWindow functions: %s.\n\n## Tables\n\n",
		"`"+strings.Join(query.FunctionNames(), "`, `")+"`.", "`"+strings.Join(query.WindowFunctionNames(), "`, `")+"`")
	err = db.View(func(tx *engine.Tx) error {
		names, columns, err := tx.QueryTables()
		for _, name := range names {
			fmt.Fprintf(&b, "**%s**\n\n| column | type | meaning |\n|---|---|---|\n", name)
			for _, c := range columns[name] {
				fmt.Fprintf(&b, "| %s | %s | %s |\n", c.Name, strings.TrimSpace(c.Type.String()+" "+c.Unit.String()),
					strings.ReplaceAll(c.Doc, "|", "\\|"))
			}
			b.WriteString("\n")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	b.WriteString("Continue with [sql.md](sql.md) for the language and thirty questions, or [states.md](states.md) " +
		"for the words.\n")
	if *updatePage {
		if err := os.WriteFile(tablesPage, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if page, err := os.ReadFile(tablesPage); err != nil || string(page) != b.String() {
		t.Errorf("docs/sql-tables.md is out of date (%v): go test ./cmd/placectl/e2e -run TestSQLPage -update-sql-page",
			err)
	}
}

// TestQuestions runs the queries of docs/sql.md on the demo.
func TestQuestions(t *testing.T) {
	page, err := os.ReadFile(sqlPage)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "demo.db")
	if c := newCapture("demo", "--db", path); c.run() != exit.OK {
		t.Fatal(c.err.String())
	}
	all := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(string(page), -1)
	if len(all) < 30 {
		t.Fatalf("docs/sql.md has only %d questions", len(all))
	}
	empty := func(text string) bool { return strings.Contains(text, "-- may be empty") }
	for _, m := range all {
		c := newCapture("--db", path, "query", m[1], "-o", "csv")
		if code := c.run(); code != exit.OK {
			t.Errorf("%s\nfails: %s", m[1], c.err.String())
			continue
		}
		if lines := strings.Count(c.out.String(), "\n"); lines < 2 && !empty(m[1]) {
			t.Errorf("there are no rows for\n%s", m[1])
		}
		if lines := slices.Collect(strings.Lines(c.out.String())); testing.Verbose() {
			t.Logf("%s\n%s", m[1], strings.Join(lines[:min(len(lines), 6)], ""))
		}
	}
}
