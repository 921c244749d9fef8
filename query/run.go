package query

import (
	"errors"
)

// errStop ends a run early, without fault.
var errStop = errors.New("enough")

// buffer holds the rows of a source that is gone through many times.
type buffer struct {
	values []Value // of all rows, one after the other
	width  int
	n      int
	index  hashIndex
	next   []int   // for a hash: the next row of the same key, -1 at the end
	first  []int32 // by code: the first row, counted from 1
}

// bufferRow is one of them.
type bufferRow struct {
	values []Value
	place  []int
}

func (r *bufferRow) Column(i int) Value { return r.values[r.place[i]] }

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

// run goes through the rows of a plan. What emit is given lasts until it returns.
func (p *selectPlan) run(e *env, emit func(row []Value) error) error {
	limit, offset, err := p.bounds(e)
	if err != nil || limit == 0 {
		return err
	}
	if limit > 0 || offset > 0 {
		emit = bounded(emit, limit, offset)
	}
	var sort *sorter
	if len(p.order) > 0 {
		sort = &sorter{keys: p.order, limit: -1}
		if limit > 0 && limit+offset < 1<<20 && !p.distinct {
			sort.limit = int(limit + offset)
		}
	}
	row := make([]Value, len(p.out))
	out := p.output(e, row, sort, emit)
	if p.group != nil {
		gs := newGroups(p.group)
		if err = p.gather(e, gs); err == nil || err == errStop {
			err = gs.each(e, func() error {
				if p.having != nil && p.having(e) != yes {
					return e.err
				}
				return out()
			})
		}
	} else {
		err = p.scan(e, out)
	}
	if sort != nil && (err == nil || err == errStop) {
		sort.finish()
		err = nil
		for i := range sort.rows {
			if err = emit(sort.rows[i].row); err != nil {
				break
			}
		}
	}
	if err == errStop {
		err = nil
	}
	if err == nil {
		err = e.err
	}
	return err
}

// bounds are LIMIT, -1 for none, and OFFSET.
func (p *selectPlan) bounds(e *env) (limit, offset int64, err error) {
	if !p.limited {
		return -1, 0, nil
	}
	if limit, err = p.limit.count(e, p.text.Limit, ""); err != nil {
		return 0, 0, err
	}
	at := p.text.Offset
	if at == nil {
		at = p.text.Limit
	}
	if offset, err = p.offset.count(e, at, ""); err != nil {
		return 0, 0, err
	}
	return max(limit, -1), max(offset, 0), nil
}

// bounded passes on what lies between OFFSET and LIMIT.
func bounded(emit func([]Value) error, limit, offset int64) func([]Value) error {
	return func(row []Value) error {
		if offset > 0 {
			offset--
			return nil
		}
		if limit == 0 {
			return errStop
		}
		if err := emit(row); err != nil {
			return err
		}
		if limit > 0 {
			limit--
		}
		if limit == 0 {
			return errStop
		}
		return nil
	}
}

// output makes a result row of where the sources stand, and passes it on.
func (p *selectPlan) output(e *env, row []Value, sort *sorter, emit func([]Value) error) func() error {
	fill := func() error {
		for i := range p.out {
			row[i] = p.out[i].eval(e)
		}
		return e.err
	}
	pass := func() error { return emit(row) }
	if sort != nil {
		pass = func() error { return p.sort(e, row, sort) }
		if sort.limit >= 0 {
			return p.sortFew(e, row, sort, fill)
		}
	}
	if !p.distinct {
		return func() error {
			if err := fill(); err != nil {
				return err
			}
			return pass()
		}
	}
	var seen hashIndex
	return func() error {
		if err := fill(); err != nil {
			return err
		}
		if _, fresh := seen.put(row, 0); !fresh {
			return nil
		}
		if err := e.hold(row); err != nil {
			return err
		}
		return pass()
	}
}

// sort keeps a row to be sorted.
func (p *selectPlan) sort(e *env, row []Value, s *sorter) error {
	all := make([]Value, len(row)+len(p.order))
	copy(all, row)
	keys := all[len(row):]
	p.keys(e, row, keys)
	if err := e.hold(all); err != nil {
		return err
	}
	s.add(keys, all[:len(row):len(row)])
	return e.err
}

// keys makes the keys of ORDER BY; row nil makes those of result columns anew.
func (p *selectPlan) keys(e *env, row, keys []Value) {
	for i := range p.order {
		switch k := &p.order[i]; {
		case k.column < 0:
			keys[i] = k.code.eval(e)
		case row != nil:
			keys[i] = row[k.column]
		default:
			keys[i] = p.out[k.column].eval(e)
		}
	}
}

// sortFew is for ORDER BY with a LIMIT: a row that does not come in among the first is
// not made at all.
func (p *selectPlan) sortFew(e *env, row []Value, s *sorter, fill func() error) func() error {
	scratch := make([]Value, len(p.order))
	return func() error {
		p.keys(e, nil, scratch)
		if e.err != nil || !s.wants(scratch) {
			return e.err
		}
		if err := fill(); err != nil {
			return err
		}
		all := append(append(make([]Value, 0, len(row)+len(scratch)), row...), scratch...)
		if len(s.rows) < s.limit {
			if err := e.hold(all); err != nil {
				return err
			}
		}
		s.add(all[len(row):], all[:len(row):len(row)])
		return nil
	}
}

// scan joins the sources and calls sink for each combination.
func (p *selectPlan) scan(e *env, sink func() error) error {
	for _, test := range p.once {
		if test(e) != yes {
			return e.err
		}
	}
	r := &runner{p: p, e: e, sink: sink, levels: make([]level, len(p.steps))}
	for k := range p.steps {
		r.levels[k].try = r.try(k)
	}
	return r.level(0)
}

// try makes what is done with each row that may be a partner in the k-th step.
func (r *runner) try(k int) func() error {
	st, e, l := r.p.steps[k], r.e, &r.levels[k]
	next := func() error { return r.level(k + 1) }
	if k+1 == len(r.p.steps) {
		next = r.sink
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
func (st *step) each(e *env, try func() error) error {
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
func (st *step) source(e *env, try func() error) error {
	if st.src.sub == nil {
		return st.cursor(e, st.src.table.Scan(st.rows), try)
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

func (st *step) cursor(e *env, c Cursor, try func() error) error {
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

// eachKept goes through the rows kept, those of the key for a hash.
func (st *step) eachKept(e *env, try func() error) error {
	if st.bufOf != e || !st.fixed {
		if err := st.keep(e); err != nil {
			return err
		}
		st.bufOf = e
	}
	b := st.buffer
	row := &st.keptRow
	row.place = st.place
	at, ok := 0, b.n > 0
	if st.coded {
		code := int(e.row[st.key[0].slot].(Coded).Code(st.key[0].col))
		if ok = code < len(b.first) && b.first[code] > 0; ok {
			at = int(b.first[code]) - 1
		}
	} else if st.method == hashJoin {
		if st.probe == nil {
			st.probe = make([]Value, len(st.key))
		}
		key := st.probe
		for i := range st.key {
			key[i] = st.match[i].apply(st.key[i].eval(e))
			if key[i].kind == Null {
				return e.err
			}
		}
		at, ok = b.index.get(key)
	}
	for ok {
		row.values = b.values[at*b.width : (at+1)*b.width]
		e.row[st.src.slot] = row
		if err := e.step(); err != nil {
			return err
		}
		if err := try(); err != nil {
			return err
		}
		if st.method == hashJoin {
			at = b.next[at]
			ok = at >= 0
		} else {
			at++
			ok = at < b.n
		}
	}
	return e.err
}

// keep reads the source's rows, those columns that are looked at.
func (st *step) keep(e *env) error {
	b := &buffer{width: len(st.kept)}
	var last []int // of each key, by its first row
	key := make([]Value, len(st.mine))
	st.buffer = b
	return st.source(e, func() error {
		row := e.row[st.src.slot]
		for i := range st.mine {
			if st.coded {
				break
			}
			key[i] = st.match[i].apply(st.mine[i].eval(e))
			if key[i].kind == Null {
				return e.err
			}
		}
		for _, col := range st.kept {
			b.values = append(b.values, row.Column(col))
		}
		if st.method == hashJoin {
			b.next, last = append(b.next, -1), append(last, b.n)
			if first, fresh := b.put(st, row, key); !fresh {
				b.next[last[first]] = b.n
				last[first] = b.n
			}
		}
		b.n++
		return e.hold(b.values[len(b.values)-b.width:])
	})
}

// put finds the first row of a key, or notes that the next one is.
func (b *buffer) put(st *step, row Row, key []Value) (first int, fresh bool) {
	if !st.coded {
		return b.index.put(key, b.n)
	}
	code := int(row.(Coded).Code(st.mine[0].col))
	for code >= len(b.first) {
		b.first = append(b.first, make([]int32, max(64, len(b.first)))...)
	}
	if b.first[code] > 0 {
		return int(b.first[code]) - 1, false
	}
	b.first[code] = int32(b.n) + 1
	return b.n, true
}

// finish settles what is known only when all is compiled: which columns are looked at.
func (p *selectPlan) finish() {
	for _, st := range p.steps {
		st.place = make([]int, len(st.src.used))
		for i, used := range st.src.used {
			if used {
				st.place[i] = len(st.kept)
				st.kept = append(st.kept, i)
			}
		}
		st.fixed = !st.varies && (st.src.sub == nil || st.src.sub.outer == 0)
	}
}
