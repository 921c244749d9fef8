package store

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDocGroups: the package's documentation puts each method of Tx into one group.
func TestDocGroups(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var grouped, there []string
	for _, m := range regexp.MustCompile(`\[Tx\.(\w+)\]`).FindAllSubmatch(text, -1) {
		grouped = append(grouped, string(m[1]))
	}
	for i, tx := 0, reflect.TypeFor[*Tx](); i < tx.NumMethod(); i++ {
		there = append(there, tx.Method(i).Name)
	}
	slices.Sort(grouped)
	if diff := cmp.Diff(there, grouped); diff != "" {
		t.Errorf("methods of Tx (-there are +the documentation groups):\n%s", diff)
	}
	for _, m := range regexp.MustCompile(`\b[a-z_]+\.go\b`).FindAllString(string(text), -1) {
		if _, err := os.Stat(m); err != nil {
			t.Error(err)
		}
	}
}
