// Package exec runs plans. A plan (plan.go) is steps, each joining one more source to those before,
// and closures over the current row (env.go, code.go); around the steps are groups, windows, orders
// and bounds. Package plan makes plans.
package exec
