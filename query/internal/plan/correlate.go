package plan

import (
	"github.com/placectl/placectl/query/internal/exec"
)

// A subquery that uses the outer query runs for each of its rows. If it does so by an equality, as in
// (SELECT count(*) FROM jobs j WHERE j.user = u.name), its own rows are read once and kept by that key.

// correlate makes the first step of such a subquery a hash by the columns that its conditions equate
// with those of outer queries.
func (st *step) correlate(mine exec.Slots) {
	if st.src.Fn != nil || st.src.Sub != nil && !st.src.Sub.Steady() {
		return
	}
	for _, c := range st.conds {
		k, ok := st.keyOf(c)
		if !ok || k.other.Uses == 0 || k.other.Uses&mine != 0 {
			continue
		}
		c.used = true
		st.Key, st.Mine, st.Match = append(st.Key, k.other), append(st.Mine, k.mine), append(st.Match, k.affinity)
	}
	if st.Key == nil {
		return
	}
	st.Method, st.Varies = exec.HashJoin, false
	st.Filters, st.Words = nil, nil
	for _, c := range st.conds {
		switch own := exec.Slots(1) << st.src.Slot; {
		case c.used:
			continue
		case c.code.Uses&^own == 0:
			st.addFilter(c)
		default:
			st.After = append(st.After, c.test())
		}
		st.Words = append(st.Words, c.x.String())
	}
}
