package file

import (
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestOneDoor: nothing outside recorder.go calls the functions of bbolt that write. The test
// of the imports verifies that no other package imports it.
func TestOneDoor(t *testing.T) {
	writes := []string{"Put", "Delete", "CreateBucket", "CreateBucketIfNotExists", "DeleteBucket", "MoveBucket",
		"NextSequence", "SetSequence"}
	// Calls with the same names, of something other than bbolt.
	others := []string{"slices.Delete", "b.r.Put", "b.Put", "r.Put"}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok || !slices.Contains(writes, sel.Sel.Name) {
				return true
			}
			var of strings.Builder
			if err := printer.Fprint(&of, set, sel); err != nil {
				t.Fatal(err)
			}
			if name == "recorder.go" {
				seen[sel.Sel.Name] = true
			} else if !slices.Contains(others, of.String()) {
				t.Errorf("%s: %s", set.Position(sel.Pos()), &of)
			}
			return true
		})
	}
	if len(seen) != 5 {
		t.Errorf("recorder.go calls %v, and Put, Delete, DeleteBucket, CreateBucket, CreateBucketIfNotExists "+
			"were expected", seen)
	}
}
