// Package values holds SQL's values, as in SQLite: their kinds, conversions, comparison, operators and
// patterns. It is pure: each function depends on its arguments alone.
package values
