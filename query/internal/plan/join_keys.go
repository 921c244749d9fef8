package plan

import (
	"github.com/placectl/placectl/query/internal/exec"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/query/values"
)

// joinKey is a condition that equates a column, or an expression of one source, with an expression of
// others.
type joinKey struct {
	mine, other exec.Code
	affinity    values.Affinity
	column      int  // of the source, -1 if it is not a plain column
	fixed       bool // the other side is a constant
}

// keyOf returns a condition as a key of the step.
func (st *step) keyOf(c *condition) (joinKey, bool) {
	if c.code.Sides == nil {
		return joinKey{}, false
	}
	k := *c.code.Sides
	me := exec.Slots(1) << st.src.Slot
	if k[1].Uses == me && k[0].Uses&me == 0 {
		k[0], k[1] = k[1], k[0]
	}
	if k[0].Uses != me || k[1].Uses&me != 0 || k[0].Sub || k[1].Sub {
		return joinKey{}, false
	}
	out := joinKey{mine: k[0], other: k[1], affinity: compareAffinity(k[0].Affinity, k[1].Affinity), column: -1,
		fixed: k[1].Uses == 0}
	if k[0].Column {
		out.column = k[0].Col
	}
	return out, true
}

// lookup makes the step find its rows by a key if its table can.
func (st *step) lookup(k joinKey) bool {
	keyed, ok := st.src.Table.(tables.Keyed)
	if !ok || k.column < 0 || st.Rows != nil {
		return false
	}
	if (st.src.Columns[k.column].Type == values.TextAffinity) == k.affinity.Numeric() {
		return false
	}
	if _, ok := keyed.Lookup(k.column, values.Value{}); !ok {
		return false
	}
	st.Method, st.Column = exec.LookupJoin, k.column
	st.Key, st.Match = []exec.Code{k.other}, []values.Affinity{k.affinity}
	return true
}

func (st *step) canLookup(k joinKey) bool {
	run := *st.Step
	trial := step{Step: &run, src: st.src}
	return trial.lookup(k)
}

// byCode turns a hash by text into one by code, if both sides have codes of one domain and the other
// side is a column of its table.
func (st *step) byCode(first *step) {
	if st.Method != exec.HashJoin || len(st.Key) != 1 || !st.Key[0].Column || !st.Mine[0].Column ||
		st.Key[0].Slot != first.src.Slot || first.src.Table == nil {
		return
	}
	domain := st.src.Columns[st.Mine[0].Col].Domain
	st.Coded = st.src.Table != nil && domain != "" && domain == first.src.Columns[st.Key[0].Col].Domain
}

// keys finds the conditions that a lookup or a hash covers.
func (st *step) keys(all []*condition, known exec.Slots, rows int64) {
	for _, c := range all {
		k, ok := st.keyOf(c)
		if ok && k.other.Uses&^known == 0 && rows*worthLookup < st.estimate && st.lookup(k) {
			c.used = true
			return
		}
	}
	st.hash(all, known)
}

// hash finds the conditions that a hash covers.
func (st *step) hash(all []*condition, known exec.Slots) {
	for _, c := range all {
		k, ok := st.keyOf(c)
		if !ok || k.other.Uses&^known != 0 || k.other.Uses == 0 {
			continue
		}
		c.used = true
		st.Method = exec.HashJoin
		st.Key, st.Mine, st.Match = append(st.Key, k.other), append(st.Mine, k.mine), append(st.Match, k.affinity)
	}
}
