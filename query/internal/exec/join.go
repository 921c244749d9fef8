package exec

import (
	"errors"

	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// runner is one run of a plan's joins.
type runner struct {
	p      *Plan
	e      *Env
	sink   func() error
	levels []level
}

// level is one step of a run. It is made once, because it runs for every row of the steps before it.
type level struct {
	try     func() error // called with the source on a row that may be a partner
	matched bool
}

// scan joins the sources and calls sink for each combination.
func (p *Plan) scan(e *Env, sink func() error) error {
	for _, test := range p.Once {
		if test(e) != values.Yes {
			return e.Err
		}
	}
	r := &runner{p: p, e: e, sink: sink, levels: make([]level, len(p.Steps))}
	for k := range p.Steps {
		r.levels[k].try = r.try(k)
	}
	return r.level(0)
}

// try returns what to do with each row that may be a partner in the k-th step.
func (r *runner) try(k int) func() error {
	st, e, l := r.p.Steps[k], r.e, &r.levels[k]
	next := func() error { return r.level(k + 1) }
	if k+1 == len(r.p.Steps) {
		next = r.sink
	}
	if len(st.On) == 0 && len(st.After) == 0 {
		return func() error {
			l.matched = true
			st.counts.Rows++
			return next()
		}
	}
	return func() error {
		if !all(st.On, e) {
			return e.Err
		}
		l.matched = true
		if !all(st.After, e) {
			return e.Err
		}
		st.counts.Rows++
		return next()
	}
}

// level joins the k-th step.
func (r *runner) level(k int) error {
	if k == len(r.p.Steps) {
		return r.sink()
	}
	st, e, l := r.p.Steps[k], r.e, &r.levels[k]
	l.matched = false
	if err := st.each(e, l.try); err != nil {
		return err
	}
	if !st.Left || l.matched {
		return nil
	}
	e.Row[st.Src.Slot] = tables.NullRow{}
	if !all(st.After, e) {
		return e.Err
	}
	st.counts.Rows++
	return r.level(k + 1)
}

func all(tests []func(*Env) values.Truth, e *Env) bool {
	for _, test := range tests {
		if test(e) != values.Yes {
			return false
		}
	}
	return e.Err == nil
}

// each moves the source to every row that may be a partner of the rows before it.
func (st *Step) each(e *Env, try func() error) error {
	switch st.Method {
	case HashJoin, LoopJoin:
		return st.eachKept(e, try)
	case LookupJoin:
		v := st.Match[0].Apply(st.Key[0].Eval(e))
		if isText := st.Src.Columns[st.Column].Type == values.TextAffinity; v.Kind() == values.Null ||
			isText != (v.Kind() == values.Text) {
			return e.Err
		}
		c, ok := st.Src.Table.(tables.Keyed).Lookup(st.Column, values.Normal(v))
		if !ok {
			return errors.New("query: a table cannot look up what it said it could")
		}
		return st.cursor(e, c, try)
	}
	return st.source(e, try)
}

// source goes through the rows of the source that pass its filters.
func (st *Step) source(e *Env, try func() error) error {
	if st.Src.Fn != nil {
		return st.called(e, try)
	}
	if st.Src.Sub == nil {
		return st.cursor(e, st.scan(), try)
	}
	return st.Src.Sub.Run(e, func(row []values.Value) error {
		e.Row[st.Src.Slot] = tables.RowValues(row)
		if err := e.Step(); err != nil {
			return err
		}
		if !all(st.Filters, e) {
			return e.Err
		}
		return try()
	})
}

func (st *Step) cursor(e *Env, c tables.Cursor, try func() error) error {
	e.Row[st.Src.Slot] = c
	var filter func(*Env) values.Truth
	if len(st.Filters) == 1 {
		filter = st.Filters[0]
	}
	for c.Next() {
		if err := e.Step(); err != nil {
			return err
		}
		if filter != nil {
			if filter(e) != values.Yes {
				continue
			}
		} else if len(st.Filters) > 0 && !all(st.Filters, e) {
			continue
		}
		if err := try(); err != nil {
			return err
		}
	}
	if e.Err != nil {
		return e.Err
	}
	return c.Err()
}

// called goes through the rows that a table function returns for its arguments.
func (st *Step) called(e *Env, try func() error) error {
	args := make([]values.Value, len(st.Src.Args))
	for i := range args {
		args[i] = st.Src.Args[i].Eval(e)
	}
	if e.Err != nil {
		return e.Err
	}
	c, err := st.Src.Fn.Rows(args)
	if err != nil {
		return st.Src.Place(err)
	}
	return st.cursor(e, c, try)
}
