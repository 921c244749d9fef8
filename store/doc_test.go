package store

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDocGroups: the package's documentation names each method of Tx and of its topics once.
func TestDocGroups(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var grouped, there []string
	for _, m := range regexp.MustCompile(`\[(Tx\.\w+)\]`).FindAllSubmatch(text, -1) {
		grouped = append(grouped, string(m[1]))
	}
	lines := regexp.MustCompile(`\n//\s+`).ReplaceAllString(string(text), " ")
	for _, m := range regexp.MustCompile(`- \[Tx\.(\w+)\],[^-]*?\. ((?:\w+, )*\w+)\.`).FindAllStringSubmatch(lines,
		-1) {
		for name := range strings.SplitSeq(m[2], ", ") {
			grouped = append(grouped, m[1]+"."+name)
		}
	}
	documented := []any{Jobs{}, Attempts{}, Cycle{}, Reservations{}, Nodes{}, Devices{}, Config{}, Queues{}, Shares{},
		Ask{}, Batches{}}
	for _, v := range append(documented, &Tx{}) {
		typ := reflect.TypeOf(v)
		name, _ := strings.CutPrefix(typ.String()[strings.Index(typ.String(), ".")+1:], "*")
		for i := range typ.NumMethod() {
			there = append(there, name+"."+typ.Method(i).Name)
		}
	}
	slices.Sort(there)
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
