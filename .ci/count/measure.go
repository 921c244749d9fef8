package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"path"
	"strings"
	"unicode/utf8"
)

// measure counts the code lines of a file of Go, and lists the lines that are too long.
func measure(text []byte) (code int, over []int, err error) {
	set := token.NewFileSet()
	file := set.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, func(at token.Position, why string) { err = fmt.Errorf("%d: %s", at.Line, why) }, 0)
	on, quoted := map[int]bool{}, map[int]bool{}
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			break
		}
		if tok == token.SEMICOLON && lit == "\n" {
			continue
		}
		first := file.Line(pos)
		for line := first; line <= first+strings.Count(lit, "\n"); line++ {
			on[line] = true
			quoted[line] = quoted[line] || strings.HasPrefix(lit, "`")
		}
	}
	number := 0
	for line := range bytes.Lines(text) {
		number++
		line = bytes.TrimSuffix(line, []byte("\n"))
		if utf8.RuneCount(line)+3*bytes.Count(line, []byte("\t")) > columns && !quoted[number] {
			over = append(over, number)
		}
	}
	return len(on), over, err
}

// exported adds the exported names of a file: types, functions, values, methods of exported types, and fields of
// exported structs.
func exported(names map[string]bool, name string, text []byte) error {
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	add := func(of string, idents ...*ast.Ident) {
		for _, id := range idents {
			if id.IsExported() {
				names[path.Dir(name)+" "+of+id.Name] = true
			}
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				add("", d.Name)
			} else if of := receiver(d.Recv.List[0].Type); ast.IsExported(of) {
				add(of+".", d.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					add("", s.Names...)
				case *ast.TypeSpec:
					add("", s.Name)
					if body, ok := s.Type.(*ast.StructType); ok && s.Name.IsExported() {
						for _, f := range body.Fields.List {
							add(s.Name.Name+".", f.Names...)
						}
					}
				}
			}
		}
	}
	return nil
}

// receiver is the name of the type that a method belongs to.
func receiver(of ast.Expr) string {
	for {
		switch e := of.(type) {
		case *ast.StarExpr:
			of = e.X
		case *ast.IndexExpr:
			of = e.X
		case *ast.IndexListExpr:
			of = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}
