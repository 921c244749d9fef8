package e2e

import (
	"strings"
	"testing"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
)

// TestNodeListWidth: on a narrow terminal a list leaves out columns and names them. If that is not
// enough it becomes lines. Elsewhere nothing is left out.
func TestNodeListWidth(t *testing.T) {
	path := newNodeDB(t)
	for _, args := range [][]string{
		{"node", "add", "n[1-3]", "ncpus=8", "mem=32gb", "scratch=1tb", "features=ssd", "color=red", "priority=5"},
		{"node", "down", "n3", "--reason", "the fan on the left side rattles"},
	} {
		if _, text, code := runNode(t, path, "", args...); code != exit.OK {
			t.Fatal(text)
		}
	}
	tests := []struct {
		width     int
		tty       bool
		head, out string // the beginning of the answer, and the note on what is left out
	}{
		{200, true, "NAME  PRIORITY  STATE  REASON", ""},
		{80, true, "NAME  PRIORITY  STATE  REASON",
			"no room for the columns bucket, scratch_free, mem_free, ncpus_free: -o line shows all"},
		{30, true, "name:", ""},
		{30, false, "NAME  PRIORITY  STATE  REASON", ""},
	}
	for _, tt := range tests {
		c := newCapture("--db", path, "--no-color", "node", "list")
		c.StdoutTTY, c.Width = tt.tty, func() int { return tt.width }
		if code := c.run(); code != exit.OK || !strings.HasPrefix(c.out.String(), tt.head) ||
			!strings.Contains(c.err.String(), tt.out) || (tt.out == "") != (c.err.Len() == 0) {
			t.Errorf("width %d: got\n%s%s\nwant\n%s and %q", tt.width, c.out.String(), c.err.String(), tt.head, tt.out)
		}
		for line := range strings.Lines(c.out.String()) {
			if tt.tty && tt.width > 30 && output.TextWidth(strings.TrimSuffix(line, "\n")) > tt.width {
				t.Errorf("width %d: %q is wider", tt.width, line)
			}
		}
	}
}
