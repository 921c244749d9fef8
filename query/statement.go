package query

import (
	"errors"
	"iter"

	"github.com/placectl/placectl/query/fault"
	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/internal/functions"
	"github.com/placectl/placectl/query/internal/plan"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// Stmt is a statement prepared for the tables of a catalog. It is valid as long as they are.
type Stmt struct {
	ready   plan.Ready
	text    string
	opt     Options
	explain bool
	analyze bool
}

// Prepare prepares a statement of a text. An error in the statement is an *Error.
func Prepare(catalog tables.Catalog, text string, statement *syntax.Statement, opt Options) (*Stmt, error) {
	if statement.Select == nil {
		return nil, &fault.Error{Text: text, Offset: statement.Pos(),
			Msg: "views are for the shell and for files of statements; a query by itself has none"}
	}
	ready, err := plan.Prepare(catalog, text, statement.Select, opt)
	if err != nil {
		return nil, err
	}
	return &Stmt{ready, text, opt, statement.Explain, statement.Analyze}, nil
}

// Columns describes the answer.
func (s *Stmt) Columns() []tables.Column {
	if s.explain {
		return []tables.Column{{Name: "plan", Type: values.TextAffinity}}
	}
	return s.ready.Plan.Columns
}

// errEnough says that the reader wants no more rows.
var errEnough = errors.New("no more rows are wanted")

// Rows runs the statement. A row is valid until the next one. The last pair may be an error. It is the
// only pair without a row.
func (s *Stmt) Rows() iter.Seq2[[]values.Value, error] {
	return func(yield func([]values.Value, error) bool) {
		if s.explain {
			s.explained(yield)
			return
		}
		err := s.run(func(row []values.Value) error {
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

func (s *Stmt) run(emit func([]values.Value) error) error {
	e := s.ready.Begin(&s.opt)
	var answered int64
	if err := e.Check(); err != nil {
		return err
	}
	err := s.ready.Plan.Run(e, func(row []values.Value) error {
		s.ready.Plan.Counts.Rows++
		if answered += functions.RowBytes(row); answered > e.Limits.Bytes {
			return &fault.LimitError{What: "bytes held or answered", Limit: e.Limits.Bytes}
		}
		return emit(row)
	})
	var at *fault.Error
	if errors.As(err, &at) && at.Text == "" {
		at.Text = s.text
	}
	return err
}

// explained yields the plan, one line in each row.
func (s *Stmt) explained(yield func([]values.Value, error) bool) {
	if s.analyze {
		start := s.nanos()
		if err := s.run(func([]values.Value) error { return nil }); err != nil {
			yield(nil, err)
			return
		}
		s.ready.Plan.Counts.Nanos = s.nanos() - start
	}
	for _, line := range exec.Explain(s.ready.Plan, s.analyze) {
		if !yield([]values.Value{values.String(line)}, nil) {
			return
		}
	}
}

func (s *Stmt) nanos() int64 {
	if s.opt.Nanos == nil {
		return 0
	}
	return s.opt.Nanos()
}
