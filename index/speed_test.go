package index

import (
	"fmt"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestSpeeds inserts, removes and replaces nodes: the index lists their speeds, and no others.
func TestSpeeds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ix := New(NewDefs(), nil, nil, Limits{})
		nodes := make(map[uint32]*Node)
		for range rapid.IntRange(0, 30).Draw(t, "changes") {
			n := &Node{Number: rapid.Uint32Range(0, 9).Draw(t, "node"),
				Speed:     rapid.SampledFrom([]float64{0, 1, 2.5}).Draw(t, "speed"),
				ProcSpeed: rapid.SampledFrom([]float64{0, 2.4, 3}).Draw(t, "processors")}
			if old := nodes[n.Number]; old != nil {
				ix.Remove(old, Free)
				delete(nodes, n.Number)
			}
			if rapid.IntRange(0, 3).Draw(t, "gone") > 0 {
				ix.Insert(n, Free)
				nodes[n.Number] = n
			}
		}
		want, got := make(map[Speed]map[uint32]bool), make(map[Speed]map[uint32]bool)
		add := func(to map[Speed]map[uint32]bool, s Speed, node uint32) {
			if to[s] == nil {
				to[s] = make(map[uint32]bool)
			}
			to[s][node] = true
		}
		for number, n := range maps.All(nodes) {
			if s := (Speed{n.Speed, n.ProcSpeed}); s != (Speed{}) {
				add(want, s, number)
			}
		}
		for s, of := range ix.Speeds() {
			for it := of.Iterator(); it.HasNext(); {
				add(got, s, it.Next())
			}
		}
		if diff := cmp.Diff(fmt.Sprint(want), fmt.Sprint(got)); diff != "" || ix.Err() != nil {
			t.Fatalf("%v: (-want +got)\n%s", ix.Err(), diff)
		}
	})
}
