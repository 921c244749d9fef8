// Package query answers SQL queries about tables, which it knows only through a small interface. It is
// the front of other packages:
//
//	fault               errors in a text, with their place, and limits
//	values              SQL's values, as SQLite has them
//	syntax              text -> tokens -> a syntax tree, and back to text
//	tables              the interface of tables: rows, and what tables know about them
//	internal/dates      instants on the calendar
//	internal/functions  the functions of SQL, over values
//	internal/plan       a tree -> a plan: names, units, bitmaps, joins
//	internal/exec       a plan -> rows: closures over rows whose columns are decoded
//	                    when they are used
//
// The dialect is a strict subset of SQLite's. What it accepts means the same as there, NULL, types and
// rounding included. It refuses everything else with an Error that gives the place. A few words are our
// own: sizes, durations and times as text compared with columns of such a unit, nodelist, in_nodelist
// and has, AT after a table, and table functions.
//
// It is fast because a table may know, without reading rows, how its rows divide into parts in which
// some columns have one value each (Indexed.Split). A condition on those columns is decided once for
// each part, whatever it computes. The result is a union of bitmaps. AND and OR of conditions become AND
// and OR of bitmaps, and counting rows reads a cardinality. internal/plan/pushdown.go has the rest. If a
// table has an order by a column (Ordered, Ranged), comparisons with constants bound what is read.
//
// Nothing here reads files or clocks, and nothing can change a table.
package query
