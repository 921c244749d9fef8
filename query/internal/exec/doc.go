// Package exec runs plans. A plan (plan.go) is steps, each of which joins one more source to
// those before, and closures over the row at hand (env.go, code.go); around the steps are groups,
// windows, orders and bounds. Plans are made by package plan.
//
// Where a table has columns in memory (tables.Vectored) a step goes through them in blocks
// (blocks.go): comparisons, groups, joins and the first rows of an order are loops over columns
// then, where they are no more than that; what is left runs row by row over the same columns.
package exec
