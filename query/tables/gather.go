package tables

import (
	"slices"

	"github.com/placectl/placectl/query/values"
)

// Gather makes vectors of what a cursor goes through, of so many rows or more. number
// tells the number of the row at hand, for an Indexed table; nil for others.
func Gather(table []Column, c Cursor, columns []int, size int, number func() uint32) (*Vectors, error) {
	out := &Vectors{Columns: make([]*Vector, len(table))}
	var makers []*gatherer
	coded, _ := c.(Coded)
	for _, i := range columns {
		g := &gatherer{column: i, vector: &Vector{Domain: table[i].Domain}}
		if g.vector.Domain != "" {
			if g.coded = coded; coded == nil {
				g.vector.Domain = ""
			}
		}
		out.Columns[i] = g.vector
		makers = append(makers, g)
	}
	for c.Next() {
		for _, g := range makers {
			g.add(c, out.N, size)
		}
		if number != nil {
			out.Numbers = append(out.Numbers, number())
		}
		out.N++
	}
	if n := len(out.Numbers); n > 0 && out.Numbers[n-1] == uint32(n-1) {
		out.Numbers = nil
	}
	return out, c.Err()
}

// gatherer makes a vector, row by row.
type gatherer struct {
	column int
	vector *Vector
	coded  Coded
	codes  map[string]uint32
	known  []bool // of a domain's codes: their words were read
}

func (g *gatherer) add(row Row, at, size int) {
	v := g.vector
	if g.coded != nil && v.Mixed == nil {
		g.addCode(row, size)
		return
	}
	x := row.Column(g.column)
	if v.Mixed != nil {
		v.Mixed = append(v.Mixed, x)
		return
	}
	kind := x.Kind()
	switch {
	case kind == values.Null:
		if v.Nulls == nil {
			v.Nulls = make([]bool, at, max(at+1, size))
		}
		v.Nulls = append(v.Nulls, true)
		g.room(size, v.Kind)
		v.Ints, v.Floats, v.Codes = grown(v.Ints, v.Kind == values.Integer), grown(v.Floats, v.Kind == values.Real), grown(v.Codes, v.Kind == values.Text)
		return
	case v.Kind == values.Null: // the first value: those before are NULL
		v.Kind = kind
		g.room(size, kind)
		v.Ints, v.Floats, v.Codes = filled(v.Ints, at, kind == values.Integer), filled(v.Floats, at, kind == values.Real), filled(v.Codes, at, kind == values.Text)
		if kind == values.Text && at > 0 {
			v.Words = append(v.Words, "")
		}
	case v.Kind != kind:
		g.mix(at, size)
		v.Mixed = append(v.Mixed, x)
		return
	}
	if v.Nulls != nil {
		v.Nulls = append(v.Nulls, false)
	}
	switch kind {
	case values.Integer:
		v.Ints = append(v.Ints, x.Int64())
	case values.Real:
		v.Floats = append(v.Floats, x.Float64())
	default:
		v.Codes = append(v.Codes, g.code(x.Text()))
	}
}

// room makes lists as long as they are going to be, about.
func (g *gatherer) room(size int, kind values.Kind) {
	v := g.vector
	switch {
	case kind == values.Integer && v.Ints == nil:
		v.Ints = make([]int64, 0, size)
	case kind == values.Real && v.Floats == nil:
		v.Floats = make([]float64, 0, size)
	case kind == values.Text && v.Codes == nil:
		v.Codes = make([]uint32, 0, size)
	}
}

// grown has one more, where it is the list in use.
func grown[T any](list []T, is bool) []T {
	if !is {
		return list
	}
	var none T
	return append(list, none)
}

// filled has so many of nothing, where it is the list in use.
func filled[T any](list []T, n int, is bool) []T {
	if !is {
		return list
	}
	return append(list, make([]T, n)...)
}

// code is the number of a text.
func (g *gatherer) code(text string) uint32 {
	code, ok := g.codes[text]
	if !ok {
		if g.codes == nil {
			g.codes = make(map[string]uint32)
		}
		code = uint32(len(g.vector.Words))
		g.codes[text] = code
		g.vector.Words = append(g.vector.Words, text)
	}
	return code
}

// addCode adds a value of a domain by its code.
func (g *gatherer) addCode(row Row, size int) {
	v := g.vector
	v.Kind = values.Text
	g.room(size, v.Kind)
	code := g.coded.Code(g.column)
	if int(code) >= len(g.known) {
		more := int(code) + 1 - len(g.known)
		g.known = slices.Grow(g.known, more)[:int(code)+1]
		v.Words = slices.Grow(v.Words, more)[:int(code)+1]
	}
	if !g.known[code] {
		g.known[code], v.Words[code] = true, row.Column(g.column).Text()
	}
	v.Codes = append(v.Codes, code)
}

// mix goes on with values of several kinds.
func (g *gatherer) mix(at, size int) {
	v := g.vector
	mixed := make([]values.Value, at, max(at+1, size))
	for i := range mixed {
		mixed[i] = v.At(i)
	}
	*v = Vector{Mixed: mixed}
}
