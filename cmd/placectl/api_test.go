package main

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/doc"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var updateAPI = flag.Bool("update-api", false, "write docs/api.txt anew")

// public are the packages that other programs import.
var public = []string{"store", "runner", "store/attempts", "store/batches", "store/sqldriver", "store/storetest",
	"placer", "timeline", "index", "index/devices", "locality", "query", "query/values", "query/tables",
	"placer/fairshare", "placer/preempt", "placer/recur", "placer/subject"}

// TestAPI compares the declarations of the public packages with docs/api.txt: a change there is a change for other
// programs. And each exported name of package store and of those beside it has a comment.
func TestAPI(t *testing.T) {
	var api bytes.Buffer
	for _, name := range public {
		files := token.NewFileSet()
		var list []*ast.File
		paths, err := filepath.Glob(filepath.Join(root, name, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(files, path, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, f)
		}
		p, err := doc.NewFromFiles(files, list, module+name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&api, "# %s\n\n", name)
		say := func(what, comment string, decl ast.Decl) {
			if comment == "" && strings.HasPrefix(name, "store") {
				t.Errorf("%s: %s has no comment", name, what)
			}
			text := bytes.NewBuffer(nil)
			if err := format.Node(text, files, bare(decl)); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&api, "%s\n", text)
		}
		values := func(list []*doc.Value) {
			for _, v := range list {
				say(strings.Join(v.Names, ", "), v.Doc, v.Decl)
			}
		}
		functions := func(list []*doc.Func) {
			for _, f := range list {
				say(f.Name, f.Doc, f.Decl)
			}
		}
		values(p.Consts)
		values(p.Vars)
		functions(p.Funcs)
		for _, is := range p.Types {
			say(is.Name, is.Doc, is.Decl)
			values(is.Consts)
			values(is.Vars)
			functions(is.Funcs)
			functions(is.Methods)
		}
		api.WriteByte('\n')
	}
	path := filepath.Join(root, "docs", "api.txt")
	if *updateAPI {
		if err := os.WriteFile(path, api.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), api.String()); diff != "" {
		t.Errorf("the API differs from docs/api.txt; go test ./cmd/placectl -run TestAPI -update-api writes it:\n%s",
			diff)
	}
}

// bare removes comments and bodies from a declaration.
func bare(decl ast.Decl) ast.Decl {
	if f, ok := decl.(*ast.FuncDecl); ok {
		f.Doc, f.Body = nil, nil
		return f
	}
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			n.Doc = nil
		case *ast.Field:
			n.Doc, n.Comment = nil, nil
		case *ast.ValueSpec:
			n.Doc, n.Comment = nil, nil
		case *ast.TypeSpec:
			n.Doc, n.Comment = nil, nil
		}
		return true
	})
	return decl
}
