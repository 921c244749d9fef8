package tables

import (
	"iter"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/values"
)

// Column describes a column of a table.
type Column struct {
	Name    string
	Type    values.Affinity // the type of its values; they may be NULL unless NotNull is set
	Unit    Unit
	NotNull bool
	JSON    bool // its texts are JSON, as json_object writes it
	Doc     string
	// Domain names a set of numbered texts; "" for none. In columns of the same domain, texts are equal
	// exactly if the codes of their rows are (Coded).
	Domain string
	// Refuse says why a text compared with the column makes no sense, such as a word that the
	// column never has, or returns nil. Refuse itself may be nil.
	Refuse func(text string) error
}

// Coded is a row that knows the codes of columns with a Domain.
type Coded interface {
	Code(column int) uint32
}

// Row gives the columns of one row. They are decoded when asked for.
type Row interface {
	Column(i int) values.Value
}

// Cursor goes through rows. As a Row it is the current one.
type Cursor interface {
	Row
	// Next goes to the next row. After false, Err says why.
	Next() bool
	Err() error
}

// Table is a table as this package sees it.
type Table interface {
	Columns() []Column
	// Scan goes through all rows. For an Indexed table it goes through a set of rows, ascending; nil is
	// all.
	Scan(rows *roaring.Bitmap) Cursor
}

// Counted is a table that knows how many rows it has.
type Counted interface {
	Count() int
}

// Sized is a table that knows roughly how many rows it has.
type Sized interface {
	Size() int
}

// Keyed is a table that finds the rows with a given value in a column without reading the others; ok is
// false if it cannot for that column. The value has been converted to the column's type if possible.
type Keyed interface {
	Lookup(column int, v values.Value) (c Cursor, ok bool)
}

// Ordered is a table whose rows are sorted by an integer column. Reading can begin and end anywhere in
// it.
type Ordered interface {
	Table
	// Order returns that column.
	Order() int
	// Range goes through the rows with a value between from and to.
	Range(from, to int64) Cursor
}

// Indexed is a table that knows sets of its numbered rows without reading rows. The sets are read-only,
// and valid as long as the table.
type Indexed interface {
	Table
	// All returns all rows.
	All() *roaring.Bitmap
	// Split divides all rows into disjoint parts. In each part each of the columns has one value. ok is
	// false if the table cannot do so for those columns.
	Split(columns []int) (parts iter.Seq2[Row, *roaring.Bitmap], ok bool)
	// Find returns the rows that satisfy a condition on one column; ok is false if the table would have
	// to read rows.
	Find(f Find) (rows *roaring.Bitmap, ok bool)
}

// Ranged is a table that also has an order by other integer columns.
type Ranged interface {
	Indexed
	// Between returns where the rows are that have a value between from and to in a column. ok is false
	// if the table does not know, or if they are so many that reading all rows takes no longer.
	Between(column int, from, to int64) (where Range, ok bool)
}

// Range says where rows are, possibly with others between them: in a set, or nil, and among the rows
// numbered From..To. The numbers are values of the column by which the table is sorted.
type Range struct {
	Rows     *roaring.Bitmap
	From, To int64
}

// Find is a condition on one column that a table may be able to answer.
type Find struct {
	Column int
	Op     FindOp
	Value  values.Value
}

// FindOp is the operator of a Find.
type FindOp uint8

// The conditions of a Find.
const (
	FindEqual  FindOp = iota
	FindPrefix        // text that begins with the value
	FindHas           // list, joined by commas, that contains the value
)

// Catalog is where tables come from.
type Catalog interface {
	// Table finds a table as it is or will be at an instant, NULL for now; nil if there is none of that
	// name.
	Table(name string, at values.Value) (Table, error)
	// Function finds a table function with a number of arguments; nil if there is none of that name.
	Function(name string, args int) (Function, error)
	// Names lists the tables and the table functions, the latter with a ( after the name.
	Names() []string
	// Literal reads a text as a number in a unit: '64GiB', '2h', '2026-11-20 10:00'.
	Literal(u Unit, text string) (values.Value, error)
}

// Viewer is a Catalog with views: named queries, used if no table has the name.
type Viewer interface {
	// View finds a view, or nil. While the catalog is valid it is always the same.
	View(name string) (*syntax.View, error)
}

// Function is a table function.
type Function interface {
	Columns() []Column
	// Rows calls it. It may be called many times.
	Rows(args []values.Value) (Cursor, error)
}

// RowValues is a row in memory.
type RowValues []values.Value

// Column returns a value of the row.
func (r RowValues) Column(i int) values.Value { return r[i] }

// NullRow stands for the missing partner of a row in a LEFT JOIN.
type NullRow struct{}

func (NullRow) Column(int) values.Value { return values.Value{} }
