package query

// A subquery that looks at the query around it is run for each of its rows. Where it does
// so by an equality, (SELECT count(*) FROM jobs j WHERE j.user = u.name), its own rows are
// read once and kept by that key, instead of being read anew each time.

// correlate makes the first step of such a subquery a hash by what its conditions make
// equal to columns of the queries around.
func (st *step) correlate(mine slots) {
	if st.src.fn != nil || st.src.sub != nil && !st.src.sub.steady() {
		return
	}
	for _, c := range st.conds {
		k, ok := st.keyOf(c)
		if !ok || k.other.uses == 0 || k.other.uses&mine != 0 {
			continue
		}
		c.used = true
		st.key, st.mine, st.match = append(st.key, k.other), append(st.mine, k.mine), append(st.match, k.affinity)
	}
	if st.key == nil {
		return
	}
	st.method, st.varies = hashJoin, false
	st.filters, st.words = nil, nil
	for _, c := range st.conds {
		switch own := slots(1) << st.src.slot; {
		case c.used:
			continue
		case c.code.uses&^own == 0:
			st.filters = append(st.filters, c.test())
		default:
			st.after = append(st.after, c.test())
		}
		st.words = append(st.words, c.x.String())
	}
}
