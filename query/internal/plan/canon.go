package plan

import (
	"strconv"
	"strings"

	"github.com/placectl/placectl/query/syntax"
)

// canon writes an expression so that expressions with the same columns become the same text.
func (s *scope) canon(x syntax.Expr) string {
	switch x := x.(type) {
	case *exactColumn:
		return "#" + strconv.Itoa(x.at.src.Slot) + "." + strconv.Itoa(x.at.col)
	case *syntax.ColumnRef:
		if f, ok := s.local(x); ok {
			return "#" + strconv.Itoa(f.src.Slot) + "." + strconv.Itoa(f.col)
		}
		if alias := s.aliasOf(x); alias != nil && !s.using[alias] {
			s.using[alias] = true
			defer delete(s.using, alias)
			return s.canon(alias)
		}
		return x.String()
	case *syntax.Subquery, *syntax.Exists:
		return x.String()
	case *syntax.Literal, *syntax.Param:
		return x.String()
	}
	var b strings.Builder
	b.WriteString(shape(x) + "(")
	for _, child := range syntax.Children(x) {
		b.WriteString(s.canon(child) + ",")
	}
	if in, ok := x.(*syntax.In); ok && in.Sub != nil {
		b.WriteString(in.Sub.String())
	}
	return b.String() + ")"
}

// shape describes an expression without its operands.
func shape(x syntax.Expr) string {
	switch x := x.(type) {
	case *syntax.Unary:
		return x.Op
	case *syntax.Binary:
		return x.Op
	case *syntax.Between:
		return "between" + strconv.FormatBool(x.Not)
	case *syntax.In:
		return "in" + strconv.FormatBool(x.Not)
	case *syntax.Match:
		return "match" + strconv.FormatBool(x.Not) + x.Word() + strconv.FormatBool(x.Escape != nil)
	case *syntax.Case:
		return "case" + strconv.FormatBool(x.X != nil) + strconv.FormatBool(x.Else != nil)
	case *syntax.Cast:
		return "cast" + x.To.String()
	case *syntax.Call:
		return x.Name + strconv.FormatBool(x.Distinct) + strconv.FormatBool(x.Star) + strconv.FormatBool(
			x.Filter != nil) + shapeOfCall(x)
	}
	return "?"
}

// shapeOfCall tells calls apart by their orders and windows.
func shapeOfCall(x *syntax.Call) string {
	out := ""
	for i := range x.OrderBy {
		out += "order" + strconv.FormatBool(x.OrderBy[i].Desc) + strconv.Itoa(int(x.OrderBy[i].Nulls))
	}
	if x.Over != nil {
		out += "over" + x.Over.String()
	}
	return out
}
