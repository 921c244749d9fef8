package kernel

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

// asked are the fields of function type that callers of package store set, because only they
// know or decide these things. Nothing else is passed down as a function: packages take the
// transaction, and those below them.
var asked = []string{"Options.Now", "Options.Warn", "Options.LocksFail", "Options.Copied", "Options.Detail",
	"Options.Local", "Options.UIDOf", "Options.Present", "Options.Sign", "Actor.Member",
	"settingDef.read", "Alteration.Payload", "CycleSpec.Enough", "PlaySpec.Done", "PlaySpec.Runs", "Step.How",
	"Step.change", "Findings.report", "LoadOptions.Wrong", "LoadOptions.Last", "SalvageOptions.Last",
	"Config.Detail", "File.Committed",
	"scan.row", "scan.lost", "scan.only", // a reader of pages, and what it is made for
	// Declarations of rows: their keys, forms and indexes.
	"Kind.fields", "Index.Key", "Index.Nth", "Index.Value", "Count.Key", "Stored.Key", "Stored.Encode", "Stored.Borrow",
	// Declarations of SQL tables: how a column is read, and how rows are found.
	"getter.get", "nodeGetter.bucket", "nodeGetter.get", "listFunction.gather", "listTable.gather", "orderedTable.part",
	"queryTable.make",
	"rowsTable.open", "rowsTable.read", "tableFunction.make"}

// above are the packages of internal/ that are not below package engine: they execute jobs, and programs use them.
var above = []string{"engine", "attend", "detect", "dispatch", "hook", "keeper", "launch", "outname", "people", "work"}

// TestLayers: nothing embeds the transaction, and no struct below package engine has a field of
// function type, except declarations and fields that callers set.
func TestLayers(t *testing.T) {
	t.Parallel()
	var found []string
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			slices.Contains(above, filepath.Base(filepath.Dir(path))) {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			structure, ok := spec.Type.(*ast.StructType)
			if !ok {
				return true
			}
			for _, f := range structure.Fields.List {
				if len(f.Names) == 0 && strings.HasSuffix(typeName(f.Type), "Tx") {
					t.Errorf("%s: %s embeds a transaction", path, spec.Name.Name)
				}
				if _, is := f.Type.(*ast.FuncType); !is {
					continue
				}
				for _, name := range f.Names {
					field := spec.Name.Name + "." + name.Name
					if found = append(found, field); !slices.Contains(asked, field) {
						t.Errorf("%s: %s is a function", path, field)
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range asked {
		if !slices.Contains(found, field) {
			t.Errorf("%s is no function any more", field)
		}
	}
}

// typeName returns the name of a type, without its package.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}
