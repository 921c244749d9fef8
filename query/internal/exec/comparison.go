package exec

import (
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// Comparison is a condition on one column that is known to be about a constant: where the
// column is in memory it is decided for many rows in one loop. NULL meets none but Null.
type Comparison struct {
	Slot   int // of whose source
	Column int
	Holds  [3]bool           // for values that are less, equal and greater
	With   values.Value      // an Integer or a Real
	Text   func(string) bool // of texts: what they must be; With means nothing then
	Null   bool              // IS NULL, or with Not IS NOT NULL: nothing else means anything
	Not    bool
}

// fits reports whether the comparison can be made on a vector.
func (c *Comparison) fits(v *tables.Vector) bool {
	switch {
	case v.Mixed != nil:
		return false
	case c.Null || v.Kind == values.Null:
		return true
	case c.Text != nil:
		return v.Kind == values.Text && len(v.Words) <= max(256, 2*len(v.Codes))
	case v.Kind == values.Real && c.With.Kind() == values.Integer:
		n := c.With.Int64()
		return n > -1<<53 && n < 1<<53
	}
	return v.Kind == c.With.Kind()
}

// keep keeps those of the rows for which the comparison holds.
func (c *Comparison) keep(v *tables.Vector, rows []int32, words []bool) []int32 {
	switch {
	case c.Null:
		return keepNulls(v.Nulls, rows, !c.Not)
	case v.Kind == values.Null:
		return rows[:0]
	}
	if v.Nulls != nil {
		rows = keepNulls(v.Nulls, rows, false)
	}
	switch {
	case c.Text != nil:
		n := 0
		for _, row := range rows {
			rows[n] = row
			if words[v.Codes[row]] {
				n++
			}
		}
		return rows[:n]
	case v.Kind == values.Integer:
		return keepCompared(v.Ints, rows, c.With.Int64(), &c.Holds)
	case c.With.Kind() == values.Integer:
		return keepCompared(v.Floats, rows, float64(c.With.Int64()), &c.Holds)
	}
	return keepCompared(v.Floats, rows, c.With.Float64(), &c.Holds)
}

func keepNulls(nulls []bool, rows []int32, want bool) []int32 {
	if nulls == nil {
		if want {
			return rows[:0]
		}
		return rows
	}
	n := 0
	for _, row := range rows {
		rows[n] = row
		if nulls[row] == want {
			n++
		}
	}
	return rows[:n]
}

// keepCompared compares with a number: one loop for each operator, without a branch in it
// that depends on the data.
func keepCompared[T int64 | float64](list []T, rows []int32, with T, holds *[3]bool) []int32 {
	n := 0
	switch *holds {
	case [3]bool{true, true, false}, [3]bool{true, false, false}:
		for _, row := range rows {
			rows[n] = row
			if x := list[row]; x < with || x == with && holds[1] {
				n++
			}
		}
	case [3]bool{false, true, true}, [3]bool{false, false, true}:
		for _, row := range rows {
			rows[n] = row
			if x := list[row]; x > with || x == with && holds[1] {
				n++
			}
		}
	default:
		for _, row := range rows {
			rows[n] = row
			x := list[row]
			if x < with && holds[0] || x > with && holds[2] || x == with && holds[1] {
				n++
			}
		}
	}
	return rows[:n]
}

// words decides a comparison of texts for each text that the column has.
func (c *Comparison) words(v *tables.Vector) []bool {
	if c.Text == nil || c.Null {
		return nil
	}
	out := make([]bool, len(v.Words))
	for i, word := range v.Words {
		out[i] = c.Text(word)
	}
	return out
}
