package query

import (
	"strconv"
	"strings"
)

// writer puts a tree back into words. Operators below operators are in parentheses,
// so that nothing depends on how they bind.
type writer struct{ strings.Builder }

func text(f func(*writer)) string {
	var w writer
	f(&w)
	return w.String()
}

func (s *Statement) String() string {
	head := ""
	if s.Explain {
		head = "EXPLAIN "
	}
	if s.Analyze {
		head += "ANALYZE "
	}
	return head + s.Select.String()
}

func (s *Select) String() string       { return text(func(w *writer) { w.query(s) }) }
func (c *ResultColumn) String() string { return text(func(w *writer) { w.column(c) }) }
func (f *FromItem) String() string     { return text(func(w *writer) { w.from(f) }) }
func (o *OrderTerm) String() string    { return text(func(w *writer) { w.term(o) }) }
func (n Name) String() string          { return quoteName(n.Text) }

func (x *Literal) String() string {
	if x.Word != "" {
		return x.Word
	}
	return x.Value.Literal()
}

func (x *ColumnRef) String() string {
	if x.Table != "" {
		return quoteName(x.Table) + "." + quoteName(x.Name)
	}
	return quoteName(x.Name)
}

func (x *Param) String() string {
	if x.Name != "" {
		return x.Name
	}
	return "?" + strconv.Itoa(x.Number)
}

func (x *Unary) String() string {
	if x.Op == "NOT" {
		return "NOT " + inner(x.X)
	}
	return x.Op + inner(x.X)
}

func (x *Binary) String() string { return inner(x.X) + " " + x.Op + " " + inner(x.Y) }

func (x *Between) String() string {
	return inner(x.X) + negated(x.Not) + " BETWEEN " + inner(x.Lo) + " AND " + inner(x.Hi)
}

func (x *In) String() string {
	head := inner(x.X) + negated(x.Not) + " IN ("
	if x.Sub != nil {
		return head + x.Sub.String() + ")"
	}
	return head + list(x.List) + ")"
}

func (x *Match) String() string {
	op := " LIKE "
	if x.Glob {
		op = " GLOB "
	}
	out := inner(x.X) + negated(x.Not) + op + inner(x.Y)
	if x.Escape != nil {
		out += " ESCAPE " + inner(x.Escape)
	}
	return out
}

func (x *Case) String() string {
	out := "CASE"
	if x.X != nil {
		out += " " + x.X.String()
	}
	for _, arm := range x.Whens {
		out += " WHEN " + arm.If.String() + " THEN " + arm.Then.String()
	}
	if x.Else != nil {
		out += " ELSE " + x.Else.String()
	}
	return out + " END"
}

func (x *Cast) String() string     { return "CAST(" + x.X.String() + " AS " + x.To.String() + ")" }
func (x *Exists) String() string   { return "EXISTS (" + x.Sub.String() + ")" }
func (x *Subquery) String() string { return "(" + x.Sub.String() + ")" }
func (x *Collate) String() string  { return inner(x.X) + " COLLATE " + x.To.String() }

func (x *Call) String() string {
	args := list(x.Args)
	switch {
	case x.Star:
		args = "*"
	case x.Distinct:
		args = "DISTINCT " + args
	}
	out := x.Name + "(" + args + ")"
	if x.Filter != nil {
		out += " FILTER (WHERE " + x.Filter.String() + ")"
	}
	return out
}

func list(all []Expr) string {
	parts := make([]string, len(all))
	for i, x := range all {
		parts[i] = x.String()
	}
	return strings.Join(parts, ", ")
}

// inner is an operand: in parentheses where it is an operator itself, or a number
// with a sign.
func inner(x Expr) string {
	switch v := x.(type) {
	case *Unary, *Binary, *Between, *In, *Match, *Collate:
		return "(" + x.String() + ")"
	case *Literal:
		if strings.HasPrefix(v.String(), "-") {
			return "(" + x.String() + ")"
		}
	}
	return x.String()
}

func negated(not bool) string {
	if not {
		return " NOT"
	}
	return ""
}

// quoteName writes a name, in quotes where it has to be.
func quoteName(s string) string {
	plain := s != "" && isWordStart(s[0]) && !reserved[upperASCII(s)] && !softWords[upperASCII(s)]
	for i := 0; plain && i < len(s); i++ {
		plain = isWordPart(s[i])
	}
	if plain {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

func (w *writer) clause(head string, x Expr) {
	if x != nil {
		w.WriteString(head + x.String())
	}
}

func (w *writer) query(s *Select) {
	w.WriteString("SELECT ")
	if s.Distinct {
		w.WriteString("DISTINCT ")
	}
	for i := range s.Columns {
		if i > 0 {
			w.WriteString(", ")
		}
		w.column(&s.Columns[i])
	}
	for i := range s.From {
		if i == 0 {
			w.WriteString(" FROM ")
		}
		w.from(&s.From[i])
	}
	w.clause(" WHERE ", s.Where)
	if len(s.GroupBy) > 0 {
		w.WriteString(" GROUP BY " + list(s.GroupBy))
	}
	w.clause(" HAVING ", s.Having)
	for i := range s.OrderBy {
		w.WriteString([]string{" ORDER BY ", ", "}[min(i, 1)])
		w.term(&s.OrderBy[i])
	}
	w.clause(" LIMIT ", s.Limit)
	w.clause(" OFFSET ", s.Offset)
}

func (w *writer) column(c *ResultColumn) {
	switch {
	case c.Star && c.Table != "":
		w.WriteString(quoteName(c.Table) + ".*")
	case c.Star:
		w.WriteString("*")
	default:
		w.WriteString(c.X.String())
	}
	if c.Alias != "" {
		w.WriteString(" AS " + quoteName(c.Alias))
	}
}

var joinWords = [...]string{CommaJoin: ", ", InnerJoin: " JOIN ", CrossJoin: " CROSS JOIN ", LeftJoin: " LEFT JOIN "}

func (w *writer) from(f *FromItem) {
	if !strings.HasSuffix(w.String(), " FROM ") {
		w.WriteString(joinWords[f.Join])
	}
	if f.Sub != nil {
		w.WriteString("(" + f.Sub.String() + ")")
	} else {
		w.WriteString(quoteName(f.Table))
	}
	if f.Call {
		w.WriteString("(" + list(f.Args) + ")")
	}
	w.clause(" AT ", f.At)
	if f.Alias != "" {
		w.WriteString(" AS " + quoteName(f.Alias))
	}
	w.clause(" ON ", f.On)
	for i, n := range f.Using {
		w.WriteString([]string{" USING (", ", "}[min(i, 1)] + quoteName(n.Text))
	}
	if len(f.Using) > 0 {
		w.WriteString(")")
	}
}

func (w *writer) term(o *OrderTerm) {
	w.WriteString(o.X.String())
	if o.Desc {
		w.WriteString(" DESC")
	}
	w.WriteString([]string{"", " NULLS FIRST", " NULLS LAST"}[o.Nulls])
}
