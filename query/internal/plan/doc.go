// Package plan makes plans of syntax trees. It resolves names (scope.go, from.go) and compiles
// expressions to closures (compile*.go, calls.go) with units (units.go). It turns conditions into sets
// of rows if tables know them (pushdown.go), and decides how and in which order tables are joined
// (joins.go).
package plan
