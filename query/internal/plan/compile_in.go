package plan

import (
	"slices"

	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/values"
)

func (s *scope) in(x *syntax.In) exec.Code {
	a := s.compile(x.X)
	if x.Sub != nil {
		return s.inSubquery(x, a)
	}
	affinity := compareAffinity(a.Affinity, values.NoAffinity)
	items := make([]exec.Code, len(x.List))
	for i, item := range x.List {
		items[i] = s.compile(item)
		s.vocabulary(items[i], a, item)
	}
	all := append(items, a)
	s.unify(all, append(slices.Clone(x.List), x.X))
	items, a = all[:len(x.List)], all[len(x.List)]
	c := exec.Over(append(items, a)...)
	if m, ok := constantSet(items, affinity); ok {
		c.Test = func(e *exec.Env) values.Truth { return m.has(affinity.Apply(a.Eval(e)), x.Not) }
		return c.FromTest()
	}
	c.Test = func(e *exec.Env) values.Truth {
		v := affinity.Apply(a.Eval(e))
		result := values.No
		for _, item := range items {
			w := affinity.Apply(item.Eval(e))
			if v.Kind() == values.Null || w.Kind() == values.Null {
				result = values.Unknown
			} else if values.Compare(v, w) == 0 {
				result = values.Yes
				break
			}
		}
		if x.Not {
			result = result.Not()
		}
		return result
	}
	return c.FromTest()
}

// members is the set of values on the right of IN.
type members struct {
	values map[values.Value]struct{}
	null   bool
}

func (m *members) add(v values.Value) {
	if v.Kind() == values.Null {
		m.null = true
		return
	}
	if m.values == nil {
		m.values = make(map[values.Value]struct{})
	}
	m.values[values.Normal(v)] = struct{}{}
}

// has is v [NOT] IN the set.
func (m *members) has(v values.Value, not bool) values.Truth {
	t := values.No
	if _, ok := m.values[values.Normal(v)]; ok {
		t = values.Yes
	} else if m.null || v.Kind() == values.Null && len(m.values) > 0 {
		t = values.Unknown
	}
	if not {
		t = t.Not()
	}
	return t
}

func constantSet(items []exec.Code, affinity values.Affinity) (*members, bool) {
	m := &members{}
	for i := range items {
		v, ok := items[i].ConstantOf()
		if !ok || items[i].Sub {
			return nil, false
		}
		m.add(affinity.Apply(v))
	}
	return m, true
}
