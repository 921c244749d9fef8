// Package exec runs plans. A plan (plan.go) is a list of steps that each join one more source, and
// closures over the current row (env.go, code.go). Grouping, windows, order and limits come on top.
// Package plan makes plans.
package exec
