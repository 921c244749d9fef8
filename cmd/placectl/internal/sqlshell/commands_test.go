package sqlshell

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/query"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/tables"
)

func TestShellCompletion(t *testing.T) {
	s := &Shell{schema: Schema{Tables: []string{"nodes", "jobs"}, Columns: map[string][]tables.Column{
		"nodes": {{Name: "state"}, {Name: "name"}}, "jobs": {{Name: "user"}}}}}
	for _, c := range []struct {
		line string
		want []string
	}{
		{"SELECT sta", []string{"state"}},
		{"SELECT n", []string{"NOT", "NULL", "NULLS", "name", "nodelist(", "nodes", "now(",
			"nullif("}},
		{"SELECT name FROM jo", []string{"JOIN", "jobs"}},
		{".sch", []string{".schema "}},
		{"SELECT zzz", nil},
		{"SELECT nodes.", []string{"name", "state"}},
		{"SELECT 1 FROM nodes AS k WHERE k.st", []string{"state"}},
		{"SELECT 1\nFROM jobs j WHERE\nj.", []string{"user"}},
		{"SELECT us", []string{"USING", "user"}},
		{"SELECT 1 FROM nodes WHERE use", nil},
		{"SELECT x FROM jobs WHERE name = 'sta", nil},
		{"SELECT x -- sta", nil},
		{"SELECT 'it''s' || sta", []string{"state"}},
		{"SELECT k.na", []string{"name"}},
		{"SELECT date_", []string{"date_trunc("}},
		{".schema no", []string{"nodes"}},
		{".mode ta", []string{"table"}},
		{".timer o", []string{"off", "on"}},
		{"SELECT 1;\n.mode i", []string{"id"}},
		{"	", nil},
	} {
		head, got, tail := s.complete(c.line, len(c.line))
		if d := cmp.Diff(c.want, got); d != "" || tail != "" || len(head) > len(c.line) {
			t.Errorf("complete(%s) = head %q, tail %q, candidates (-want +got): %s", c.line, head, tail, d)
		}
	}
}

// TestViews: a view stands for its query until it is dropped.
func TestViews(t *testing.T) {
	views := map[string]*syntax.View{}
	for _, c := range []struct{ text, want string }{
		{"CREATE TEMP VIEW V AS SELECT 1", ""},
		{"CREATE VIEW v AS SELECT 2", "line 1, column 1: there is a view v already: DROP VIEW takes it away"},
		{"CREATE TEMP VIEW IF NOT EXISTS v AS SELECT 2", ""},
		{"DROP VIEW v", ""},
		{"DROP VIEW v", "line 1, column 1: no view v"},
		{"DROP VIEW IF EXISTS v", ""},
	} {
		list, err := query.Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := SetView(views, c.text, list[0].View); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.text, got, c.want)
		}
	}
	if len(views) != 0 {
		t.Errorf("%d views are left, want none", len(views))
	}
}

func TestWhole(t *testing.T) {
	for text, want := range map[string]bool{"": true, ".mode csv": true, "SELECT 1": false, "SELECT 1;": true,
		".mode csv\nSELECT ';\n":          false,
		".mode csv\n\nSELECT 1\n;\n.quit": true, "SELECT 1 -- ;": false, "SELECT 1; SELECT 2": false} {
		if whole(text) != want {
			t.Errorf("whole(%q) = %v, want %v", text, !want, want)
		}
	}
}

func TestSplitWords(t *testing.T) {
	for text, want := range map[string][]string{"a  'b c' \"d'e\" f": {"a", "b c", "d'e", "f"}, "": nil, "''": {""}} {
		if got, err := splitWords(text); err != nil || cmp.Diff(want, got) != "" {
			t.Errorf("splitWords(%s) = %q, %v, want %q", text, got, err, want)
		}
	}
	if _, err := splitWords("a 'b"); err == nil {
		t.Error("splitWords accepts an unclosed quote")
	}
}
