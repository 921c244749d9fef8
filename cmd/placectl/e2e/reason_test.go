package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/placectl/placectl/internal/engine"
)

// TestReasonCodes: docs/json.md lists the causes with their meanings, and no others.
func TestReasonCodes(t *testing.T) {
	text, err := os.ReadFile("../../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| cause | meaning |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var want []string
	for _, c := range engine.Causes() {
		want = append(want, fmt.Sprintf("| `%s` | %s |", c, c.Doc()))
	}
	if table != strings.Join(want, "\n") {
		t.Errorf("docs/json.md should have this table:\n%s", strings.Join(want, "\n"))
	}
}
