package query

import (
	"math/bits"
	"slices"
)

// condition is one conjunct, compiled.
type condition struct {
	x    Expr
	code code
	used bool // a key of a join takes care of it
}

func (c *condition) test() func(*env) truth { return c.code.passing() }

// joins decides in which order tables are joined, how, and where each condition is
// looked at: as early as can be.
func (p *draft) joins(s *scope, where []Expr) {
	if p.strict {
		p.strictJoins(s, where)
		return
	}
	var mine slots
	byslot := map[int]*step{}
	reorder := true
	for _, src := range s.sources {
		st := newStep(src)
		st.left = src.item.Join == LeftJoin
		reorder = !st.lateral() && reorder && !st.left
		mine |= 1 << src.slot
		byslot[src.slot] = st
		p.steps = append(p.steps, st)
	}
	ons := map[*step][]*condition{}
	for i, st := range p.steps {
		all := s.sources
		s.sources = all[:i+1]
		conds := usingConditions(s, st.src)
		if st.left {
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
		switch own := c.code.uses & mine; bits.OnesCount64(uint64(own)) {
		case 0:
			p.once = append(p.once, c.test())
		case 1:
			if st := byslot[bits.TrailingZeros64(uint64(own))]; !st.left {
				if p.counted {
					st.countOnly(c)
				} else if st.filter(s, c) {
					copy(st.src.used, before[st.src.slot])
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
			if c.code.uses&mine != 1<<st.src.slot {
				return false
			}
			_ = st.filter(s, c)
			return true
		})
	}
	for _, st := range p.steps {
		st.size()
	}
	if reorder && len(p.steps) > 1 {
		p.reorder(pool)
	}
	p.choose(pool, ons, mine)
}

// filter adds a condition on a step's source alone: as a set of rows where the table
// knows it, else to be looked at row by row.
// It reports whether the former.
func (st *step) filter(s *scope, c *condition) bool {
	if st.push(s, c) {
		return true
	}
	st.narrow(s, c)
	st.varies = st.varies || c.code.uses&^(1<<st.src.slot) != 0
	st.filters = append(st.filters, c.test())
	st.conds = append(st.conds, c)
	st.words = append(st.words, c.x.String())
	if k, ok := st.keyOf(c); ok && st.key == nil && st.rows == nil {
		st.lookup(k)
		if k.fixed { // the filter stays: it costs nothing
			st.estimate = 10
		}
	}
	return false
}

// countOnly adds a condition that is run on parts of the table.
func (st *step) countOnly(c *condition) {
	st.filters = append(st.filters, c.test())
	st.asked = append(st.asked, c.x.String())
}

// looked is which columns of each source are looked at so far: a condition that is
// decided by bitmaps looks at none.
func (s *scope) looked() map[int][]bool {
	out := make(map[int][]bool, len(s.sources))
	for _, src := range s.sources {
		out[src.slot] = slices.Clone(src.used)
	}
	return out
}

// unknownSize is what a source is taken for that does not know its size.
const unknownSize = 1000

// size estimates how many rows a step's source has.
func (st *step) size() {
	counted, counts := st.src.table.(Counted)
	sized, sizes := st.src.table.(Sized)
	switch {
	case st.method == lookupJoin:
	case st.rows != nil:
		st.estimate = int64(st.rows.GetCardinality())
	case counts:
		st.estimate = int64(counted.Count())
	case sizes:
		st.estimate = int64(sized.Size())
	}
	if st.method != lookupJoin {
		st.estimate = st.span.within(st.estimate)
	}
	if len(st.filters) > 0 && st.method != lookupJoin {
		st.estimate = st.estimate/3 + 1
	}
}

// choose gives every condition its place, and every step its method.
func (p *draft) choose(pool []*condition, ons map[*step][]*condition, mine slots) {
	var done slots
	rows := int64(1)
	for i, st := range p.steps {
		before := done
		done |= 1 << st.src.slot
		var here []*condition
		for _, c := range pool {
			if own := c.code.uses & mine; own&^done == 0 && own.has(st.src.slot) {
				here = append(here, c)
			}
		}
		candidates := here
		if st.left {
			candidates = ons[st]
		}
		if i > 0 && st.method != lookupJoin && st.method != lateralJoin {
			st.method = loopJoin
			st.keys(candidates, before|^mine, rows)
			st.byCode(p.steps[0])
		}
		if i == 0 && st.method == scanJoin && !p.counted {
			st.correlate(mine)
		}
		for _, c := range candidates {
			if st.left && !c.used {
				st.on = append(st.on, c.test())
				st.words = append(st.words, c.x.String())
			}
		}
		for _, c := range here {
			if !c.used {
				st.after = append(st.after, c.test())
				st.words = append(st.words, c.x.String())
			}
		}
		rows = max(rows, st.estimate)
	}
}

// step is a source while it is decided how it is joined to those before.
type step struct {
	*runStep
	src      *source
	conds    []*condition // its filters, as they were compiled
	estimate int64        // of its rows
}

func newStep(src *source) *step {
	return &step{runStep: &runStep{src: src.runSource}, src: src, estimate: unknownSize}
}
