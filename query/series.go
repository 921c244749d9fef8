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

// called goes through the rows that a table function makes of its arguments.
func (st *step) called(e *env, try func() error) error {
	args := make([]Value, len(st.src.args))
	for i := range args {
		args[i] = st.src.args[i].eval(e)
	}
	if e.err != nil {
		return e.err
	}
	c, err := st.src.fn.Rows(args)
	if err != nil {
		return st.src.place(err)
	}
	return st.cursor(e, c, try)
}

// series is generate_series(from, to [, step]) of integers, times or durations; both
// ends are in it.
type series struct{ unit Unit }

func (s series) Columns() []Column {
	return []Column{{Name: "value", Type: IntegerAffinity, Unit: s.unit, NotNull: true, Doc: "from the first to the last, step by step"}}
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

// Rows counts; nothing for NULL. A step of nothing is one of 1, as in SQLite.
func (s series) Rows(args []Value) (Cursor, error) {
	c := &seriesCursor{step: 1}
	for i, v := range args {
		if v.kind == Null {
			return &memoryCursor{at: -1}, nil
		}
		*[...]*int64{&c.at, &c.to, &c.step}[i] = v.asInt()
	}
	if c.step == 0 {
		c.step = 1
	}
	return c, nil
}

type seriesCursor struct {
	at, to, step int64
	begun, over  bool
}

func (c *seriesCursor) Next() bool {
	if c.begun {
		next := c.at + c.step
		c.over = c.over || (next > c.at) != (c.step > 0)
		c.at = next
	}
	c.begun = true
	return !c.over && (c.step > 0 && c.at <= c.to || c.step < 0 && c.at >= c.to)
}

func (c *seriesCursor) Column(int) Value { return Int(c.at) }
func (c *seriesCursor) Err() error       { return nil }
