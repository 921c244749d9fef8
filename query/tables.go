package query

import "github.com/placectl/placectl/query/tables"

// What this package knows tables by; package tables says more of each.
type (
	// Table is a table as queries see it.
	Table = tables.Table
	// Column describes a column of a table.
	Column = tables.Column
	// Row gives the columns of one row, decoded when they are asked for.
	Row = tables.Row
	// Cursor goes through rows; as a Row it is the one it stands on.
	Cursor = tables.Cursor
	// Coded is a row that knows the codes of its columns that have a Domain.
	Coded = tables.Coded
	// Counted is a table that knows how many rows it has.
	Counted = tables.Counted
	// Sized is a table that knows about how many rows it has.
	Sized = tables.Sized
	// Keyed is a table that finds the rows with a value in a column.
	Keyed = tables.Keyed
	// Ordered is a table whose rows are in the order of a column of integers.
	Ordered = tables.Ordered
	// Indexed is a table that knows sets of its rows without looking at them.
	Indexed = tables.Indexed
	// Ranged is a table that has an order by columns of integers beside that of its rows.
	Ranged = tables.Ranged
	// Range is where rows of a Ranged table are.
	Range = tables.Range
	// Countable is a table that knows how many rows each of its parts has.
	Countable = tables.Countable
	// Catalog is where tables come from.
	Catalog = tables.Catalog
	// Viewer is a Catalog that has views.
	Viewer = tables.Viewer
	// Function is a table function.
	Function = tables.Function
	// Memory is a table in memory.
	Memory = tables.Memory
	// IndexedMemory is a table in memory that knows all about some of its columns.
	IndexedMemory = tables.IndexedMemory
	// Find is a condition on one column that a table may know the answer of.
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
