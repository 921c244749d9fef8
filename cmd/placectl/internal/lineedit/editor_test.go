package lineedit

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"pgregory.net/rapid"
)

// fake is a terminal whose keys are written beforehand. It shows what is drawn as a real
// one would, and tells what would have made that wrap.
type fake struct {
	io.Reader
	cols, rows int
	lines      []string // what is seen
	y, x       int
	wrapped    bool
}

func (f *fake) Size() (int, int)           { return f.cols, f.rows }
func (f *fake) Raw() (func() error, error) { return func() error { return nil }, nil }
func (f *fake) Read(p []byte) (int, error) { return f.Reader.Read(p[:1]) } // a key at a time
func (f *fake) Write(p []byte) (n int, err error) {
	text := string(p)
	for len(text) > 0 {
		switch {
		case strings.HasPrefix(text, "\x1b["):
			end := strings.IndexAny(text, "ABCDHJKhl")
			n := 0
			for _, c := range text[2:end] {
				if c >= '0' && c <= '9' {
					n = n*10 + int(c-'0')
				}
			}
			switch text[end] {
			case 'A':
				f.y = max(f.y-n, 0)
			case 'C':
				f.x += n
			case 'J':
				f.lines = append(f.lines[:min(f.y, len(f.lines))], clip(f.at(), f.x))
			case 'H':
				f.y, f.x = 0, 0
			}
			text = text[end+1:]
		case text[0] == '\r':
			f.x, text = 0, text[1:]
		case text[0] == '\n':
			f.y, text = f.y+1, text[1:]
		default:
			c := []rune(text)[0]
			for len(f.lines) <= f.y {
				f.lines = append(f.lines, "")
			}
			f.lines[f.y] = clip(f.lines[f.y], f.x) + string(c)
			f.x += output.RuneWidth(c)
			width := f.cols
			if width <= 0 {
				width = 80
			}
			f.wrapped = f.wrapped || f.x > max(width, 2)
			text = text[len(string(c)):]
		}
	}
	return len(p), nil
}

func (f *fake) at() string {
	if f.y < len(f.lines) {
		return f.lines[f.y]
	}
	return ""
}

func (f *fake) screen() string { return strings.TrimRight(strings.Join(f.lines, "\n"), "\n") }

func edit(cols, rows int, keys string) (*Editor, *fake) {
	f := &fake{Reader: strings.NewReader(keys), cols: cols, rows: rows}
	e := New(f)
	e.Whole = func(text string) bool { return strings.HasSuffix(text, ";") }
	e.Complete = func(text string, pos int) (string, []string, string) {
		word := text[strings.LastIndexByte(text[:pos], ' ')+1 : pos]
		var found []string
		for _, w := range []string{"nodes", "nodelist(", "jobs"} {
			if word != "" && strings.HasPrefix(w, word) {
				found = append(found, w)
			}
		}
		return text[:pos-len(word)], found, text[pos:]
	}
	return e, f
}

func TestKeys(t *testing.T) {
	for _, c := range []struct{ name, keys, want string }{
		{"lines", "a\rb;\r", "a\nb;"},
		{"pasted tabs and lines stay", "\x1b[200~SELECT\t1,\r\n  2 -- x\r;\x1b[201~\r", "SELECT\t1,\n  2 -- x\n;"},
		{"a paste ends nothing", "\x1b[200~a;\rb\x1b[201~;\r", "a;\nb;"},
		{"left and insert", "ac\x1b[Db\x1b[C;\r", "abc;"},
		{"start, end", "bc\x01a\x05;\r", "abc;"},
		{"home, end", "bc\x1b[Ha\x1b[F;\r", "abc;"},
		{"home, end otherwise", "bc\x1b[1~a\x1bOF;\r", "abc;"},
		{"backspace", "abx\x7fc;\r", "abc;"},
		{"delete", "xabc\x01\x1b[3~\x05;\r", "abc;"},
		{"ctrl-d deletes", "xabc\x01\x04\x05;\r", "abc;"},
		{"cut a word and yank", "one two\x17\x19\x19;\r", "one twotwo;"},
		{"cut to both ends", "one two\x1bb\x0b\x15\x19;\r", "one ;"},
		{"words", "one two\x1bb\x1bbX\x1bf-\x05;\r", "Xone- two;"},
		{"alt-d", "one two\x01\x1bd\x05;\r", " two;"},
		{"up goes into the line above", "a\rb\x1b[Ax\x1b[B;\r", "ax\nb;"},
		{"completed", "nodel\t;\r", "nodelist(;"},
		{"completed as far as it goes", "no\t\ts;\r", "nodes;"},
		{"an accent", "ä\x7fö;\r", "ö;"},
		{"unknown sequences", "a\x1b[99;99zb\x1bzc;\r", "abc;"},
		{"what is no text", "a\xff\x00b;\r", "a\uFFFDb;"},
	} {
		e, f := edit(40, 10, c.keys)
		if got, err := e.Read("> ", ". "); got != c.want || err != nil {
			t.Errorf("%s: %q, %v, not %q", c.name, got, err, c.want)
		}
		if f.wrapped {
			t.Errorf("%s: it wraps", c.name)
		}
	}
}

func TestEnds(t *testing.T) {
	for keys, want := range map[string]error{"\x04": io.EOF, "ab\x03": ErrAborted, "ab": io.EOF, "\x1b[200~never ended": io.EOF} {
		e, _ := edit(40, 10, keys)
		if _, err := e.Read("> ", ". "); !errors.Is(err, want) {
			t.Errorf("%q: %v, not %v", keys, err, want)
		}
	}
}

// TestHistory: texts come back as they were, through a file, too.
func TestHistory(t *testing.T) {
	first := "SELECT 'a  b', -- all\n  2;"
	var h History
	h.Add(first)
	h.Add("two\\n;")
	h.Add("two\\n;")
	h.Add(" \n")
	var file bytes.Buffer
	if err := h.Save(&file); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ keys, want string }{
		{"\x1b[A\r", "two\\n;"},
		{"\x1b[A\x1b[A\r", first},
		{"x\x1b[A\x10\x0e\x0e;\r", "x;"},
		{"\x12ALL\r", first},
		{"\x12;\x12\r", first},
		{"old;\x12nowhere\x07\r", "old;"},
	} {
		e, _ := edit(40, 10, c.keys)
		if err := e.History.Load(strings.NewReader("plain \"old\" line\n" + file.String())); err != nil || e.History.Len() != 3 {
			t.Fatal(e.History.Len(), err)
		}
		if got, err := e.Read("> ", ". "); got != c.want || err != nil {
			t.Errorf("%q: %q, %v, not %q", c.keys, got, err, c.want)
		}
	}
}

// TestDraw: whatever the keys, and the size of the terminal, the text is seen where it is,
// the cursor is before what is typed next, and nothing wraps.
func TestDraw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"a", "bc d", "ä", "漢", "\t", "\r", "\x1b[A", "\x1b[B", "\x1b[D", "\x1b[C", "\x7f", "\x17", "\x0b", "\x19",
			"\x01", "\x05", "no\t", "\x12", "\x07", "\x0c", "\x1b[200~x\ny\tz\x1b[201~"})).Draw(t, "keys"), "")
		cols := rapid.SampledFrom([]int{0, 1, 2, 3, 5, 9, 20, 80}).Draw(t, "columns")
		e, f := edit(cols, 0, keys)
		e.History.Add("older\ntext;")
		if _, err := e.Read("> ", ". "); err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		if f.wrapped {
			t.Fatalf("it wraps at %d columns:\n%s", cols, f.screen())
		}
		e.below, e.search = nil, nil
		*f = fake{cols: cols, rows: 1000}
		e.screen = screen{}
		if err := e.draw(); err != nil {
			t.Fatal(err)
		}
		width := cols
		if width <= 0 {
			width = 80
		}
		l := e.lay(max(width, 2))
		if got, want := f.screen(), strings.TrimRight(strings.Join(l.rows, "\n"), "\n"); got != want || f.x != l.atCol || f.y != l.atRow {
			t.Fatalf("seen at %d,%d:\n%s\nnot at %d,%d:\n%s", f.y, f.x, got, l.atRow, l.atCol, want)
		}
	})
}

// TestHigh: of a text that is higher than the terminal the part around the cursor is seen.
func TestHigh(t *testing.T) {
	e, f := edit(10, 3, strings.Repeat("x\r", 9)+"last")
	if _, err := e.Read("> ", ". "); err != io.EOF {
		t.Fatal(err)
	}
	if !strings.HasSuffix(f.screen(), ". x\n. x\n. last") {
		t.Errorf("it shows\n%s", f.screen())
	}
}
