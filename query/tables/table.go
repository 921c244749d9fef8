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
	Type    values.Affinity // what its values are; NULL beside those, unless NotNull
	Unit    Unit
	NotNull bool
	JSON    bool             // its texts are JSON, as json_object makes it
	Collate values.Collation // by which its texts are compared where nothing else is said
	Doc     string
	// Domain names a set of texts that are numbered: in columns of the same domain texts
	// are equal exactly where the codes of their rows are (Coded). "" for none.
	Domain string
	// Refuse says why a text that the column is compared with cannot be meant, such as a
	// word that is none of those it can have; nil if it can. It may be nil itself.
	Refuse func(text string) error
}

// Coded is a row that knows the codes of its columns that have a Domain.
type Coded interface {
	Code(column int) uint32
}

// Row gives the columns of one row, decoded when they are asked for.
type Row interface {
	Column(i int) values.Value
}

// Cursor goes through rows; as a Row it is the one it stands on.
type Cursor interface {
	Row
	// Next goes to the next row. After false Err tells why.
	Next() bool
	Err() error
}

// Table is a table as this package sees it.
type Table interface {
	Columns() []Column
	// Scan goes through all rows, or for an Indexed table through those of a set,
	// ascending; nil is all.
	Scan(rows *roaring.Bitmap) Cursor
}

// Counted is a table that knows how many rows it has.
type Counted interface {
	Count() int
}

// Sized is a table that knows about how many rows it has.
type Sized interface {
	Size() int
}

// Keyed is a table that finds the rows with a value in a column without looking at
// the others; not ok where it cannot for that column. The value has been converted to
// the column's type where that was possible.
type Keyed interface {
	Lookup(column int, v values.Value) (c Cursor, ok bool)
}

// Ordered is a table whose rows are in the order of a column of integers, and that can
// begin and end anywhere in it.
type Ordered interface {
	Table
	// Order is that column.
	Order() int
	// Range goes through the rows whose value there is one of from..to.
	Range(from, to int64) Cursor
}

// Indexed is a table that knows sets of its rows, numbered, without looking at them.
// The sets are for reading only, and live as long as the table.
type Indexed interface {
	Table
	// All is every row.
	All() *roaring.Bitmap
	// Split divides the rows into disjoint parts that cover all of them, such that within each the
	// columns have one value each. ok is false if that is unknown for those columns.
	Split(columns []int) (parts iter.Seq2[Row, *roaring.Bitmap], ok bool)
	// Find returns the rows for which a condition on one column holds; ok is false if that would
	// need reading rows.
	Find(f Find) (rows *roaring.Bitmap, ok bool)
}

// Ranged is a table that has an order by columns of integers beside that of its rows.
type Ranged interface {
	Indexed
	// Between tells where the rows are whose value in a column is one of from..to; not ok
	// where that is not known for the column, or where they are so many that to go through
	// all rows takes no longer.
	Between(column int, from, to int64) (where Range, ok bool)
}

// Range is where rows are, possibly with others between them: a set of them, or nil, and the rows
// numbered From..To, which are the values in the column of the table's order.
type Range struct {
	Rows     *roaring.Bitmap
	From, To int64
}

// Countable is a table that knows how many rows each part of a Split has, without making sets of
// them.
type Countable interface {
	// Parts is as Split; a part's size is made out when it is asked for.
	Parts(columns []int) (parts iter.Seq2[Row, func() uint64], ok bool)
}

// Find is a condition on one column that a table may know the answer of.
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
	FindPrefix        // a text that begins with the value
	FindHas           // a list, joined by commas, that has the value
)

// Catalog is where tables come from.
type Catalog interface {
	// Table finds a table as it is or will be at an instant, NULL for now; nil when
	// there is none of that name.
	Table(name string, at values.Value) (Table, error)
	// Function finds a table function that takes so many arguments; nil when there is
	// none of that name.
	Function(name string, args int) (Function, error)
	// Names lists the tables, and the table functions with (.
	Names() []string
	// Literal reads a text as a number of a unit: '64GiB', '2h', '2026-11-20 10:00'.
	Literal(u Unit, text string) (values.Value, error)
}

// Viewer is a Catalog with views: named queries, used if no table has the name.
type Viewer interface {
	// View finds one, always the same while the catalog lasts; nil if there is none.
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

// Column is a value of the row.
func (r RowValues) Column(i int) values.Value { return r[i] }

// NullRow is what a LEFT JOIN puts beside a row that has no partner.
type NullRow struct{}

func (NullRow) Column(int) values.Value { return values.Value{} }
