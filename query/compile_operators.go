package query

func (s *scope) unary(x *Unary) code {
	a := s.compile(x.X)
	c := over(a)
	if x.Op != "NOT" && a.unit == Time && x.Op != "+" || x.Op == "~" && a.unit.measured() {
		s.c.fail(x, "%s of %s means nothing", x.Op, a.unit.shown())
	}
	c.prefix = x.Op != "NOT" && (c.prefix || x.Op != "+" && a.isPrefix())
	switch x.Op {
	case "NOT":
		test := a.condition()
		c.test = func(e *env) truth { return test(e).not() }
		return c.fromTest()
	case "-":
		c.eval = func(e *env) Value { return negate(a.eval(e)) }
		if a.unit == Duration || a.unit == Bytes {
			c.unit = a.unit
		}
	case "+":
		c.eval, c.unit, c.named = a.eval, a.unit, a.named
	case "~":
		c.eval = func(e *env) Value {
			v := a.eval(e)
			if v.kind == Null {
				return v
			}
			return Int(^v.asInt())
		}
	}
	return c
}

func (s *scope) binary(x *Binary) code {
	switch x.Op {
	case "AND", "OR":
		return s.logic(x)
	case "=", "<>", "<", "<=", ">", ">=":
		return s.comparison(x)
	case "IS", "IS NOT":
		return s.is(x)
	}
	a, b := s.compile(x.X), s.compile(x.Y)
	if x.Op == "||" {
		s.onlyText("||", a, x.X)
		s.onlyText("||", b, x.Y)
		c := over(a, b)
		c.eval = func(e *env) Value {
			v, w := a.eval(e), b.eval(e)
			if v.kind == Null || w.kind == Null {
				return Value{}
			}
			return e.text(v.String() + w.String())
		}
		return c
	}
	if x.Op == "->" || x.Op == "->>" {
		return s.jsonArrow(x, a, b)
	}
	return s.arithmetic(x, a, b)
}

func (s *scope) logic(x *Binary) code {
	a, b := s.compile(x.X), s.compile(x.Y)
	c := over(a, b)
	l, r := a.condition(), b.condition()
	lp, rp := a.passing(), b.passing()
	if x.Op == "AND" {
		c.pass = func(e *env) truth {
			if lp(e) != yes {
				return no
			}
			return rp(e)
		}
		c.test = func(e *env) truth {
			v := l(e)
			if v == no {
				return no
			}
			switch w := r(e); {
			case w == no:
				return no
			case v == yes:
				return w
			}
			return unknown
		}
		return c.fromTest()
	}
	c.pass = func(e *env) truth {
		if lp(e) == yes {
			return yes
		}
		return rp(e)
	}
	c.test = func(e *env) truth {
		v := l(e)
		if v == yes {
			return yes
		}
		switch w := r(e); {
		case w == yes:
			return yes
		case v == no:
			return w
		}
		return unknown
	}
	return c.fromTest()
}

func (s *scope) caseCode(x *Case) code {
	var base code
	var ifs []func(*env) truth
	var whens, thens, parts []code
	var results []Expr
	if x.X != nil {
		base = s.compile(x.X)
		parts = append(parts, base)
	}
	for _, w := range x.Whens {
		then := s.compile(w.Then)
		if x.X != nil {
			when := s.compile(w.If)
			ifs, whens = append(ifs, s.compare("=", base, when, x.X, w.If).test), append(whens, when)
		} else {
			when := s.compile(w.If)
			ifs, whens = append(ifs, when.condition()), append(whens, when)
		}
		thens, results = append(thens, then), append(results, w.Then)
	}
	if x.Else != nil {
		thens, results = append(thens, s.compile(x.Else)), append(results, x.Else)
	}
	unit := s.unify(thens, results)
	for i := range thens {
		if i < len(whens) {
			parts = append(parts, whens[i])
		}
		parts = append(parts, thens[i])
	}
	c := over(parts...)
	c.unit = unit
	otherwise := constant(Value{})
	if x.Else != nil {
		otherwise = thens[len(thens)-1]
	}
	c.eval = func(e *env) Value {
		for i, test := range ifs {
			if test(e) == yes {
				return thens[i].eval(e)
			}
		}
		return otherwise.eval(e)
	}
	return c
}

func (s *scope) cast(x *Cast) code {
	a := s.compile(x.X)
	c := over(a)
	c.affinity = x.To
	if x.To != TextAffinity && a.unit != UTC {
		c.unit = a.unit
	}
	c.prefix = c.prefix || x.To.numeric() && a.isPrefix()
	c.eval = func(e *env) Value { return x.To.cast(a.eval(e)) }
	return c
}

// jsonArrow compiles -> and ->>.
func (s *scope) jsonArrow(x *Binary, a, b code) code {
	s.onlyText(x.Op, a, x.X)
	c := over(a, b)
	c.json = x.Op == "->"
	c.eval = func(e *env) Value { return jsonAt(&e.budget, a.eval(e), b.eval(e), !c.json) }
	return c
}
