package launch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPager: only output higher than the terminal goes to the program.
func TestPager(t *testing.T) {
	for _, c := range []struct {
		command     string
		lines, rows int
		first       string
		total       int
	}{
		{"sed 's/^/paged /'", 3, 5, "line", 3},
		{"sed 's/^/paged /'", 5, 5, "paged line", 5},
		{"head -n 1", 50_000, 5, "line", 1},
		{"sed 's/^/paged /'", 5, 0, "line", 5},
	} {
		path := filepath.Join(t.TempDir(), "out")
		out, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		p := &Pager{Command: c.command, Rows: c.rows, Out: out}
		for range c.lines {
			if _, err := p.Write([]byte("line\n")); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		out.Close()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(string(text), "\n")
		if n := strings.Count(string(text), "\n"); first != c.first || n != c.total {
			t.Errorf("%s, %d lines: the output has %d lines and begins with %q, want %d and %q", c.command, c.lines, n,
				first, c.total, c.first)
		}
	}
}
