// Package values holds SQL's values, as SQLite has them: four kinds, how one becomes another,
// how they compare, what operators make of them, and how patterns match. It is pure: each
// function depends on its arguments alone.
package values
