package query

import (
	"strconv"
	"strings"
)

// canon writes an expression such that two that mean the same columns are the same
// text.
func (s *scope) canon(x Expr) string {
	switch x := x.(type) {
	case *exactColumn:
		return "#" + strconv.Itoa(x.at.src.slot) + "." + strconv.Itoa(x.at.col)
	case *mergedColumn:
		return "merged " + lowerASCII(x.Name)
	case *ColumnRef:
		if f, ok := s.local(x); ok {
			if s.mergedOf(x, f) != nil {
				return "merged " + lowerASCII(x.Name)
			}
			return "#" + strconv.Itoa(f.src.slot) + "." + strconv.Itoa(f.col)
		}
		if alias := s.aliasOf(x); alias != nil && !s.using[alias] {
			s.using[alias] = true
			defer delete(s.using, alias)
			return s.canon(alias)
		}
		return x.String()
	case *Subquery, *Exists:
		return x.String()
	case *Literal, *Param:
		return x.String()
	}
	var b strings.Builder
	b.WriteString(shape(x) + "(")
	for _, child := range children(x) {
		b.WriteString(s.canon(child) + ",")
	}
	if in, ok := x.(*In); ok && in.Sub != nil {
		b.WriteString(in.Sub.String())
	}
	return b.String() + ")"
}

// shape is what an expression is, its operands apart.
func shape(x Expr) string {
	switch x := x.(type) {
	case *Unary:
		return x.Op
	case *Binary:
		return x.Op
	case *Between:
		return "between" + strconv.FormatBool(x.Not)
	case *In:
		return "in" + strconv.FormatBool(x.Not)
	case *Match:
		return "match" + strconv.FormatBool(x.Not) + x.word() + strconv.FormatBool(x.Escape != nil)
	case *Case:
		return "case" + strconv.FormatBool(x.X != nil) + strconv.FormatBool(x.Else != nil)
	case *Cast:
		return "cast" + x.To.String()
	case *Call:
		return x.Name + strconv.FormatBool(x.Distinct) + strconv.FormatBool(x.Star) + strconv.FormatBool(x.Filter != nil) + shapeOfCall(x)
	case *RowValue:
		return "row"
	case *Collate:
		return "collate" + x.To.String()
	}
	return "?"
}

// shapeOfCall tells apart calls by their orders and windows.
func shapeOfCall(x *Call) string {
	out := ""
	for i := range x.OrderBy {
		out += "order" + strconv.FormatBool(x.OrderBy[i].Desc) + strconv.Itoa(int(x.OrderBy[i].Nulls))
	}
	if x.Over != nil {
		out += "over" + x.Over.String()
	}
	return out
}
