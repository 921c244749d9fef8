package query

import (
	"context"
	"errors"
	"fmt"
	"iter"
)

// Options are what statements run with. The zero value works.
type Options struct {
	Args   []Value          // positional parameters
	Named  map[string]Value // the others, without their sign
	Limits Limits
	// Now is the clock in Unix seconds, for date('now') and the like; nil where there
	// is none.
	Now func() int64
	// Ahead is by how many seconds the clocks of 'localtime' are ahead of UTC at an instant;
	// nil where that is not known.
	Ahead func(at int64) int
	// Views are queries with names, to be used as tables, by their names in lower case.
	Views map[string]*View
	// Nanos is a clock for EXPLAIN ANALYZE; nil leaves times out.
	Nanos func() int64
	// NoIndex looks at every row, for tests.
	NoIndex bool
	// Progress is told now and then how many rows more were looked at; it may be nil.
	Progress func(rows int64)
	// Context ends a run early.
	Context context.Context
	// Input recognises errors of the Catalog that are about what was asked for; they
	// get a position. Nil: all are.
	Input func(error) bool
}

func (o *Options) context() context.Context {
	if o.Context == nil {
		return context.Background()
	}
	return o.Context
}

// toUTC is the instant at which the clocks of 'localtime' show what t is in UTC.
func (o *Options) toUTC(t instant) instant {
	guess := t - instant(o.Ahead(t.seconds())*1000)
	return t - instant(o.Ahead(guess.seconds())*1000)
}

func (o *Options) isInput(err error) bool { return o.Input == nil || o.Input(err) }

// Stmt is a statement made ready to run on the tables of a catalog, for as long as
// those last.
type Stmt struct {
	c       *compiler
	plan    *selectPlan
	explain bool
	analyze bool
}

// Prepare makes a statement of a text ready. An error in it is an *Error.
func Prepare(catalog Catalog, text string, statement *Statement, opt Options) (s *Stmt, err error) {
	defer rescue(&err)
	if statement.Select == nil {
		return nil, &Error{text, statement.Pos(), "views are for the shell and for files of statements; a query by itself has none"}
	}
	c := &compiler{text: text, catalog: catalog, opt: opt}
	s = &Stmt{c: c, explain: statement.Explain, analyze: statement.Analyze}
	s.plan = c.compileSelect(statement.Select, nil)
	return s, nil
}

// Columns describes the answer.
func (s *Stmt) Columns() []Column {
	if s.explain {
		return []Column{{Name: "plan", Type: TextAffinity}}
	}
	return s.plan.columns
}

// errEnough is a reader who has seen enough.
var errEnough = errors.New("no more rows are wanted")

// Rows runs the statement. A row lasts until the next one. The last pair may be an
// error; then it is the only one without a row.
func (s *Stmt) Rows() iter.Seq2[[]Value, error] {
	return func(yield func([]Value, error) bool) {
		if s.explain {
			s.explained(yield)
			return
		}
		err := s.run(func(row []Value) error {
			if !yield(row, nil) {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(nil, err)
		}
	}
}

// run runs the plan.
func (s *Stmt) run(emit func([]Value) error) error {
	e := &env{ctx: s.c.opt.context(), progress: s.c.opt.Progress, limits: s.c.opt.Limits.orDefault(), row: make([]Row, s.c.nslots), made: make([]Value, s.c.nmade)}
	var answered int64
	if err := e.check(); err != nil {
		return err
	}
	err := s.plan.run(e, func(row []Value) error {
		s.plan.counts.rows++
		if answered += rowBytes(row); answered > e.limits.Bytes {
			return &LimitError{"bytes held or answered", e.limits.Bytes}
		}
		return emit(row)
	})
	var at *Error
	if errors.As(err, &at) && at.Text == "" {
		at.Text = s.c.text
	}
	if err == errOverflow {
		err = fmt.Errorf("%w: %w", ErrQuery, err)
	}
	return err
}
