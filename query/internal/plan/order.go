package plan

import (
	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/values"
)

// plainOrder compiles a term of an order other than that of the result.
func (s *scope) plainOrder(t *syntax.OrderTerm) exec.OrderKey {
	code := s.compile(t.X)
	return exec.OrderKey{Column: -1, Code: code, Desc: t.Desc, Nulls: t.Nulls, Words: t.String()}
}

// ordering compiles ORDER BY.
func (s *scope) ordering(p *exec.Plan, x *syntax.Select, list []syntax.ResultColumn) {
	for i := range x.OrderBy {
		t := &x.OrderBy[i]
		k := exec.OrderKey{Column: -1, Desc: t.Desc, Nulls: t.Nulls, Words: t.String()}
		expr := t.X
		if n, ok := ordinal(expr); ok {
			if n < 1 || n > int64(len(list)) {
				s.c.fail(expr, "ORDER BY %d: there are %d result columns", n, len(list))
			}
			k.Column = int(n - 1)
		} else if ref, ok := expr.(*syntax.ColumnRef); ok && ref.Table == "" {
			for at := range list {
				if k.Column < 0 && list[at].Alias != "" && values.Lower(list[at].Alias) == values.Lower(ref.Name) {
					k.Column = at
				}
			}
		}
		if k.Column < 0 {
			canon := s.canon(expr)
			for at := range list {
				if k.Column < 0 && s.canon(list[at].X) == canon {
					k.Column = at
				}
			}
		}
		if k.Column < 0 {
			if p.Distinct {
				s.c.fail(expr, "with DISTINCT, ORDER BY takes result columns only")
			}
			k.Code = s.compile(expr)
		}
		p.Order = append(p.Order, k)
	}
}
