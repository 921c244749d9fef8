package query

// Table functions are called when their rows are needed: once, or where their arguments
// look at columns for each row of the tables before.

// function finds a table function and compiles what it is called with.
func (s *scope) function(f *FromItem, src *source) {
	in := *s
	in.noAggs = "it needs rows"
	src.args = in.all(f.Args)
	s.outer |= in.outer
	if lowerASCII(f.Table) == "generate_series" {
		src.fn = s.series(f, src.args)
	} else {
		fn, err := s.c.catalog.Function(lowerASCII(f.Table), len(f.Args))
		s.c.found(f, err)
		if fn == nil {
			s.c.noTable(f)
		}
		src.fn = fn
	}
	src.columns = src.fn.Columns()
	src.place = func(err error) error { return s.c.placed(f, err) }
}

// lateral reports whether the step calls a table function with columns, and settles how
// it is joined.
func (st *step) lateral() bool {
	if st.src.fn == nil {
		return false
	}
	var uses slots
	for i := range st.src.args {
		uses |= st.src.args[i].uses
	}
	st.varies = st.varies || uses != 0
	if uses != 0 {
		st.method = lateralJoin
	}
	return uses != 0
}

// series compiles generate_series.
func (s *scope) series(f *FromItem, args []code) Function {
	if len(args) < 2 || len(args) > 3 {
		s.c.fail(f, "generate_series takes 2 to 3 arguments, not %d: from, to and step", len(args))
	}
	u := NoUnit
	for i := range args[:2] {
		if args[i].unit == UTC {
			u = Time
		}
		if args[i].unit.measured() {
			u = args[i].unit
		}
	}
	if u == NoUnit {
		u = s.seriesUnit(args, f.Args)
	}
	if u == NoUnit {
		return series{}
	}
	step := u
	if u == Time {
		step = Duration
	}
	for i := range args {
		if i == 2 {
			args[i] = s.read(args[i], step, f.Args[i])
		} else {
			args[i] = s.read(args[i], u, f.Args[i])
		}
	}
	if len(args) == 2 {
		s.c.fail(f, "generate_series over %ss takes a step, such as %s", u, step.written())
	}
	return series{u}
}

// seriesUnit is the unit of ends that are texts: times, or where they are none durations.
func (s *scope) seriesUnit(args []code, xs []Expr) Unit {
	for i := range args[:2] {
		v, ok := args[i].constantOf()
		if !ok || v.kind != Text {
			continue
		}
		if _, whole := leadingNumber(v.str); whole {
			continue
		}
		if _, err := s.c.catalog.Literal(Time, v.str); err == nil {
			return Time
		}
		return Duration
	}
	return NoUnit
}
