package oracle

import (
	"math"

	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"

	"github.com/RoaringBitmap/roaring/v2"
)

// Sorted is a table whose first column is the number of each row. For other columns of integers it knows
// approximately which rows have given values.
type Sorted struct{ tables.IndexedMemory }

// Order returns the first column.
func (t *Sorted) Order() int { return 0 }

// Range returns the rows with a range of numbers.
func (t *Sorted) Range(from, to int64) tables.Cursor {
	rows := roaring.New()
	for i := range t.Rows {
		if from <= int64(i) && int64(i) <= to {
			rows.Add(uint32(i))
		}
	}
	return t.Scan(rows)
}

// Between returns the rows whose column may lie in a range. As an inexact index, it also returns each
// fourth of the other rows. For an odd column it only tells between which rows they are.
func (t *Sorted) Between(column int, from, to int64) (tables.Range, bool) {
	if column == 0 || t.Cols[column].Type != values.IntegerAffinity {
		return tables.Range{}, false
	}
	out := tables.Range{Rows: roaring.New(), From: math.MaxInt64, To: math.MinInt64}
	for i, row := range t.Rows {
		v := row[column]
		hit := v.Kind() == values.Integer && from <= v.Int64() && v.Int64() <= to
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
