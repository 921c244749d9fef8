package plan

import (
	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/internal/functions"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// Table functions are called when their rows are needed: once, or, if arguments use columns, for each
// row of the tables before.

// function finds a table function and compiles its arguments.
func (s *scope) function(f *syntax.FromItem, src *source) {
	in := *s
	in.noAggs = "it needs rows"
	src.Args = in.all(f.Args)
	s.outer |= in.outer
	if values.Lower(f.Table) == "generate_series" {
		src.Fn = s.series(f, src.Args)
	} else {
		fn, err := s.c.catalog.Function(values.Lower(f.Table), len(f.Args))
		s.c.found(f, err)
		if fn == nil {
			s.c.noTable(f)
		}
		src.Fn = fn
	}
	src.Columns = src.Fn.Columns()
	src.Place = func(err error) error { return s.c.placed(f, err) }
}

// lateral reports whether the step calls a table function with columns, and sets how it is joined.
func (st *step) lateral() bool {
	if st.src.Fn == nil {
		return false
	}
	var uses exec.Slots
	for i := range st.src.Args {
		uses |= st.src.Args[i].Uses
	}
	st.Varies = st.Varies || uses != 0
	if uses != 0 {
		st.Method = exec.LateralJoin
	}
	return uses != 0
}

// series compiles generate_series.
func (s *scope) series(f *syntax.FromItem, args []exec.Code) tables.Function {
	if len(args) < 2 || len(args) > 3 {
		s.c.fail(f, "generate_series takes 2 to 3 arguments, not %d: from, to and step", len(args))
	}
	u := tables.NoUnit
	for i := range args[:2] {
		if args[i].Unit == tables.UTC {
			u = tables.Time
		}
		if args[i].Unit.Measured() {
			u = args[i].Unit
		}
	}
	if u == tables.NoUnit {
		u = s.seriesUnit(args, f.Args)
	}
	if u == tables.NoUnit {
		return functions.Series{}
	}
	step := u
	if u == tables.Time {
		step = tables.Duration
	}
	for i := range args {
		if i == 2 {
			args[i] = s.read(args[i], step, f.Args[i])
		} else {
			args[i] = s.read(args[i], u, f.Args[i])
		}
	}
	if len(args) == 2 {
		s.c.fail(f, "generate_series over %ss takes a step, such as %s", u, step.Written())
	}
	return functions.Series{Unit: u}
}

// seriesUnit returns the unit of ends given as texts: times if they can be read so, else durations.
func (s *scope) seriesUnit(args []exec.Code, xs []syntax.Expr) tables.Unit {
	for i := range args[:2] {
		v, ok := args[i].ConstantOf()
		if !ok || v.Kind() != values.Text {
			continue
		}
		if _, whole := values.LeadingNumber(v.Text()); whole {
			continue
		}
		if _, err := s.c.catalog.Literal(tables.Time, v.Text()); err == nil {
			return tables.Time
		}
		return tables.Duration
	}
	return tables.NoUnit
}
