package query

import "github.com/placectl/placectl/query/tables"

// Names for the interfaces of package tables, which documents them.
type (
	// Table is a table as queries see it.
	Table = tables.Table
	// Column describes a column of a table.
	Column = tables.Column
	// Row gives the columns of one row. They are decoded when asked for.
	Row = tables.Row
	// Cursor goes through rows. As a Row it is the current one.
	Cursor = tables.Cursor
	// Coded is a row that knows the codes of columns with a Domain.
	Coded = tables.Coded
	// Counted is a table that knows how many rows it has.
	Counted = tables.Counted
	// Sized is a table that knows roughly how many rows it has.
	Sized = tables.Sized
	// Keyed is a table that finds the rows with a given value in a column.
	Keyed = tables.Keyed
	// Ordered is a table whose rows are sorted by an integer column.
	Ordered = tables.Ordered
	// Indexed is a table that knows sets of its rows without reading rows.
	Indexed = tables.Indexed
	// Ranged is a table that also has an order by other integer columns.
	Ranged = tables.Ranged
	// Range is where the rows of a Ranged table are.
	Range = tables.Range
	// Catalog is where tables come from.
	Catalog = tables.Catalog
	// Viewer is a Catalog with views.
	Viewer = tables.Viewer
	// Function is a table function.
	Function = tables.Function
	// Memory is a table in memory.
	Memory = tables.Memory
	// IndexedMemory is a table in memory with an index of some of its columns.
	IndexedMemory = tables.IndexedMemory
	// Find is a condition on one column that a table may be able to answer.
	Find = tables.Find
	// FindOp is the operator of a Find.
	FindOp = tables.FindOp
	// Unit is the unit of a column's numbers.
	Unit = tables.Unit
)

// The conditions of a Find.
const (
	FindEqual  = tables.FindEqual
	FindPrefix = tables.FindPrefix
	FindHas    = tables.FindHas
)

// The units.
const (
	NoUnit   = tables.NoUnit
	Time     = tables.Time
	Duration = tables.Duration
	Bytes    = tables.Bytes
	Truth    = tables.Truth
	Nodes    = tables.Nodes
	List     = tables.List
	UTC      = tables.UTC
	Amount   = tables.Amount
)
