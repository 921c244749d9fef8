package output

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestTableFits(t *testing.T) {
	res := Result{Columns: []Column{{Name: "id", Kind: Integer}, {Name: "name"}, {Name: "why"}}}
	rows := [][]any{
		{1, "n1", "short"},
		{20, "a-name-without-any-blank", "this text is too long, so it goes on below"},
	}
	tests := []struct {
		width int
		want  string
	}{
		{80, `
ID  NAME                      WHY
 1  n1                        short
20  a-name-without-any-blank  this text is too long, so it goes on below
`},
		{50, `
ID  NAME                    WHY
 1  n1                      short
20  a-name-without-any-bla  this text is too long,
    nk                      so it goes on below
`},
		{32, `
ID  NAME           WHY
 1  n1             short
20  a-name-withou  this text is
    t-any-blank    too long, so
                   it goes on
                   below
`},
		{20, `
id:   1
name: n1
why:  short

id:   20
name: a-name-without-any-blank
why:  this text is too long, so it goes on below
`},
	}
	for _, tt := range tests {
		got := stripBold(render(t, Options{Color: true}, true, tt.width, res, rows))
		if diff := cmp.Diff(tt.want[1:], got); diff != "" {
			t.Errorf("on %d columns (-want +got):\n%s", tt.width, diff)
		}
	}
	empty := render(t, Options{Color: true}, true, 20, res, [][]any{{1, nil, "a reason that is too long for it"},
		{2, "n2", nil}})
	if diff := cmp.Diff("id:   1\nwhy:  a reason that is too long for it\n\nid:   2\nname: n2\n",
		stripBold(empty)); diff != "" {
		t.Errorf("an empty value should take no line of a block:\n%s", diff)
	}
	if got := render(t, Options{}, false, 20, res, rows); strings.Count(got, "\n") != 3 {
		t.Errorf("a table into a pipe was wrapped:\n%s", got)
	}
}

// TestTableNeverCuts: at any width no character is lost, and a table keeps to the width or becomes lines.
func TestTableNeverCuts(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cols := rapid.IntRange(1, 5).Draw(rt, "cols")
		width := rapid.IntRange(1, 100).Draw(rt, "width")
		word := rapid.StringOf(rapid.SampledFrom([]rune("ab ,+世é́")))
		res := Result{}
		for range cols {
			res.Columns = append(res.Columns, Column{Name: "c", Right: rapid.Bool().Draw(rt, "right")})
		}
		var rows [][]any
		want := map[rune]int{}
		for range rapid.IntRange(1, 6).Draw(rt, "rows") {
			row := make([]any, cols)
			for i := range row {
				s := word.Draw(rt, "cell")
				count(want, s)
				row[i] = s
			}
			rows = append(rows, row)
		}
		out := render(t, Options{NoHeader: true}, true, width, res, rows)
		got := map[rune]int{}
		count(got, out)
		if lines := got['c'] > 0; lines {
			delete(got, 'c')
			delete(got, ':')
		} else {
			for line := range strings.SplitSeq(out, "\n") {
				if TextWidth(line) > width {
					rt.Fatalf("%d wide, of %d: %q", TextWidth(line), width, line)
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("%s\n%s", out, diff)
		}
	})
}

func count(n map[rune]int, s string) {
	for _, c := range s {
		if !unicode.IsSpace(c) {
			n[c]++
		}
	}
}

// TestHugeTable: a table with more text than is held in memory is one table, as wide as its widest row, which
// is the last.
func TestHugeTable(t *testing.T) {
	const rows = 60_000
	var out bytes.Buffer
	p := New(&out, Options{}, Result{Columns: []Column{{Name: "id", Kind: Integer}, {Name: "text"}, {Name: "last"}}})
	text := strings.Repeat("é世x", 20)
	for i := range rows {
		p.Row(i, text, "l")
	}
	p.Row(rows, text+"é世x", "l")
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != rows+2 {
		t.Fatalf("%d lines, want %d", len(lines), rows+2)
	}
	for i, line := range lines {
		if w := TextWidth(line); w != len("60000")+2+21*4+2+1 && i > 0 {
			t.Fatalf("line %d is %d columns wide: %q", i, w, line)
		}
		if i > 0 && !strings.HasPrefix(strings.TrimLeft(line, " "), strconv.Itoa(i-1)+"  é") {
			t.Fatalf("line %d is %q", i, line)
		}
	}
}

func TestTextWidth(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "é": 1, "e\u0301": 1, "世界": 4, "a世": 3, "한": 2, "🚀": 2} {
		if got := TextWidth(s); got != want {
			t.Errorf("TextWidth(%q) = %d, want %d", s, got, want)
		}
	}
}
