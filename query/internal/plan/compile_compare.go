package plan

import (
	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/values"
)

// compareAffinity returns the affinity that both sides of a comparison are converted to.
func compareAffinity(a, b values.Affinity) values.Affinity {
	switch {
	case a == values.NoAffinity:
		a = b
	case b == values.NoAffinity:
	case a.Numeric() || b.Numeric():
		return values.NumericAffinity
	default:
		return values.NoAffinity
	}
	if a.Numeric() {
		return values.NumericAffinity
	}
	return a
}

func (s *scope) comparison(x *syntax.Binary) exec.Code {
	a, b := s.compile(x.X), s.compile(x.Y)
	a, b = s.beside(a, b, x.X, x.Y)
	c := s.compareRead(x.Op, a, b)
	if x.Op == "=" {
		c.Sides = &[2]exec.Code{a, b}
	}
	return c
}

// compare compiles a comparison: =, <>, <, <=, > or >=. Each side is read in the unit of the other.
func (s *scope) compare(op string, a, b exec.Code, ax, bx syntax.Expr) exec.Code {
	a, b = s.beside(a, b, ax, bx)
	return s.compareRead(op, a, b)
}

// compareRead compares sides that have been read.
func (s *scope) compareRead(op string, a, b exec.Code) exec.Code {
	c := exec.Over(a, b)
	c.Prefix = false
	holds := outcomes[op]
	affinity := compareAffinity(a.Affinity, b.Affinity)
	if v, ok := b.ConstantOf(); ok && !b.Sub {
		if c.Test = compareConstant(a, affinity.Apply(v), affinity, holds); c.Test != nil {
			return c.FromTest()
		}
	}
	left, right := a.Eval, b.Eval
	c.Test = func(e *exec.Env) values.Truth {
		v, w := left(e), right(e)
		if v.Kind() == values.Null || w.Kind() == values.Null {
			return values.Unknown
		}
		return values.TruthOf(holds[sign(values.Compare(affinity.Apply(v), affinity.Apply(w)))+1])
	}
	return c.FromTest()
}

// outcomes says which results of a comparison satisfy an operator.
var outcomes = map[string]*[3]bool{
	"=": {false, true, false}, "<>": {true, false, true},
	"<": {true, false, false}, "<=": {true, true, false},
	">": {false, false, true}, ">=": {false, true, true},
}

func outcome[T int64 | float64](holds *[3]bool, a, b T) values.Truth {
	switch {
	case a < b:
		return values.TruthOf(holds[0])
	case a > b:
		return values.TruthOf(holds[2])
	}
	return values.TruthOf(holds[1])
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

// compareConstant returns a fast path for a column and a constant of its type; nil for anything else.
func compareConstant(a exec.Code, v values.Value, affinity values.Affinity, holds *[3]bool,
) func(*exec.Env) values.Truth {
	left := a.Eval
	switch {
	case v.Kind() == values.Null:
		return func(*exec.Env) values.Truth { return values.Unknown }
	case v.Kind() == values.Integer && affinity != values.TextAffinity:
		n := v.Int64()
		return func(e *exec.Env) values.Truth {
			w := left(e)
			if w.Kind() != values.Integer {
				if w.Kind() == values.Null {
					return values.Unknown
				}
				return values.TruthOf(holds[sign(values.Compare(affinity.Apply(w), v))+1])
			}
			return outcome(holds, w.Int64(), n)
		}
	case v.Kind() == values.Real && affinity != values.TextAffinity:
		f := v.Float64()
		return func(e *exec.Env) values.Truth {
			w := left(e)
			if w.Kind() != values.Real {
				if w.Kind() == values.Null {
					return values.Unknown
				}
				return values.TruthOf(holds[sign(values.Compare(affinity.Apply(w), v))+1])
			}
			return outcome(holds, w.Float64(), f)
		}
	case v.Kind() == values.Text && a.Column && a.Affinity == values.TextAffinity &&
		holds[1] && !holds[0] && !holds[2]:
		text := v.Text()
		return func(e *exec.Env) values.Truth {
			w := left(e)
			if w.Kind() == values.Null {
				return values.Unknown
			}
			return values.TruthOf(w.Kind() == values.Text && w.Text() == text)
		}
	}
	return nil
}

// is compiles IS and IS NOT: comparisons in which NULL is a value.
func (s *scope) is(x *syntax.Binary) exec.Code {
	not := x.Op == "IS NOT"
	if word, ok := isWord(x.Y); ok {
		a := s.compile(x.X)
		c := exec.Over(a)
		test, want := a.Condition(), values.TruthOf(word == "TRUE")
		c.Test = func(e *exec.Env) values.Truth { return values.TruthOf((test(e) == want) != not) }
		return c.FromTest()
	}
	a, b := s.compile(x.X), s.compile(x.Y)
	a, b = s.beside(a, b, x.X, x.Y)
	c := exec.Over(a, b)
	c.Prefix = false
	equal := s.compareRead("=", a, b).Test
	c.Test = func(e *exec.Env) values.Truth {
		v, w := a.Eval(e), b.Eval(e)
		if v.Kind() == values.Null || w.Kind() == values.Null {
			return values.TruthOf((v.Kind() == w.Kind()) != not)
		}
		return values.TruthOf((equal(e) == values.Yes) != not)
	}
	return c.FromTest()
}

func (s *scope) between(x *syntax.Between) exec.Code {
	a := s.compile(x.X)
	lo, hi := s.compile(x.Lo), s.compile(x.Hi)
	above, below := s.compare(">=", a, lo, x.X, x.Lo), s.compare("<=", a, hi, x.X, x.Hi)
	c := exec.Over(a, lo, hi)
	c.Test = func(e *exec.Env) values.Truth {
		t := above.Test(e)
		if t != values.No {
			if w := below.Test(e); w == values.No || t == values.Yes {
				t = w
			}
		}
		if x.Not {
			t = t.Not()
		}
		return t
	}
	if !x.Not {
		c.Pass = func(e *exec.Env) values.Truth {
			if above.Test(e) != values.Yes {
				return values.No
			}
			return below.Test(e)
		}
	}
	return c.FromTest()
}
