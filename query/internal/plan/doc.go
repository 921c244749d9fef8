// Package plan makes plans of syntax trees: it finds what names mean (scope.go, from.go), makes
// closures of expressions (compile*.go, calls.go) that read units as they are meant (units.go),
// turns conditions into sets of rows where tables know them (pushdown.go), and decides in which
// order and how tables are joined (joins.go).
package plan
