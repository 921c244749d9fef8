package output

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestCutColumns: if a table's columns may be cut, each row is one line at any width with room for the fixed
// columns. No line is wider, and every text that is not cut is complete.
func TestCutColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(30, 120).Draw(t, "width")
		text := rapid.StringMatching(`[a-zé漢 ]{0,40}`)
		var b bytes.Buffer
		p := New(&b, Options{Terminal: true, Width: func() int { return width }}, Result{Columns: []Column{
			{Name: "job"}, {Name: "name", Least: 5}, {Name: "when", Least: 10, Kind: Prose}}})
		rows := rapid.IntRange(1, 5).Draw(t, "rows")
		var names []string
		for range rows {
			names = append(names, text.Draw(t, "name"))
			p.Row("1234567", names[len(names)-1], text.Draw(t, "when"))
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if len(lines) != rows+1 {
			t.Fatalf("%d lines for %d rows, want one each:\n%s", len(lines), rows, b.String())
		}
		for i, line := range lines {
			if TextWidth(line) > width {
				t.Errorf("a line has %d columns on a terminal of %d: %q", TextWidth(line), width, line)
			}
			if i > 0 && !strings.Contains(line, "+") && !strings.Contains(line, strings.TrimSpace(names[i-1])) {
				t.Errorf("%q lacks %q, without a plus sign", line, names[i-1])
			}
		}
	})
}

func TestCut(t *testing.T) {
	for in, want := range map[string]string{"": "", "abcde": "abcde", "abcdef": "abcd+", "漢漢漢": "漢漢+", "a漢漢b": "a漢+",
		"éééééé": "éééé+"} {
		got := string(Cut(nil, in, 5))
		if got != want || TextWidth(got) > 5 || !utf8.ValidString(got) {
			t.Errorf("Cut(%q, 5) = %q, want %q", in, got, want)
		}
	}
}
