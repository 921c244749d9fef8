package exec

import (
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// Where keys and what is aggregated are columns in memory, each row's group is found by the
// codes of its keys, and each aggregate is computed in a loop of its own, block by block.

// mostCombined bounds the combinations of codes for which a group is looked up by number.
const mostCombined = 1 << 16

// blockGroups puts the rows of blocks into groups.
type blockGroups struct {
	gs     *groups
	of     *tables.Vectors
	keys   []*tables.Vector
	sizes  []int            // of each key, how many codes it has, that of NULL among them
	found  []int32          // by combined codes: the group, counted from 1
	inputs []*tables.Vector // of each aggregate; nil for count(*)
	group  []int32          // of each row of the block
	counts []int64          // scratch: of each group
}

// byBlocks puts all rows into groups where that can be done so.
func (p *Plan) byBlocks(e *Env, gs *groups) (done bool, err error) {
	if len(p.Group.Bares) > 0 || len(p.Once)+len(p.Final) > 0 || len(p.Steps) == 0 || p.Steps[0].Method != ScanJoin || p.Steps[0].Src.Table == nil {
		return false, nil
	}
	if len(p.Steps) != 1 || len(p.Steps[0].After)+len(p.Steps[0].On) > 0 || !p.Group.looped(p.Steps[0].Src.Slot) {
		return false, nil
	}
	b, err := p.Steps[0].blocks()
	if b == nil || err != nil || len(b.others) > 0 {
		return false, err
	}
	bg := &blockGroups{gs: gs, of: b.of, group: make([]int32, blockRows)}
	if !bg.open(p.Group) {
		return false, nil
	}
	return true, b.each(e, func(rows []int32) error {
		p.Steps[0].counts.Rows += int64(len(rows))
		if err := bg.place(e, rows); err != nil {
			return err
		}
		return bg.add(e, rows)
	})
}

// looped reports whether all keys are columns of a source, and all aggregates are of one of
// its columns as it stands, or of none.
func (g *Grouping) looped(slot int) bool {
	for i := range g.Keys {
		if !g.Keys[i].Column || g.Keys[i].Slot != slot {
			return false
		}
	}
	for _, a := range g.Aggs {
		if !a.plain() || !a.Star && (!a.Args[0].Column || a.Args[0].Slot != slot) {
			return false
		}
	}
	return true
}

// plain reports whether an aggregate takes all rows as they come, and one argument at most.
func (a *Aggregate) plain() bool {
	return !a.Distinct && a.Filter == nil && a.Order == nil && len(a.Args) <= 1
}

// open finds the columns; not ok where keys are not coded, or combine in too many ways.
func (bg *blockGroups) open(g *Grouping) bool {
	all := 1
	for i := range g.Keys {
		v := bg.of.Columns[g.Keys[i].Col]
		if v.Kind != values.Text {
			return false
		}
		bg.keys, bg.sizes = append(bg.keys, v), append(bg.sizes, len(v.Words)+1)
		if all *= len(v.Words) + 1; all > mostCombined {
			return false
		}
	}
	bg.found = make([]int32, all)
	bg.take(g)
	return true
}

// take finds the columns of the aggregates.
func (bg *blockGroups) take(g *Grouping) {
	for _, a := range g.Aggs {
		var v *tables.Vector
		if !a.Star {
			v = bg.of.Columns[a.Args[0].Col]
		}
		bg.inputs = append(bg.inputs, v)
	}
}

// place finds the group of each row.
func (bg *blockGroups) place(e *Env, rows []int32) error {
	if len(bg.keys) == 1 && bg.keys[0].Nulls == nil {
		return bg.placeByOne(e, rows)
	}
	for i, row := range rows {
		combined := 0
		for k, v := range bg.keys {
			code := int(v.Codes[row])
			if v.Nulls != nil && v.Nulls[row] {
				code = len(v.Words)
			}
			combined = combined*bg.sizes[k] + code
		}
		at := bg.found[combined]
		if at == 0 {
			var err error
			if at, err = bg.first(e, int(row)); err != nil {
				return err
			}
			bg.found[combined] = at
		}
		bg.group[i] = at - 1
	}
	return nil
}

// placeByOne does so where there is one key, which all rows have.
func (bg *blockGroups) placeByOne(e *Env, rows []int32) error {
	codes, found := bg.keys[0].Codes, bg.found
	for i, row := range rows {
		at := found[codes[row]]
		if at == 0 {
			var err error
			if at, err = bg.first(e, int(row)); err != nil {
				return err
			}
			found[codes[row]] = at
		}
		bg.group[i] = at - 1
	}
	return nil
}

// first is the group of a row that is the first of its codes, counted from 1.
func (bg *blockGroups) first(e *Env, row int) (int32, error) {
	gs := bg.gs
	for k, v := range bg.keys {
		gs.scratch[k] = v.At(row)
	}
	return gs.number(e)
}

// number is the group of the keys at hand, counted from 1.
func (gs *groups) number(e *Env) (int32, error) {
	at, fresh := gs.byKey.Put(gs.key(), gs.n)
	if fresh {
		if err := gs.open(e); err != nil {
			return 0, err
		}
	}
	return int32(at) + 1, e.Err
}

// add adds the rows to their groups, one aggregate after the other.
func (bg *blockGroups) add(e *Env, rows []int32) error {
	for i, a := range bg.gs.g.Aggs {
		if len(rows) > 0 {
			a.addBlock(e, bg, i, rows)
		}
	}
	return e.Err
}

// count counts the rows of each group.
func (bg *blockGroups) count(rows int) {
	if len(bg.counts) < bg.gs.n {
		bg.counts = make([]int64, bg.gs.n)
	}
	clear(bg.counts)
	for _, g := range bg.group[:rows] {
		bg.counts[g]++
	}
}

// addBlock adds rows to the states that the i-th aggregate has in their groups.
func (a *Aggregate) addBlock(e *Env, bg *blockGroups, i int, rows []int32) {
	states, width, v, group := bg.gs.states[i:], bg.gs.g.width(), bg.inputs[i], bg.group
	sum := a.Sums && v != nil && v.Nulls == nil
	switch {
	case v == nil && bg.gs.n > len(rows):
		for i := range rows {
			states[int(group[i])*width].N++
		}
	case v == nil:
		bg.count(len(rows))
		for g, n := range bg.counts {
			states[g*width].N += n
		}
	case sum && v.Kind == values.Real:
		for i, row := range rows {
			states[int(group[i])*width].AddReal(v.Floats[row])
		}
	case sum && v.Kind == values.Integer:
		for i, row := range rows {
			states[int(group[i])*width].AddInteger(v.Ints[row])
		}
	default:
		for i, row := range rows {
			if x := v.At(int(row)); !x.IsNull() || a.Nulls {
				bg.gs.args[0] = x
				a.take(e, &states[int(group[i])*width].State, x, bg.gs.args[:1], 1)
			}
		}
	}
}
