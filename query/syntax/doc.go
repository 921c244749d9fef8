// Package syntax makes a tree of the text of statements, and text of a tree again. text becomes
// tokens (lexer.go), those a tree (parser.go, parse_*.go) of the nodes in tree.go, sets.go and
// window.go. What a name means is not known here.
package syntax
