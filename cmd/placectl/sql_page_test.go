package main

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
	"github.com/placectl/placectl/query"
	"github.com/placectl/placectl/store"
)

const sqlPage = "../../docs/sql.md"

var updatePage = flag.Bool("update-sql-page", false, "write the tables and functions of docs/sql.md anew")

// sqlParts are the parts of docs/sql.md that follow from the program.
var sqlParts = regexp.MustCompile(`(?s)## Functions\n.*?## Thirty questions\n`)

// TestSQLPage compares the tables, columns and functions of docs/sql.md with those that
// there are.
func TestSQLPage(t *testing.T) {
	page, err := os.ReadFile(sqlPage)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "page.db")
	if code := newCapture("init", "--db", path).run(); code != exit.OK {
		t.Fatal(code)
	}
	db, err := store.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## Functions\n\n%s\n\nOf windows alone: %s.\n\n## Tables\n\n", "`"+strings.Join(query.FunctionNames(), "`, `")+"`.", "`"+strings.Join(query.WindowFunctionNames(), "`, `")+"`")
	err = db.View(func(tx *store.Tx) error {
		names, columns, err := tx.QueryTables()
		for _, name := range names {
			fmt.Fprintf(&b, "**%s**\n\n| column | type | meaning |\n|---|---|---|\n", name)
			for _, c := range columns[name] {
				fmt.Fprintf(&b, "| %s | %s | %s |\n", c.Name, strings.TrimSpace(c.Type.String()+" "+c.Unit.String()), strings.ReplaceAll(c.Doc, "|", "\\|"))
			}
			b.WriteString("\n")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	b.WriteString("## Thirty questions\n")
	got := sqlParts.Find(page)
	if *updatePage {
		page = sqlParts.ReplaceAllLiteral(page, []byte(b.String()))
		if err := os.WriteFile(sqlPage, page, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(got) != b.String() {
		t.Error("docs/sql.md does not list what there is: go test ./cmd/placectl -run TestSQLPage -update-sql-page")
	}
}

// TestQuestions asks the questions of docs/sql.md about the demo.
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
		t.Fatalf("%d questions", len(all))
	}
	empty := func(text string) bool { return strings.Contains(text, "-- may be empty") }
	for _, m := range all {
		c := newCapture("--db", path, "query", m[1], "-o", "csv")
		if code := c.run(); code != exit.OK {
			t.Errorf("%s\n%s", m[1], c.err.String())
			continue
		}
		if lines := strings.Count(c.out.String(), "\n"); lines < 2 && !empty(m[1]) {
			t.Errorf("nothing answers\n%s", m[1])
		}
		if lines := slices.Collect(strings.Lines(c.out.String())); testing.Verbose() {
			t.Logf("%s\n%s", m[1], strings.Join(lines[:min(len(lines), 6)], ""))
		}
	}
}
