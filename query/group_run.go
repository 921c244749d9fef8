package query

// runGrouping is how rows are put into groups, and what is computed of each.
type runGrouping struct {
	keys  []code
	made  int // where the first key goes; the others behind it
	aggs  []*aggregate
	bares []*aggregate // columns that are neither keys nor in an aggregate
	words []string
}

// maxArguments is how many arguments an aggregate may have.
const maxArguments = 20

// groups gathers rows into groups.
type groups struct {
	g       *runGrouping
	byKey   hashIndex
	keys    []Value // of all groups, one after the other
	states  []*tally
	scratch []Value
	args    []Value
	n       int
}

func newGroups(g *runGrouping) *groups {
	return &groups{g: g, scratch: make([]Value, len(g.keys)), args: make([]Value, maxArguments)}
}

// add puts the row at hand into its group, as often as it stands for.
func (gs *groups) add(e *env, times int64) error {
	g := gs.g
	for i := range g.keys {
		gs.scratch[i] = g.keys[i].eval(e)
	}
	at, fresh := gs.byKey.put(gs.scratch, gs.n)
	if fresh {
		if err := gs.open(e); err != nil {
			return err
		}
	}
	states := gs.states[at*g.width():]
	decider := -1
	var before Value
	if len(g.bares) > 0 {
		if decider = g.decider(); decider >= 0 {
			before = states[decider].best
		}
	}
	for i, a := range g.aggs {
		if err := a.update(e, states[i], gs.args, times); err != nil {
			return err
		}
	}
	if len(g.bares) > 0 {
		hit := decider >= 0 && (before.kind == Null || !same(before, states[decider].best))
		g.takeBare(e, states, fresh, hit)
	}
	return e.err
}

// width is how many results a group has.
func (g *runGrouping) width() int { return len(g.aggs) + len(g.bares) }

// open begins a group.
func (gs *groups) open(e *env) error {
	gs.n++
	gs.keys = append(gs.keys, gs.scratch...)
	states := make([]tally, gs.g.width())
	for i := range states {
		gs.states = append(gs.states, &states[i])
	}
	e.held += int64(len(states)) * 200
	return e.hold(gs.scratch)
}

// each makes the results of every group. Without GROUP BY there is always one.
func (gs *groups) each(e *env, emit func() error) error {
	g := gs.g
	if gs.n == 0 && len(g.keys) == 0 {
		if err := gs.open(e); err != nil {
			return err
		}
	}
	for at := range gs.n {
		copy(e.made[g.made:], gs.keys[at*len(g.keys):(at+1)*len(g.keys)])
		for i, a := range g.aggs {
			e.made[a.made] = a.resultOf(e, gs.states[at*g.width()+i])
		}
		for i, a := range g.bares {
			e.made[a.made] = gs.states[at*g.width()+len(g.aggs)+i].best
		}
		if e.err != nil {
			return e.err
		}
		if err := emit(); err != nil {
			return err
		}
	}
	return nil
}

// takeBare notes the columns of the row at hand, where they are those of the group.
func (g *runGrouping) takeBare(e *env, states []*tally, first, hit bool) {
	if !first && !hit {
		return
	}
	for i, a := range g.bares {
		states[len(g.aggs)+i].best = a.args[0].eval(e)
	}
}

// decider is the min() or max() whose row bare columns are of: the last one.
func (g *runGrouping) decider() int {
	for i := len(g.aggs) - 1; i >= 0; i-- {
		if a := g.aggs[i]; a.best && a.order == nil {
			return i
		}
	}
	return -1
}
