package query

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

func (st *step) canLookup(k joinKey) bool {
	run := *st.runStep
	trial := step{runStep: &run, src: st.src}
	return trial.lookup(k)
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
