package oracle

import (
	"github.com/placectl/placectl/query"
	"github.com/placectl/placectl/query/tables"
)

// Columns is a table whose columns are in memory, as those of a handle are that was asked
// before.
type Columns struct{ query.IndexedMemory }

// Vectors are the columns, made anew each time.
func (t *Columns) Vectors(columns []int, read bool) (*tables.Vectors, error) {
	number := uint32(0)
	count := func() uint32 { number++; return number - 1 }
	return tables.Gather(t.Columns(), t.Scan(nil), columns, len(t.Rows), count)
}
