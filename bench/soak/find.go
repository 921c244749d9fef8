package main

import (
	"errors"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// test is a random test.
type test struct {
	name string
	dir  string // the folder of its package
}

// find finds the random tests below a folder whose names match a pattern, in the named packages or in
// all.
func find(root, pattern string, packages []string) ([]test, error) {
	match, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	for i, p := range packages {
		packages[i] = filepath.Clean(p)
	}
	var out []test
	err = filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if dir != root && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") ||
			strings.HasPrefix(d.Name(), "_")) {
			return fs.SkipDir
		}
		if len(packages) > 0 && !slices.Contains(packages, dir) {
			return nil
		}
		names, err := randomTests(dir)
		for _, name := range names {
			if match.MatchString(name) {
				out = append(out, test{name, dir})
			}
		}
		return err
	})
	if err == nil && len(out) == 0 {
		err = errors.New("there is no such random test; packages are folders below this one, as in ./store")
	}
	return out, err
}

// randomTests finds the tests of a package that lead to rapid's checks, or to a function named seeded,
// which by convention draws random numbers from RAPID_SEED.
func randomTests(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return nil, err
	}
	uses := make(uses)
	for _, name := range files {
		if built, err := build.Default.MatchFile(dir, filepath.Base(name)); err != nil || !built {
			if err != nil {
				return nil, err
			}
			continue // tests of another build
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
				uses.add(f)
			}
		}
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(uses)) {
		if strings.HasPrefix(name, "Test") && uses.leads(name, map[string]bool{}) {
			out = append(out, name)
		}
	}
	return out, nil
}

// uses holds the names used in the body of each function of a package. Methods of the same name count as
// one. So a test may wrongly be taken for random, which costs time but hides nothing.
type uses map[string]map[string]bool

func (u uses) add(f *ast.FuncDecl) {
	names := u[f.Name.Name]
	if names == nil {
		names = make(map[string]bool)
		u[f.Name.Name] = names
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "rapid" {
				names["rapid."+n.Sel.Name] = true
				return false
			}
		case *ast.Ident:
			names[n.Name] = true
		}
		return true
	})
}

// leads reports whether a function leads to random numbers.
func (u uses) leads(name string, seen map[string]bool) bool {
	if name == "seeded" || name == "rapid.Check" || name == "rapid.MakeCheck" {
		return true
	}
	if seen[name] {
		return false
	}
	seen[name] = true
	for used := range u[name] {
		if u.leads(used, seen) {
			return true
		}
	}
	return false
}
