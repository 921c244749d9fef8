package query

import (
	"iter"

	"github.com/RoaringBitmap/roaring/v2"
)

// A view, or a subquery in FROM, that only names some columns of one table and takes some
// of its rows as a set is read as that table, so that conditions on it become sets of
// rows, too, and its rows are not made anew. Others are run, and their results read.

// flat is the table that a plan is a part of, false for one that has to be run.
func (p *selectPlan) flat() (Table, bool) {
	if len(p.steps) != 1 || p.group != nil || p.windows != nil || p.distinct || p.limited || len(p.order) > 0 || len(p.once)+len(p.final) > 0 || p.outer != 0 || p.noIndex {
		return nil, false
	}
	st := p.steps[0]
	if st.src.table == nil || st.method != scanJoin || st.span != nil || len(st.filters)+len(st.on)+len(st.after)+len(st.asked) > 0 {
		return nil, false
	}
	part := partTable{table: st.src.table, rows: st.rows}
	names := map[string]bool{}
	for i := range p.out {
		c := &p.out[i]
		name := lowerASCII(p.columns[i].Name)
		if !c.column || c.collated || c.slot != st.src.slot || names[name] {
			return nil, false
		}
		names[name] = true
		col := st.src.columns[c.col]
		col.Name = p.columns[i].Name
		part.columns, part.of = append(part.columns, col), append(part.of, c.col)
	}
	if indexed, ok := st.src.table.(Indexed); ok {
		return &indexedPart{part, indexed}, true
	}
	return &part, part.rows == nil
}

// flatten reads a source's query as a table where it is one.
func (s *scope) flatten(src *source) bool {
	p, ok := src.sub.(*selectPlan)
	if !ok {
		return false
	}
	table, ok := p.flat()
	if !ok {
		return false
	}
	src.sub, src.table, src.columns = nil, table, table.Columns()
	return true
}

// partTable is some columns of a table, and some of its rows.
type partTable struct {
	table   Table
	columns []Column
	of      []int // which of the table's each is
	rows    *roaring.Bitmap
}

func (t *partTable) Columns() []Column { return t.columns }

func (t *partTable) Scan(rows *roaring.Bitmap) Cursor {
	switch {
	case rows == nil:
		rows = t.rows
	case t.rows != nil:
		rows = roaring.And(rows, t.rows)
	}
	return t.cursor(t.table.Scan(rows))
}

func (t *partTable) cursor(c Cursor) Cursor { return &partCursor{partRow{t.of, c}, c} }

// Lookup finds the rows with a value where the table does, and all of its rows are meant.
func (t *partTable) Lookup(column int, v Value) (Cursor, bool) {
	keyed, ok := t.table.(Keyed)
	if !ok || t.rows != nil {
		return nil, false
	}
	c, ok := keyed.Lookup(t.of[column], v)
	if !ok {
		return nil, false
	}
	return t.cursor(c), true
}

// Size is about how many rows there are.
func (t *partTable) Size() int {
	if t.rows != nil {
		return int(t.rows.GetCardinality())
	}
	switch known := t.table.(type) {
	case Counted:
		return known.Count()
	case Sized:
		return known.Size()
	}
	return unknownSize
}

// partRow is a row of it.
type partRow struct {
	of  []int
	row Row
}

func (r *partRow) Column(i int) Value { return r.row.Column(r.of[i]) }

// Code is asked of columns with a Domain.
func (r *partRow) Code(column int) uint32 { return r.row.(Coded).Code(r.of[column]) }

type partCursor struct {
	partRow
	cursor Cursor
}

func (c *partCursor) Next() bool { return c.cursor.Next() }
func (c *partCursor) Err() error { return c.cursor.Err() }

// indexedPart is one of a table that knows sets of its rows.
type indexedPart struct {
	partTable
	indexed Indexed
}

func (t *indexedPart) within(rows *roaring.Bitmap) *roaring.Bitmap {
	if t.rows == nil {
		return rows
	}
	return roaring.And(rows, t.rows)
}

func (t *indexedPart) All() *roaring.Bitmap {
	if t.rows != nil {
		return t.rows
	}
	return t.indexed.All()
}

func (t *indexedPart) Find(f Find) (*roaring.Bitmap, bool) {
	f.Column = t.of[f.Column]
	rows, ok := t.indexed.Find(f)
	if !ok {
		return nil, false
	}
	return t.within(rows), true
}

func (t *indexedPart) Split(columns []int) (iter.Seq2[Row, *roaring.Bitmap], bool) {
	of := make([]int, len(columns))
	for i, c := range columns {
		of[i] = t.of[c]
	}
	parts, ok := t.indexed.Split(of)
	if !ok {
		return nil, false
	}
	return func(yield func(Row, *roaring.Bitmap) bool) {
		for row, rows := range parts {
			if rows = t.within(rows); !rows.IsEmpty() && !yield(&partRow{t.of, row}, rows) {
				return
			}
		}
	}, true
}
