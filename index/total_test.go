package index

import "testing"

// A total is that of all nodes, or of those that are up, whether the resource is in the
// signature or not.
func TestTotals(t *testing.T) {
	for _, signature := range [][]ResID{{NCPUs}, {Arch}} {
		ix := New(NewDefs(), signature, nil, Limits{})
		for number, state := range []State{Up, Down, Up, Drained, Up} {
			n := &Node{Number: uint32(number), State: state}
			n.Set(NCPUs, Value{Num: int64(1) << number})
			ix.Insert(n, Class(1+number%3))
		}
		if all, up := ix.Configured(NCPUs), ix.InService(NCPUs); all != 31 || up != 21 {
			t.Errorf("signature %v: %d of all nodes and %d of those up, want 31 and 21", signature, all, up)
		}
		if n, not := ix.CountUp(), ix.NotUp().String(); n != 3 || not != "{1,3}" {
			t.Errorf("signature %v: %d up, not %s", signature, n, not)
		}
	}
}
