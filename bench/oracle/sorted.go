package oracle

import (
	"math"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/query"
)

// Sorted is a table whose first column is the number of each row, and that knows more or
// less where the rows are whose values in its other columns of integers are some.
type Sorted struct{ query.IndexedMemory }

// Order is the first column.
func (t *Sorted) Order() int { return 0 }

// Range goes through the rows with some numbers.
func (t *Sorted) Range(from, to int64) query.Cursor {
	rows := roaring.New()
	for i := range t.Rows {
		if from <= int64(i) && int64(i) <= to {
			rows.Add(uint32(i))
		}
	}
	return t.Scan(rows)
}

// Between finds what it may by the column and, as it is not exact, each fourth row beside it.
// Of an odd column it tells only between which rows they are.
func (t *Sorted) Between(column int, from, to int64) (query.Range, bool) {
	if column == 0 || t.Cols[column].Type != query.IntegerAffinity {
		return query.Range{}, false
	}
	out := query.Range{Rows: roaring.New(), From: math.MaxInt64, To: math.MinInt64}
	for i, row := range t.Rows {
		v := row[column]
		hit := v.Kind() == query.Integer && from <= v.Int64() && v.Int64() <= to
		if hit || i%4 == 3 {
			out.Rows.Add(uint32(i))
			out.From, out.To = min(out.From, int64(i)), int64(i)
		}
	}
	if column%2 == 1 {
		out.Rows = nil
	}
	return out, true
}
