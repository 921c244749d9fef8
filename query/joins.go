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
func (p *selectPlan) joins(s *scope, where []Expr) {
	if p.strict {
		p.strictJoins(s, where)
		return
	}
	var mine slots
	byslot := map[int]*step{}
	reorder := true
	for _, src := range s.sources {
		st := &step{src: src, left: src.item.Join == LeftJoin, estimate: unknownSize}
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

// joinKey is a condition that makes a column, or an expression of one source, equal
// to one of others.
type joinKey struct {
	mine, other code
	affinity    Affinity
	column      int  // of the source, -1 where it is no column as it stands
	fixed       bool // the other side is a constant
}

// keyOf takes a condition as a key of the step.
func (st *step) keyOf(c *condition) (joinKey, bool) {
	if c.code.sides == nil {
		return joinKey{}, false
	}
	k := *c.code.sides
	me := slots(1) << st.src.slot
	if k[1].uses == me && k[0].uses&me == 0 {
		k[0], k[1] = k[1], k[0]
	}
	if k[0].uses != me || k[1].uses&me != 0 || k[0].sub || k[1].sub {
		return joinKey{}, false
	}
	out := joinKey{mine: k[0], other: k[1], affinity: compareAffinity(k[0].affinity, k[1].affinity), column: -1, fixed: k[1].uses == 0}
	if k[0].column {
		out.column = k[0].col
	}
	return out, true
}

// lookup makes the step find its rows by a key, if its table can.
func (st *step) lookup(k joinKey) bool {
	keyed, ok := st.src.table.(Keyed)
	if !ok || k.column < 0 || st.rows != nil {
		return false
	}
	if (st.src.columns[k.column].Type == TextAffinity) == k.affinity.numeric() {
		return false
	}
	if _, ok := keyed.Lookup(k.column, Value{}); !ok {
		return false
	}
	st.method, st.column = lookupJoin, k.column
	st.key, st.match = []code{k.other}, []Affinity{k.affinity}
	return true
}

// reorder joins the largest source first, with the others kept by hash; or the
// smallest, where the large ones can be looked up in.
func (p *selectPlan) reorder(pool []*condition) {
	small := slices.MinFunc(p.steps, func(a, b *step) int { return int(a.estimate - b.estimate) })
	large := slices.MaxFunc(p.steps, func(a, b *step) int { return int(a.estimate - b.estimate) })
	first := large
	if small.estimate*worthLookup < large.estimate {
		for _, c := range pool {
			if k, ok := large.keyOf(c); ok && large.canLookup(k) {
				first = small
			}
		}
	}
	order := []*step{first}
	done := slots(1) << first.src.slot
	for len(order) < len(p.steps) {
		var next *step
		connected := false
		for _, st := range p.steps {
			if done.has(st.src.slot) {
				continue
			}
			con := slices.ContainsFunc(pool, func(c *condition) bool {
				k, ok := st.keyOf(c)
				return ok && k.other.uses&done != 0
			})
			if next == nil || con && !connected || con == connected && st.estimate < next.estimate {
				next, connected = st, con
			}
		}
		order = append(order, next)
		done |= 1 << next.src.slot
	}
	p.steps = order
}

// worthLookup is how many rows of a table cost as much in a scan as one looked up.
const worthLookup = 16

func (st *step) canLookup(k joinKey) bool {
	trial := *st
	return trial.lookup(k)
}

// choose gives every condition its place, and every step its method.
func (p *selectPlan) choose(pool []*condition, ons map[*step][]*condition, mine slots) {
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

// byCode makes a hash by text one by code, where both sides have codes of one domain
// and the other one stands in its table.
func (st *step) byCode(first *step) {
	if st.method != hashJoin || len(st.key) != 1 || !st.key[0].column || !st.mine[0].column || st.key[0].slot != first.src.slot || first.src.table == nil {
		return
	}
	domain := st.src.columns[st.mine[0].col].Domain
	st.coded = st.src.table != nil && domain != "" && domain == first.src.columns[st.key[0].col].Domain
}

// keys finds the conditions that a lookup or a hash can take care of.
func (st *step) keys(all []*condition, known slots, rows int64) {
	for _, c := range all {
		k, ok := st.keyOf(c)
		if ok && k.other.uses&^known == 0 && rows*worthLookup < st.estimate && st.lookup(k) {
			c.used = true
			return
		}
	}
	st.hash(all, known)
}

// hash finds the conditions that a hash can take care of.
func (st *step) hash(all []*condition, known slots) {
	for _, c := range all {
		k, ok := st.keyOf(c)
		if !ok || k.other.uses&^known != 0 || k.other.uses == 0 {
			continue
		}
		c.used = true
		st.method = hashJoin
		st.key, st.mine, st.match = append(st.key, k.other), append(st.mine, k.mine), append(st.match, k.affinity)
	}
}
