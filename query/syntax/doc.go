// Package syntax parses statements into a syntax tree, and writes a tree as text. Text becomes tokens
// (lexer.go), and these a tree (parser.go, parse_*.go) of the nodes in tree.go, sets.go and window.go.
// The package does not know what a name means.
package syntax
