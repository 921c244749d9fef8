package query

import (
	"errors"
)

// runner is one run of a plan's joins.
type runner struct {
	p      *selectPlan
	e      *env
	sink   func() error
	levels []level
}

// level is one step of it: made once, because it is gone through for every row of the
// steps before.
type level struct {
	try     func() error // with the source on a row that may be a partner
	matched bool
}

// scan joins the sources and calls sink for each combination.
func (p *selectPlan) scan(e *env, sink func() error) error {
	for _, test := range p.once {
		if test(e) != yes {
			return e.err
		}
	}
	if len(p.final) > 0 {
		pass := sink
		sink = func() error {
			if !all(p.final, e) {
				return e.err
			}
			return pass()
		}
	}
	r := &runner{p: p, e: e, sink: sink, levels: make([]level, len(p.steps))}
	for k, st := range p.steps {
		if st.right {
			st.bufOf = nil
		}
		r.levels[k].try = r.try(k)
	}
	if err := r.level(0); err != nil || !p.strict {
		return err
	}
	return r.unmatched()
}

// unmatched goes on with the rows of right and full joins that had no partner.
func (r *runner) unmatched() error {
	for k, st := range r.p.steps {
		if !st.right {
			continue
		}
		for _, before := range r.p.steps[:k] {
			r.e.row[before.src.slot] = nullRow{}
		}
		if err := st.eachLeft(r.e, func() error { st.counts.rows++; return r.level(k + 1) }); err != nil {
			return err
		}
	}
	return nil
}

// try makes what is done with each row that may be a partner in the k-th step.
func (r *runner) try(k int) func() error {
	st, e, l := r.p.steps[k], r.e, &r.levels[k]
	next := func() error { return r.level(k + 1) }
	if k+1 == len(r.p.steps) {
		next = r.sink
	}
	if st.right {
		after := next
		next = func() error { st.buffer.partner(); return after() }
	}
	if len(st.on) == 0 && len(st.after) == 0 {
		return func() error {
			l.matched = true
			st.counts.rows++
			return next()
		}
	}
	return func() error {
		if !all(st.on, e) {
			return e.err
		}
		l.matched = true
		if !all(st.after, e) {
			return e.err
		}
		st.counts.rows++
		return next()
	}
}

// level joins the k-th step.
func (r *runner) level(k int) error {
	if k == len(r.p.steps) {
		return r.sink()
	}
	st, e, l := r.p.steps[k], r.e, &r.levels[k]
	l.matched = false
	if err := st.each(e, l.try); err != nil {
		return err
	}
	if !st.left || l.matched {
		return nil
	}
	e.row[st.src.slot] = nullRow{}
	if !all(st.after, e) {
		return e.err
	}
	st.counts.rows++
	return r.level(k + 1)
}

func all(tests []func(*env) truth, e *env) bool {
	for _, test := range tests {
		if test(e) != yes {
			return false
		}
	}
	return e.err == nil
}

// each puts the source on every row that may be a partner of those before it.
func (st *runStep) each(e *env, try func() error) error {
	switch st.method {
	case hashJoin, loopJoin:
		return st.eachKept(e, try)
	case lookupJoin:
		v := st.match[0].apply(st.key[0].eval(e))
		if isText := st.src.columns[st.column].Type == TextAffinity; v.kind == Null || isText != (v.kind == Text) {
			return e.err
		}
		c, ok := st.src.table.(Keyed).Lookup(st.column, normal(v))
		if !ok {
			return errors.New("query: a table cannot look up what it said it could")
		}
		return st.cursor(e, c, try)
	}
	return st.source(e, try)
}

// source goes through the rows of the source that pass its filters.
func (st *runStep) source(e *env, try func() error) error {
	if st.src.fn != nil {
		return st.called(e, try)
	}
	if st.src.sub == nil {
		return st.cursor(e, st.scan(), try)
	}
	return st.src.sub.run(e, func(row []Value) error {
		e.row[st.src.slot] = rowValues(row)
		if err := e.step(); err != nil {
			return err
		}
		if !all(st.filters, e) {
			return e.err
		}
		return try()
	})
}

func (st *runStep) cursor(e *env, c Cursor, try func() error) error {
	e.row[st.src.slot] = c
	var filter func(*env) truth
	if len(st.filters) == 1 {
		filter = st.filters[0]
	}
	for c.Next() {
		if err := e.step(); err != nil {
			return err
		}
		if filter != nil {
			if filter(e) != yes {
				continue
			}
		} else if len(st.filters) > 0 && !all(st.filters, e) {
			continue
		}
		if err := try(); err != nil {
			return err
		}
	}
	if e.err != nil {
		return e.err
	}
	return c.Err()
}

// called goes through the rows that a table function makes of its arguments.
func (st *runStep) called(e *env, try func() error) error {
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
