package output

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A spool gives back what was written since it was last reset, whether that fits into
// memory or not, and leaves no file behind.
func TestSpool(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	rapid.Check(t, func(t *rapid.T) {
		var s Spool
		defer s.Close()
		var want bytes.Buffer
		for i, n := range rapid.SliceOfN(rapid.OneOf(rapid.IntRange(0, 100), rapid.IntRange(1, 3<<19)), 1, 6).Draw(t, "lengths") {
			if rapid.IntRange(0, 9).Draw(t, "reset") == 0 {
				s.Reset()
				want.Reset()
			}
			b := bytes.Repeat([]byte{byte('a' + i)}, n)
			want.Write(b)
			if m, err := s.Write(b); m != n || err != nil {
				t.Fatal(m, err)
			}
			got, err := io.ReadAll(s.Reader())
			if err != nil || s.Len() != int64(want.Len()) || !bytes.Equal(got, want.Bytes()) {
				t.Fatalf("%d bytes of %d, %v", len(got), want.Len(), err)
			}
		}
	})
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

// A table is the same whether it was held back in memory or page by page: every row in
// columns as wide as the widest cell of all.
func TestLongTable(t *testing.T) {
	var out bytes.Buffer
	p := New(&out, Options{}, Result{Columns: []Column{{Name: "n", Kind: Integer}, {Name: "text"}, {Name: "last"}}})
	const rows = 60_000
	for i := range rows {
		p.Row(i, strings.Repeat("x", 10+i%50), "end")
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if out.Len() < 3*pageSize {
		t.Fatalf("%d bytes are not several pages", out.Len())
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	for i, line := range lines[1:] {
		if want := fmt.Sprintf("%5d  %-59s  end", i, strings.Repeat("x", 10+i%50)); line != want {
			t.Fatalf("row %d: %q, want %q", i, line, want)
		}
	}
	if len(lines) != rows+1 {
		t.Errorf("%d lines", len(lines))
	}
}
