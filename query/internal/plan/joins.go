package plan

import (
	"math/bits"
	"slices"

	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/syntax"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// condition is a compiled conjunct.
type condition struct {
	x    syntax.Expr
	code exec.Code
	used bool // the key of a join covers it
}

func (c *condition) test() func(*exec.Env) values.Truth { return c.code.Passing() }

// joins decides how and in which order tables are joined, and where each condition is checked: as early
// as possible.
func (p *draft) joins(s *scope, where []syntax.Expr) {
	var mine exec.Slots
	byslot := map[int]*step{}
	reorder := true
	for _, src := range s.sources {
		st := newStep(src)
		st.Left = src.item.Join == syntax.LeftJoin
		reorder = !st.lateral() && reorder && !st.Left
		mine |= 1 << src.Slot
		byslot[src.Slot] = st
		p.steps = append(p.steps, st)
	}
	ons := map[*step][]*condition{}
	for i, st := range p.steps {
		all := s.sources
		s.sources = all[:i+1]
		conds := usingConditions(s, st.src)
		if st.Left {
			if st.src.item.On != nil {
				conds = append(conds, conjuncts(st.src.item.On)...)
			}
			for _, x := range conds {
				ons[st] = append(ons[st], &condition{x: x, code: s.compile(x)})
			}
		} else {
			where = append(where, conds...)
		}
		s.sources = all
	}
	pool := make([]*condition, 0, len(where))
	for _, x := range where {
		before := s.looked()
		c := &condition{x: x, code: s.compile(x)}
		switch own := c.code.Uses & mine; bits.OnesCount64(uint64(own)) {
		case 0:
			p.Once = append(p.Once, c.test())
		case 1:
			if st := byslot[bits.TrailingZeros64(uint64(own))]; !st.Left {
				if st.filter(s, c) {
					copy(st.src.Used, before[st.src.Slot])
				}
				continue
			}
			fallthrough
		default:
			pool = append(pool, c)
		}
	}
	for st, list := range ons {
		ons[st] = slices.DeleteFunc(list, func(c *condition) bool {
			if c.code.Uses&mine != 1<<st.src.Slot {
				return false
			}
			_ = st.filter(s, c)
			return true
		})
	}
	for _, st := range p.steps {
		st.between()
		st.size()
	}
	if reorder && len(p.steps) > 1 {
		p.reorder(pool)
	}
	p.choose(pool, ons, mine)
}

// filter adds a condition on a step's source alone. If the table knows its rows as a set, filter uses
// that and returns true. Otherwise the condition is checked row by row.
func (st *step) filter(s *scope, c *condition) bool {
	if st.push(s, c) {
		return true
	}
	st.narrow(s, c)
	st.Varies = st.Varies || c.code.Uses&^(1<<st.src.Slot) != 0
	st.addFilter(c)
	st.conds = append(st.conds, c)
	st.Words = append(st.Words, c.x.String())
	if k, ok := st.keyOf(c); ok && st.Key == nil && st.Rows == nil {
		st.lookup(k)
		if k.fixed { // the filter stays: it costs nothing
			st.estimate = 10
		}
	}
	return false
}

// addFilter adds a condition that is checked row by row.
func (st *step) addFilter(c *condition) {
	st.Filters = append(st.Filters, c.test())
}

// looked returns the columns of each source in use so far. A condition decided by bitmaps uses none.
func (s *scope) looked() map[int][]bool {
	out := make(map[int][]bool, len(s.sources))
	for _, src := range s.sources {
		out[src.Slot] = slices.Clone(src.Used)
	}
	return out
}

// unknownSize is the assumed size of a source of unknown size.
const unknownSize = 1000

// size estimates how many rows a step's source has.
func (st *step) size() {
	counted, counts := st.src.Table.(tables.Counted)
	sized, sizes := st.src.Table.(tables.Sized)
	switch {
	case st.Method == exec.LookupJoin:
	case st.Rows != nil:
		st.estimate = int64(st.Rows.GetCardinality())
	case counts:
		st.estimate = int64(counted.Count())
	case sizes:
		st.estimate = int64(sized.Size())
	}
	if st.Method != exec.LookupJoin {
		st.estimate = st.Span.Within(st.estimate)
	}
	if len(st.Filters) > 0 && st.Method != exec.LookupJoin {
		st.estimate = st.estimate/3 + 1
	}
}

// choose gives every condition its place and every step its method.
func (p *draft) choose(pool []*condition, ons map[*step][]*condition, mine exec.Slots) {
	var done exec.Slots
	rows := int64(1)
	for i, st := range p.steps {
		before := done
		done |= 1 << st.src.Slot
		var here []*condition
		for _, c := range pool {
			if own := c.code.Uses & mine; own&^done == 0 && own.Has(st.src.Slot) {
				here = append(here, c)
			}
		}
		candidates := here
		if st.Left {
			candidates = ons[st]
		}
		if i > 0 && st.Method != exec.LookupJoin && st.Method != exec.LateralJoin {
			st.Method = exec.LoopJoin
			st.keys(candidates, before|^mine, rows)
			st.byCode(p.steps[0])
		}
		if i == 0 && st.Method == exec.ScanJoin {
			st.correlate(mine)
		}
		for _, c := range candidates {
			if st.Left && !c.used {
				st.On = append(st.On, c.test())
				st.Words = append(st.Words, c.x.String())
			}
		}
		for _, c := range here {
			if !c.used {
				st.After = append(st.After, c.test())
				st.Words = append(st.Words, c.x.String())
			}
		}
		rows = max(rows, st.estimate)
	}
}

// step is a source that has not been joined yet.
type step struct {
	*exec.Step
	src      *source
	conds    []*condition    // its compiled filters
	estimate int64           // number of its rows
	bounds   map[int]*bounds // of columns by which the table has a further order
}

func newStep(src *source) *step {
	return &step{Step: &exec.Step{Src: src.Source}, src: src, estimate: unknownSize}
}
