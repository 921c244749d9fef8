package exec

import (
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// Producer is a source that is not a table: a subquery, queries joined by UNION and the like, VALUES, or
// a query of WITH.
type Producer interface {
	// Run goes through the rows. The row given to emit is valid until emit returns.
	Run(e *Env, emit func(row []values.Value) error) error
	// Shape returns its columns, and the sources of outer queries that it uses.
	Shape() (columns []tables.Column, outer Slots)
	// Steady reports whether it has the same rows throughout a run.
	Steady() bool
}

func (p *Plan) Shape() ([]tables.Column, Slots) { return p.Columns, p.Outer }

func (p *Plan) Steady() bool {
	for _, st := range p.Steps {
		if st.Src.Sub != nil && !st.Src.Sub.Steady() {
			return false
		}
	}
	return p.Outer == 0
}

// ValuesPlan is VALUES.
type ValuesPlan struct {
	Rows    [][]Code
	Columns []tables.Column
	Outer   Slots
	Plain   bool // nothing in it changes
}

func (v *ValuesPlan) Shape() ([]tables.Column, Slots) { return v.Columns, v.Outer }
func (v *ValuesPlan) Steady() bool                    { return v.Plain }

func (v *ValuesPlan) Run(e *Env, emit func([]values.Value) error) error {
	row := make([]values.Value, len(v.Columns))
	for _, codes := range v.Rows {
		for i := range codes {
			row[i] = codes[i].Eval(e)
		}
		if err := e.Step(); err != nil {
			return err
		}
		if err := emit(row); err != nil {
			return pastStop(err)
		}
	}
	return e.Err
}

// pastStop returns the error of a run that ends early, or nil if the reader wants no more.
func pastStop(err error) error {
	if err == ErrStop {
		return nil
	}
	return err
}
