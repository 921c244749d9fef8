package sqlshell

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fake is a terminal with prepared keys.
type fake struct {
	io.Reader
	bytes.Buffer
	raw int
}

func (f *fake) Read(p []byte) (int, error) { return f.Reader.Read(p[:1]) } // one key at a time
func (f *fake) Size() (int, int)           { return 40, 10 }
func (f *fake) Raw() (func() error, error) { f.raw++; return func() error { f.raw--; return nil }, nil }

func typing(keys, file string) (*typed, *fake) {
	f := &fake{Reader: strings.NewReader(keys)}
	s := &Shell{schema: Schema{Tables: []string{"nodes", "jobs", "jobs_by_node"}}}
	return edited(f, s, file).(*typed), f
}

// TestTyped: texts of several lines, the keys that edit them, and completion.
func TestTyped(t *testing.T) {
	for _, c := range []struct{ name, keys, want string }{
		{"lines", "a\rb;\r", "a\nb;"},
		{"a command", ".mode csv\r", ".mode csv"},
		{"pasted tabs and lines stay", "\x1b[200~SELECT\t1,\n  2 -- x\r;\x1b[201~\r", "SELECT\t1,\n  2 -- x\n;"},
		{"left and insert", "ac\x1b[Db\x1b[C;\r", "abc;"},
		{"start, end", "bc\x01a\x05;\r", "abc;"},
		{"home, end", "bc\x1b[Ha\x1b[F;\r", "abc;"},
		{"backspace", "abx\x7fc;\r", "abc;"},
		{"delete", "xabc\x01\x1b[3~\x05;\r", "abc;"},
		{"ctrl-d deletes", "xabc\x01\x04\x05;\r", "abc;"},
		{"cut a word", "one two\x17;\r", "one ;"},
		{"completed", "SELECT jo\tx;\r", "SELECT jox;"},
		{"completed wholly", ".mode js\t\r", ".mode json"},
		{"completed in a second line", "SELECT 1\rFROM job\t;\r", "SELECT 1\nFROM jobs;"},
		{"nothing in a comment", "SELECT 1 -- nod\t\r;\r", "SELECT 1 -- nod\n;"},
		{"an accent", "ä\x7fö;\r", "ö;"},
	} {
		e, f := typing(c.keys, "")
		if got, err := e.Next(); got != c.want || err != nil || f.raw != 0 {
			t.Errorf("%s: Next = %q, %v, want %q", c.name, got, err, c.want)
		}
	}
}

// TestListed: candidates without a longer common prefix are listed in columns.
func TestListed(t *testing.T) {
	e, f := typing("SELECT * FROM jobs\t;\r", "")
	if text, err := e.Next(); text != "SELECT * FROM jobs;" || err != nil || !strings.Contains(f.String(), "jobs  ") ||
		!strings.Contains(f.String(), "jobs_by_node\r\n") {
		t.Errorf("Next = %q, %v, and the screen shows %q", text, err, f.String())
	}
	if got := list([]string{"a", "bb", "c", "d", "e"}, 8, 2); got != "a   bb\nc   d\nand 1 more\n" {
		t.Errorf("list in 8 columns and 2 rows = %q", got)
	}
}

func TestEnds(t *testing.T) {
	for keys, want := range map[string]error{"\x04": io.EOF, "ab": io.EOF, "\x1b[200~never ended": io.EOF,
		"ab\x03": errAborted, "a\r\x03": errAborted} {
		e, f := typing(keys, "")
		if _, err := e.Next(); !errors.Is(err, want) || f.raw != 0 {
			t.Errorf("after the keys %q: Next = %v, want %v", keys, err, want)
		}
	}
	e, _ := typing("", "")
	e.tty.(*fake).Reader = io.MultiReader(strings.NewReader("ab\x03"), strings.NewReader("c;\r"))
	if _, err := e.Next(); !errors.Is(err, errAborted) {
		t.Error(err)
	}
	if text, err := e.Next(); text != "c;" || err != nil {
		t.Errorf("after Ctrl-C: Next = %q, %v", text, err)
	}
}

// TestHistory: texts come back unchanged, also from a file, and are found by their words.
func TestHistory(t *testing.T) {
	first, file := "SELECT 'a  b', -- all\n  2;", filepath.Join(t.TempDir(), "state", "history")
	e, _ := typing(strings.ReplaceAll(first, "\n", "\r")+"\r.mode\\n\r.mode\\n\r \r", file)
	for range 4 {
		if _, err := e.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ keys, want string }{
		{"\x1b[A\r", ".mode\\n"},
		{"\x1b[A\x1b[A\r", first},
		{"x\x1b[A\x1b[B;\r", "x;"},
		{"ALL\x12\r", first},
		{"e\x12\x12\r", first},
		{"nowhere;\x12\r", "nowhere;"},
	} {
		e, _ := typing(c.keys, file)
		if got, err := e.Next(); got != c.want || err != nil {
			t.Errorf("after the keys %q: Next = %q, %v, want %q", c.keys, got, err, c.want)
		}
	}
	var h history
	if err := h.load(strings.NewReader("plain \"old\" line\n\"two\\nlines\"\n")); err != nil ||
		cmp.Diff([]string{"plain \"old\" line", "two\nlines"}, h.texts) != "" {
		t.Errorf("load = %q, %v", h.texts, err)
	}
}
