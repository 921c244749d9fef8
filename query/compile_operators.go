package query

func (s *scope) unary(x *Unary) code {
	a := s.plain(x.X)
	c := over(a)
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
		c.eval, c.unit = a.eval, a.unit
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
	a, b := s.plain(x.X), s.plain(x.Y)
	c := over(a, b)
	op := arithmetic[x.Op]
	if x.Op == "||" {
		c.eval = func(e *env) Value {
			v, w := a.eval(e), b.eval(e)
			if v.kind == Null || w.kind == Null {
				return Value{}
			}
			return e.text(v.String() + w.String())
		}
		return c
	}
	c.unit = arithmeticUnit(x.Op, a.unit, b.unit)
	c.eval = func(e *env) Value { return op(a.eval(e), b.eval(e)) }
	return c
}

// arithmeticUnit is what the result of + - * / is of.
func arithmeticUnit(op string, a, b Unit) Unit {
	switch {
	case op == "-" && a == Time && b == Time:
		return Duration
	case (op == "+" || op == "-") && a == Time && b != Time:
		return Time
	case op == "+" && b == Time && a != Time:
		return Time
	case (op == "+" || op == "-") && a == b:
		return a
	case (op == "*" || op == "/") && b == NoUnit && a != Time && a != Truth:
		return a
	case op == "*" && a == NoUnit && b != Time && b != Truth:
		return b
	}
	return NoUnit
}

func (s *scope) logic(x *Binary) code {
	a, b := s.plain(x.X), s.plain(x.Y)
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
	var thens, parts []code
	if x.X != nil {
		base = s.compile(x.X)
		parts = append(parts, base)
	}
	for _, w := range x.Whens {
		then := s.plain(w.Then)
		if x.X != nil {
			when := s.compile(w.If)
			ifs, parts = append(ifs, s.compare(x, "=", base, when, x.X, w.If).test), append(parts, when)
		} else {
			when := s.plain(w.If)
			ifs, parts = append(ifs, when.condition()), append(parts, when)
		}
		thens, parts = append(thens, then), append(parts, then)
	}
	otherwise := constant(Value{})
	if x.Else != nil {
		otherwise = s.plain(x.Else)
		parts = append(parts, otherwise)
	}
	c := over(parts...)
	c.unit = thens[0].unit
	for _, then := range thens {
		if then.unit != c.unit {
			c.unit = NoUnit
		}
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
	a := s.plain(x.X)
	c := over(a)
	c.affinity = x.To
	if x.To != TextAffinity {
		c.unit = a.unit
	}
	c.eval = func(e *env) Value { return x.To.cast(a.eval(e)) }
	return c
}
