// Package tables is how queries see tables: a small interface, which knows columns and rows, and
// those that tables may have beside it, which find rows without looking at the others. It holds
// tables in memory, too.
package tables
