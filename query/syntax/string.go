package syntax

import (
	"strconv"
	"strings"

	"github.com/placectl/placectl/query/values"
)

// writer writes a tree as text. It puts operators below operators in parentheses, so that precedence
// does not matter.
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
	if s.View != nil {
		return s.View.String()
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
	out := inner(x.X) + negated(x.Not) + " " + x.Word() + " " + inner(x.Y)
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

func (x *Call) String() string {
	args := list(x.Args)
	switch {
	case x.Star:
		args = "*"
	case x.Distinct:
		args = "DISTINCT " + args
	}
	if len(x.OrderBy) > 0 {
		args += " ORDER BY " + terms(x.OrderBy)
	}
	out := x.Name + "(" + args + ")"
	if x.Filter != nil {
		out += " FILTER (WHERE " + x.Filter.String() + ")"
	}
	if x.Over != nil {
		out += " OVER " + x.Over.String()
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

// inner writes an operand. An operator, or a number with a sign, is in parentheses.
func inner(x Expr) string {
	switch v := x.(type) {
	case *Unary, *Binary, *Between, *In, *Match:
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

// quoteName writes a name, in quotes if necessary.
func quoteName(s string) string {
	plain := s != "" && isWordStart(s[0]) && !reserved()[values.Upper(s)] && !softWords()[values.Upper(s)]
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
	if s.With != nil {
		w.WriteString(s.With.String() + " ")
	}
	w.core(s)
	for _, arm := range s.Rest {
		w.WriteString(setWords[arm.Op])
		w.core(arm.Select)
	}
	if len(s.OrderBy) > 0 {
		w.WriteString(" ORDER BY " + terms(s.OrderBy))
	}
	w.clause(" LIMIT ", s.Limit)
	w.clause(" OFFSET ", s.Offset)
}

func (w *writer) core(s *Select) {
	if s.Values != nil {
		w.WriteString("VALUES ")
		for i, row := range s.Values {
			w.WriteString([]string{"(", ", ("}[min(i, 1)] + list(row) + ")")
		}
		return
	}
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
	if len(s.From) > 0 {
		w.WriteString(" FROM ")
		w.fromList(s.From)
	}
	w.clause(" WHERE ", s.Where)
	if len(s.GroupBy) > 0 {
		w.WriteString(" GROUP BY " + list(s.GroupBy))
	}
	w.clause(" HAVING ", s.Having)
	for i := range s.Windows {
		w.WriteString([]string{" WINDOW ", ", "}[min(i, 1)] + quoteName(s.Windows[i].Name) + " AS " +
			s.Windows[i].body())
	}
}

func terms(all []OrderTerm) string {
	parts := make([]string, len(all))
	for i := range all {
		parts[i] = all[i].String()
	}
	return strings.Join(parts, ", ")
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

// fromList writes tables, and the words that join them.
func (w *writer) fromList(all []FromItem) {
	for i := range all {
		if i > 0 {
			w.WriteString(joinWords[all[i].Join])
		}
		w.from(&all[i])
	}
}

func (w *writer) from(f *FromItem) {
	switch {
	case f.Sub != nil:
		w.WriteString("(" + f.Sub.String() + ")")
	default:
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
