package exec

import (
	"github.com/placectl/placectl/index/heap"
	"github.com/placectl/placectl/query/values"
)

// ORDER BY with a LIMIT by a column of numbers that is in memory: a first pass finds the value
// that the last of the first rows has, and only rows that are not behind it are looked at.

// top is the order of the first rows that are wanted.
type top struct {
	column, rows int
	desc         bool
}

// topOf is what the only step of a plan may leave out, nil for nothing.
func (p *Plan) topOf(rows int) *top {
	if len(p.Steps) != 1 || len(p.Final) > 0 || p.Group != nil || p.Windows != nil || rows < 0 {
		return nil
	}
	key := &p.Order[0]
	code := &key.Code
	if key.Column >= 0 {
		code = &p.Out[key.Column]
	}
	if st := p.Steps[0]; !code.Column || code.Slot != st.Src.Slot || len(st.After)+len(st.On) > 0 {
		return nil
	}
	return &top{code.Col, rows, key.Desc}
}

// bound makes a comparison of that, which leaves out rows alone that are not among the first.
func (t *top) bound(b *blocks) {
	v := b.of.Columns[t.column]
	if len(b.others) > 0 || v.Nulls != nil || t.rows == 0 {
		return
	}
	c := Comparison{Column: t.column, Holds: [3]bool{!t.desc, true, t.desc}}
	switch v.Kind {
	case values.Integer:
		n, ok := lastOf(b, v.Ints, t)
		if c.With = values.Int(n); !ok {
			return
		}
	case values.Real:
		f, ok := lastOf(b, v.Floats, t)
		if c.With = values.Float(f); !ok {
			return
		}
	default:
		return
	}
	b.loops, b.words = append(b.loops, c), append(b.words, nil)
}

// lastOf is the value of the last of the first rows; not ok where there are fewer.
func lastOf[T int64 | float64](b *blocks, list []T, t *top) (last T, ok bool) {
	first := heap.New(func(x, y *T) bool { return (*x > *y) != t.desc })
	b.each(nil, func(rows []int32) error { //nolint:errcheck // without a budget there is none
		for _, row := range rows {
			x := list[row]
			switch {
			case first.Len() < t.rows:
				first.Push(x)
			case t.desc && x > last || !t.desc && x < last:
				*first.First() = x
				first.Fix()
			default:
				continue
			}
			last = *first.First()
		}
		return nil
	})
	return last, first.Len() == t.rows
}
