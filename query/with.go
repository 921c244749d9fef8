package query

import (
	"github.com/placectl/placectl/index/heap"
)

// common is a query of WITH.
type common struct {
	def     *CommonTable
	at      *scope // where it is compiled: its names are those of the same WITH
	busy    bool   // it is being compiled
	plan    producer
	columns []Column
	refs    int
	self    *self  // of a recursive one: the row at hand
	only    *scope // and where it may be named
	of      *env
	rows    [][]Value // of a run in which they are read again
	kept    bool
}

// layer is a scope of names alone: those of WITH.
func (c *compiler) layer(w *With, parent *scope) *scope {
	s := &scope{c: c, parent: parent, common: map[string]*common{}, top: parent == nil || parent.top}
	for i := range w.Tables {
		t := &w.Tables[i]
		name := lowerASCII(t.Name)
		if s.common[name] != nil {
			c.fail(t, "there are two queries called %s", t.Name)
		}
		s.common[name] = &common{def: t, at: s}
	}
	return s
}

// commonTable finds a query of WITH by its name.
func (s *scope) commonTable(name string) *common {
	for at := s; at != nil; at = at.parent {
		if t := at.common[lowerASCII(name)]; t != nil {
			return t
		}
	}
	return nil
}

// use is the query as a source of a scope.
func (t *common) use(c *compiler, f *FromItem, in *scope) (producer, []Column) {
	if t.busy {
		if t.self == nil {
			c.fail(f, "%s is explained by itself: what comes before UNION may not name it", f.Table)
		}
		if in.parent != t.only || t.self.used {
			c.fail(f, "a query of WITH may name itself once, in the FROM behind UNION")
		}
		t.self.used = true
		return t.self, t.columns
	}
	if t.plan == nil {
		t.busy = true
		t.compile(c)
		t.busy = false
	}
	t.refs++
	return &shared{t: t}, t.columns
}

// compile compiles the query, when it is first used.
func (t *common) compile(c *compiler) {
	x := t.def.Select
	first := len(x.Rest) + 1
	for i, arm := range x.Rest {
		if first > i && fromNames(arm.Select, t.def.Name) {
			first = i
		}
	}
	if first > len(x.Rest) {
		t.plan = c.compileSelect(x, t.at)
		t.columns = c.renamed(t.def, t.plan, t.def.Name, t.def.Columns)
		return
	}
	t.recursive(c, x, first)
}

// fromNames reports whether a SELECT has a table of a name in its FROM.
func fromNames(x *Select, name string) bool { return namedIn(x.From, name) }

func namedIn(from []FromItem, name string) bool {
	for i := range from {
		f := &from[i]
		if f.Sub == nil && !f.Call && lowerASCII(f.Table) == lowerASCII(name) || namedIn(f.Group, name) {
			return true
		}
	}
	return false
}

// shared reads the rows of a query of WITH: as they come where that is done once, and
// otherwise out of memory.
type shared struct{ t *common }

func (s *shared) shape() ([]Column, slots) {
	_, outer := s.t.plan.shape()
	return s.t.columns, outer
}

func (s *shared) steady() bool { return s.t.plan.steady() }

func (s *shared) run(e *env, emit func([]Value) error) error {
	t := s.t
	if t.of != e {
		t.of, t.rows, t.kept = e, nil, false
		if t.refs == 1 {
			return t.plan.run(e, emit)
		}
	}
	if !t.kept || !s.steady() {
		t.rows, t.kept = nil, true
		err := t.plan.run(e, func(row []Value) error {
			t.rows = append(t.rows, append([]Value(nil), row...))
			return e.hold(row)
		})
		if err != nil {
			return err
		}
	}
	for _, row := range t.rows {
		if err := e.step(); err != nil {
			return err
		}
		if err := emit(row); err != nil {
			return pastStop(err)
		}
	}
	return e.err
}

// self is the row at hand of a recursive query.
type self struct {
	columns []Column
	row     []Value
	used    bool
}

func (s *self) shape() ([]Column, slots)                   { return s.columns, 0 }
func (s *self) steady() bool                               { return false }
func (s *self) run(_ *env, emit func([]Value) error) error { return pastStop(emit(s.row)) }

// recursive is a query that is run again for each of its own rows, one after the other,
// until no new ones come.
type recursive struct {
	first    producer
	arms     []producer
	self     *self
	distinct bool
	order    []orderKey
	limited  *selectPlan // whose limits these are
	columns  []Column
	outer    slots
}

func (r *recursive) shape() ([]Column, slots) { return r.columns, r.outer }

func (r *recursive) steady() bool { return r.outer == 0 && r.first.steady() }

// recursive compiles a query whose arms from a number on name it.
func (t *common) recursive(c *compiler, x *Select, from int) {
	first := *x
	first.With, first.Rest, first.OrderBy, first.Limit, first.Offset = nil, x.Rest[:from], nil, nil, nil
	at := t.at
	if x.With != nil {
		at = c.layer(x.With, at)
	}
	r := &recursive{first: c.compileSelect(&first, at), distinct: x.Rest[from].Op == Union}
	r.columns = append([]Column(nil), c.renamed(t.def, r.first, t.def.Name, t.def.Columns)...)
	_, r.outer = r.first.shape()
	t.columns, t.only = r.columns, at
	for _, arm := range x.Rest[from:] {
		if arm.Op != Union && arm.Op != UnionAll {
			c.fail(arm.Select, "a query that names itself is joined by UNION or UNION ALL")
		}
		t.self = &self{columns: r.columns}
		if r.self == nil {
			r.self = t.self
		}
		plan := c.compileSelect(arm.Select, at)
		if len(plan.columns) != len(r.columns) {
			c.fail(arm.Select, "queries that are joined have as many columns: %d here, %d before", len(plan.columns), len(r.columns))
		}
		if plan.group != nil {
			c.fail(arm.Select, "the part of a query that names itself takes no aggregates")
		}
		r.arms, r.outer = append(r.arms, &selfed{plan, t.self}), r.outer|plan.outer
	}
	t.self = nil
	s := &scope{c: c, noAggs: "LIMIT comes last"}
	r.limited = &selectPlan{text: x}
	s.limits(r.limited, x)
	for _, term := range c.orderOfAll(x, r.columns) {
		k := orderKey{desc: term.Desc, nulls: term.Nulls}
		if collated, ok := term.X.(*Collate); ok {
			k.coll, term.X = collated.To, collated.X
		}
		n, _ := ordinal(term.X)
		k.column = int(n) - 1
		r.order = append(r.order, k)
	}
	t.plan = r
}

// selfed is an arm with the row that it reads.
type selfed struct {
	*selectPlan
	self *self
}

func (r *recursive) run(e *env, emit func([]Value) error) error {
	limit, offset, err := r.limited.bounds(e)
	if err != nil || limit == 0 {
		return err
	}
	if limit > 0 || offset > 0 {
		emit = bounded(emit, limit, offset)
	}
	sort := newSorter(r.order, -1)
	queue := heap.New(func(a, b *sorted) bool { return sort.compare(a, b) < 0 })
	var seen hashIndex
	seq := 0
	add := func(row []Value) error {
		if r.distinct {
			if _, fresh := seen.put(row, 0); !fresh {
				return nil
			}
		}
		seq++
		kept := append([]Value(nil), row...)
		keys := make([]Value, len(r.order))
		for i := range r.order {
			keys[i] = kept[r.order[i].column]
		}
		queue.Push(sorted{keys, kept, seq})
		return e.hold(row)
	}
	if err := r.first.run(e, add); err != nil {
		return err
	}
	for queue.Len() > 0 {
		next := queue.Pop()
		if err := e.step(); err != nil {
			return err
		}
		if err := emit(next.row); err != nil {
			return pastStop(err)
		}
		for _, arm := range r.arms {
			arm.(*selfed).self.row = next.row
			if err := arm.run(e, add); err != nil {
				return err
			}
		}
	}
	return e.err
}
