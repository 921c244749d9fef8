package tables

import (
	"slices"
	"sync"

	"github.com/placectl/placectl/query"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/store/internal/row"
)

// Kept is what a handle that stays open keeps in memory: columns of tables that queries
// have read whole, for as long as the file is as it was. From a handle's second query on
// columns are kept; who asks once and goes pays nothing.
type Kept struct {
	mu      sync.Mutex
	queries int
	version row.Sums // of the file
	tables  map[string]*tables.Vectors
	bytes   int
}

// mostKept bounds the memory that columns take, in bytes.
const mostKept = 256 << 20

// Tables is of how many tables there are columns.
func (k *Kept) Tables() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return len(k.tables)
}

// asked counts a query.
func (k *Kept) asked() {
	k.mu.Lock()
	k.queries++
	k.mu.Unlock()
}

// at drops what is of another state of the file; not ok where what there is is newer.
func (k *Kept) at(version row.Sums) bool {
	if k.version == version {
		return true
	}
	if k.version.Transaction > version.Transaction && k.tables != nil {
		return false
	}
	k.version, k.tables, k.bytes = version, make(map[string]*tables.Vectors), 0
	return true
}

// find is columns of a table, nil where not all are kept. may says that they may be read.
func (k *Kept) find(table string, version row.Sums, columns []int) (v *tables.Vectors, may bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.at(version) {
		return nil, false
	}
	v = k.tables[table]
	if v == nil || slices.ContainsFunc(columns, func(i int) bool { return v.Columns[i] == nil }) {
		v = nil
	}
	return v, k.queries > 1
}

// add keeps columns beside those of the table that there are.
func (k *Kept) add(table string, version row.Sums, v *tables.Vectors) *tables.Vectors {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.at(version) {
		return v
	}
	for _, column := range v.Columns {
		if column != nil {
			k.bytes += column.Bytes()
		}
	}
	if k.bytes > mostKept {
		k.version, k.tables, k.bytes = row.Sums{}, nil, 0
		return v
	}
	if old := k.tables[table]; old != nil && old.N == v.N {
		all := *v
		all.Columns = slices.Clone(old.Columns)
		for i, column := range v.Columns {
			if column != nil {
				all.Columns[i] = column
			}
		}
		v = &all
	}
	k.tables[table] = v
	return v
}

// kept is how a table's columns are kept: of which tables of the file its rows are made,
// and how they are read.
type kept struct {
	name    string
	of      []row.Table
	size    int // about how many rows
	columns []query.Column
	passing func(column int) bool // a column that time changes is never kept
	// whole goes through all rows; number is that of the row at hand, nil where they have none.
	whole func() (rows query.Cursor, number func() uint32)
}

// vectors finds columns among those that are kept, or reads them where that may be.
func (c *Catalog) vectors(t kept, columns []int, read bool) (*tables.Vectors, error) {
	k := c.src.Kept
	if k == nil || slices.ContainsFunc(columns, t.passing) {
		return nil, nil
	}
	version, ok := c.src.Rows.Version()
	if !ok || slices.ContainsFunc(t.of, c.src.Rows.Patched) {
		return nil, nil
	}
	v, may := k.find(t.name, version, columns)
	if v != nil || !may || !read {
		return v, nil
	}
	rows, number := t.whole()
	v, err := tables.Gather(t.columns, rows, columns, t.size, number)
	if err != nil || c.failed != nil { // that is told in the end
		return nil, err
	}
	return k.add(t.name, version, v), nil
}
