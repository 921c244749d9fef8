// Package query answers SQL about tables that it knows only through a small
// interface. It is the door to rooms of their own:
//
//	fault               errors: those of a text, with their place, and limits
//	values              SQL's values, as SQLite has them
//	syntax              text -> tokens -> a syntax tree, and its text again
//	tables              how tables are seen: rows, and what tables know of them
//	internal/dates      instants on the calendar
//	internal/functions  the functions of SQL, over values
//	internal/plan       a tree -> a plan: names, units, bitmaps, joins
//	internal/exec       a plan -> rows: closures over rows whose columns are decoded
//	                    when they are looked at
//
// The dialect is a strict subset of SQLite's: what is accepted means what it means
// there, NULL, types and rounding included, and what would not is refused with an
// Error that says where. A few words are our own: sizes, durations and times in
// strings compared with columns of such a unit, nodelist, in_nodelist and has,
// AT behind a table, and table functions.
//
// The idea that makes it fast: a table may know, without looking at rows, how its
// rows fall into parts in which some columns have one value each (Indexed.Split).
// A condition on those columns is decided once a part, whatever it computes, and
// what is left is the union of bitmaps; AND and OR of conditions become AND and OR
// of bitmaps, and counting rows reads a cardinality. internal/plan/pushdown.go has the
// rest. Where a table has an order by a column (Ordered, Ranged), what is compared with
// constants bounds what is read.
//
// Nothing here reads files or clocks, and nothing can change a table.
package query
