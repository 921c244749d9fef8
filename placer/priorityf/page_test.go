package priorityf

import (
	"os"
	"strings"
	"testing"
)

// TestComponentsPage: docs/policies.md has a row for each component.
func TestComponentsPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/policies.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, term := range Components() {
		if row := "| " + term.Name + " | " + term.Doc + " |\n"; !strings.Contains(string(page), row) {
			t.Errorf("the page lacks %s", row)
		}
	}
}
