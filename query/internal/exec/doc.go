// Package exec runs plans. A plan (plan.go) is steps, each of which joins one more source to
// those before, and closures over the row at hand (env.go, code.go); around the steps are groups,
// windows, orders and bounds. Plans are made by package plan.
package exec
