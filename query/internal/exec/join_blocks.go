package exec

// Rows in memory that are joined by code with those of a hash, and are grouped by what the
// latter have: the group is found once for each row of the hash, and each row of the first
// table only looks up which.

// byJoinedBlocks puts the pairs of two tables into groups, where that can be done so.
func (p *Plan) byJoinedBlocks(e *Env, gs *groups) (done bool, err error) {
	if len(p.Steps) != 2 || len(p.Group.Bares) > 0 || len(p.Once)+len(p.Final) > 0 || len(p.Group.Keys) == 0 {
		return false, nil
	}
	st, other := p.Steps[0], p.Steps[1]
	plain := st.Method == ScanJoin && st.Src.Table != nil && len(st.After)+len(st.On)+len(other.After)+len(other.On) == 0
	if !plain || other.Method != HashJoin || !other.Coded || other.Left || other.Right || !other.Fixed || !p.Group.joined(st.Src.Slot, other.Src.Slot) {
		return false, nil
	}
	b, err := st.blocks()
	if b == nil || err != nil || len(b.others) > 0 {
		return false, err
	}
	if other.bufOf != e {
		if err := other.keep(e); err != nil {
			return true, err
		}
		other.bufOf = e
	}
	if !other.buffer.single() {
		return false, nil
	}
	bg := &blockGroups{gs: gs, of: b.of, group: make([]int32, blockRows)}
	bg.take(p.Group)
	codes := b.of.Columns[other.Key[0].Col].Codes
	groupOf := make([]int32, other.buffer.n) // of each row of the hash, counted from 1
	return true, b.each(e, func(rows []int32) error {
		n := 0
		for _, row := range rows {
			code := int(codes[row])
			if code >= len(other.buffer.first) || other.buffer.first[code] == 0 {
				continue
			}
			at := other.buffer.first[code] - 1
			if groupOf[at] == 0 {
				var err error
				if groupOf[at], err = other.groupOf(e, gs, int(at)); err != nil {
					return err
				}
			}
			rows[n], bg.group[n] = row, groupOf[at]-1
			n++
		}
		st.counts.Rows += int64(len(rows))
		other.counts.Rows += int64(n)
		if err := e.Steps(int64(n)); err != nil {
			return err
		}
		return bg.add(e, rows[:n])
	})
}

// joined reports whether all keys are of one source, and all aggregates are of a column of
// another, or of none.
func (g *Grouping) joined(aggs, keys int) bool {
	for i := range g.Keys {
		if g.Keys[i].Uses != 1<<keys || g.Keys[i].Sub {
			return false
		}
	}
	for _, a := range g.Aggs {
		if !a.plain() || !a.Star && (!a.Args[0].Column || a.Args[0].Slot != aggs) {
			return false
		}
	}
	return true
}

// single reports whether each key has one row.
func (b *buffer) single() bool {
	for _, next := range b.next {
		if next >= 0 {
			return false
		}
	}
	return true
}

// groupOf is the group that a row of the hash leads to, counted from 1.
func (st *Step) groupOf(e *Env, gs *groups, at int) (int32, error) {
	b := st.buffer
	st.keptRow.place, st.keptRow.values = st.Place, b.values[at*b.width:(at+1)*b.width]
	e.Row[st.Src.Slot] = &st.keptRow
	for i := range gs.g.Keys {
		gs.scratch[i] = gs.g.Keys[i].Eval(e)
	}
	return gs.number(e)
}
