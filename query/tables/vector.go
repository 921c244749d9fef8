package tables

import (
	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/query/values"
)

// Vectored is a table that may have whole columns in memory: one that is asked again and
// again by a process that goes on.
type Vectored interface {
	Table
	// Vectors gives columns whole, in the order in which Scan goes through all rows; nil
	// where they are not in memory. With read they are read and kept, if they can be.
	Vectors(columns []int, read bool) (*Vectors, error)
}

// Vectors are columns of a table, as they are at one instant. Nobody changes them.
type Vectors struct {
	N       int       // rows
	Columns []*Vector // by their numbers in the table; nil for those that were not asked for
	Numbers []uint32  // of the rows of an Indexed table, ascending; nil where the first is 0, and so on
}

// Positions lists where rows of an Indexed table are, nil for a nil set: all.
func (v *Vectors) Positions(rows *roaring.Bitmap) []int32 {
	if rows == nil {
		return nil
	}
	out := make([]int32, 0, rows.GetCardinality())
	at := 0
	for it := rows.Iterator(); it.HasNext(); {
		number := it.Next()
		if v.Numbers == nil {
			out = append(out, int32(number))
			continue
		}
		for at < len(v.Numbers) && v.Numbers[at] < number {
			at++
		}
		if at < len(v.Numbers) && v.Numbers[at] == number {
			out = append(out, int32(at))
		}
	}
	return out
}

// Vector is one column: of a kind of values, each in a list of its own type, or of several.
type Vector struct {
	Kind   values.Kind // Integer, Real or Text; Null where there are several: then they are in Mixed
	Ints   []int64
	Floats []float64
	Codes  []uint32 // of texts, which are Words[code]
	Words  []string
	Domain string // that of the column, whose codes these are then
	Nulls  []bool // which rows have none; nil where all have one
	Mixed  []values.Value
}

// At is the value of a row.
func (v *Vector) At(i int) values.Value {
	if v.Nulls != nil && v.Nulls[i] {
		return values.Value{}
	}
	switch v.Kind {
	case values.Integer:
		return values.Int(v.Ints[i])
	case values.Real:
		return values.Float(v.Floats[i])
	case values.Text:
		return values.String(v.Words[v.Codes[i]])
	}
	return v.Mixed[i]
}

// Bytes is about how much memory it takes.
func (v *Vector) Bytes() int {
	n := 8*(len(v.Ints)+len(v.Floats)) + 4*len(v.Codes) + len(v.Nulls) + 32*len(v.Mixed)
	for _, w := range v.Words {
		n += 16 + len(w)
	}
	return n
}

// VectorRow is a row of vectors, that At.
type VectorRow struct {
	Of *Vectors
	At int
}

// Column is a value of the row.
func (r *VectorRow) Column(i int) values.Value { return r.Of.Columns[i].At(r.At) }

// Code is the code of a column with a Domain.
func (r *VectorRow) Code(column int) uint32 { return r.Of.Columns[column].Codes[r.At] }
