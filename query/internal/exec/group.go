package exec

import (
	"github.com/placectl/placectl/query/internal/functions"
	"github.com/placectl/placectl/query/values"
)

// Grouping says how rows are grouped, and what is computed for each group.
type Grouping struct {
	Keys  []Code
	Made  int // where the first key goes; the others follow
	Aggs  []*Aggregate
	Bares []*Aggregate // columns that are neither keys nor in an aggregate
	Words []string
}

// maxArguments is how many arguments an aggregate may have.
const maxArguments = 2

// groups gathers rows into groups.
type groups struct {
	g       *Grouping
	byKey   values.Index
	keys    []values.Value // of all groups, one after the other
	states  []*tally
	scratch []values.Value
	args    []values.Value
	n       int
}

func newGroups(g *Grouping) *groups {
	return &groups{g: g, scratch: make([]values.Value, len(g.Keys)), args: make([]values.Value, maxArguments)}
}

// add adds the current row to its group, as often as it counts.
func (gs *groups) add(e *Env, times int64) error {
	g := gs.g
	for i := range g.Keys {
		gs.scratch[i] = g.Keys[i].Eval(e)
	}
	at, fresh := gs.byKey.Put(gs.scratch, gs.n)
	if fresh {
		if err := gs.open(e); err != nil {
			return err
		}
	}
	states := gs.states[at*g.width():]
	decider := -1
	var before values.Value
	if len(g.Bares) > 0 {
		if decider = g.decider(); decider >= 0 {
			before = states[decider].Best
		}
	}
	for i, a := range g.Aggs {
		if err := a.update(e, states[i], gs.args, times); err != nil {
			return err
		}
	}
	if len(g.Bares) > 0 {
		hit := decider >= 0 && (before.Kind() == values.Null || !values.Same(before, states[decider].Best))
		g.takeBare(e, states, fresh, hit)
	}
	return e.Err
}

// width returns the number of results of a group.
func (g *Grouping) width() int { return len(g.Aggs) + len(g.Bares) }

// open begins a group.
func (gs *groups) open(e *Env) error {
	gs.n++
	gs.keys = append(gs.keys, gs.scratch...)
	states := make([]tally, gs.g.width())
	for i := range states {
		gs.states = append(gs.states, &states[i])
	}
	return e.Hold(gs.scratch, functions.HeldState*int64(len(states))+functions.HeldGroup*int64(1+len(gs.scratch)))
}

// each computes the results of every group. Without GROUP BY there is exactly one.
func (gs *groups) each(e *Env, emit func() error) error {
	g := gs.g
	if gs.n == 0 && len(g.Keys) == 0 {
		if err := gs.open(e); err != nil {
			return err
		}
	}
	for at := range gs.n {
		copy(e.Made[g.Made:], gs.keys[at*len(g.Keys):(at+1)*len(g.Keys)])
		for i, a := range g.Aggs {
			e.Made[a.Made] = a.resultOf(e, gs.states[at*g.width()+i])
		}
		for i, a := range g.Bares {
			e.Made[a.Made] = gs.states[at*g.width()+len(g.Aggs)+i].Best
		}
		if e.Err != nil {
			return e.Err
		}
		if err := emit(); err != nil {
			return err
		}
	}
	return nil
}

// takeBare keeps the columns of the current row if they are the group's.
func (g *Grouping) takeBare(e *Env, states []*tally, first, hit bool) {
	if !first && !hit {
		return
	}
	for i, a := range g.Bares {
		states[len(g.Aggs)+i].Best = a.Args[0].Eval(e)
	}
}

// decider returns the min() or max() from whose row bare columns are taken: the last one.
func (g *Grouping) decider() int {
	for i := len(g.Aggs) - 1; i >= 0; i-- {
		if a := g.Aggs[i]; a.Best && a.Order == nil {
			return i
		}
	}
	return -1
}
