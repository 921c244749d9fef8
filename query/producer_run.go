package query

// producer is what a source reads that is no table: a subquery, queries joined by UNION
// and the like, VALUES, a query of WITH.
type producer interface {
	// run goes through the rows. What emit is given lasts until it returns.
	run(e *env, emit func(row []Value) error) error
	// shape is its columns, and the sources of queries around that it looks at.
	shape() (columns []Column, outer slots)
	// steady reports whether it has the same rows throughout a run.
	steady() bool
}

func (p *selectPlan) shape() ([]Column, slots) { return p.columns, p.outer }

func (p *selectPlan) steady() bool {
	for _, st := range p.steps {
		if st.src.sub != nil && !st.src.sub.steady() {
			return false
		}
	}
	return p.outer == 0
}

// valuesPlan is VALUES.
type valuesPlan struct {
	rows    [][]code
	columns []Column
	outer   slots
	plain   bool // nothing in it changes
}

func (v *valuesPlan) shape() ([]Column, slots) { return v.columns, v.outer }
func (v *valuesPlan) steady() bool             { return v.plain }

func (v *valuesPlan) run(e *env, emit func([]Value) error) error {
	row := make([]Value, len(v.columns))
	for _, codes := range v.rows {
		for i := range codes {
			row[i] = codes[i].eval(e)
		}
		if err := e.step(); err != nil {
			return err
		}
		if err := emit(row); err != nil {
			return pastStop(err)
		}
	}
	return e.err
}

// pastStop is the error of a run that ends early: none where the reader had enough.
func pastStop(err error) error {
	if err == errStop {
		return nil
	}
	return err
}
