package exec

import (
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// Producer is what a source reads that is no table: a subquery, queries joined by UNION
// and the like, VALUES, a query of WITH.
type Producer interface {
	// run goes through the rows. What emit is given lasts until it returns.
	Run(e *Env, emit func(row []values.Value) error) error
	// shape is its columns, and the sources of queries around that it looks at.
	Shape() (columns []tables.Column, outer Slots)
	// steady reports whether it has the same rows throughout a run.
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

// pastStop is the error of a run that ends early: none if the reader had enough.
func pastStop(err error) error {
	if err == ErrStop {
		return nil
	}
	return err
}
