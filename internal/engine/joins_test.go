package engine

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestJoinIsNoSequence: errors.Join calls all of its arguments, whatever becomes of the first. So after that
// it has only calls that release or read something, in store and below.
func TestJoinIsNoSequence(t *testing.T) {
	harmless := strings.Fields(`Close close release Flush Err Errorf New CheckText away said
		claims pasts keys shares events Each Unmarshal os.Remove`)
	join := func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			join, ok := n.(*ast.CallExpr)
			if !ok || called(join) != "errors.Join" {
				return true
			}
			for _, arg := range join.Args[1:] {
				call, ok := arg.(*ast.CallExpr)
				name := ""
				if ok {
					name = called(call)
				}
				if _, last, ok := strings.Cut(name, "."); ok && name != "os.Remove" {
					name = last
				}
				if name != "" && !slices.Contains(harmless, name) {
					t.Errorf("%s: %s is called even if what is before it in errors.Join has failed",
						files.Position(arg.Pos()), name)
				}
			}
			return true
		})
		return nil
	}
	for _, dir := range []string{".."} {
		if err := filepath.WalkDir(dir, join); err != nil {
			t.Fatal(err)
		}
	}
}

// called returns the name of the function that is called: f, p.f or .f of a longer expression.
func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if of, ok := f.X.(*ast.Ident); ok {
			return of.Name + "." + f.Sel.Name
		}
		return "." + f.Sel.Name
	}
	return ""
}
