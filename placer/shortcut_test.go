package placer

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/placer/priorityf"
	"pgregory.net/rapid"
)

// TestShortcuts: a shortcut gives the nodes that examining all of them gives, in the same
// order.
func TestShortcuts(t *testing.T) {
	t.Parallel()
	policies := []Policy{Priority, CPULoad, Tetris, Fastest, MinResource, LastAvailable, Contiguous, MaxBalance}
	taken := make(map[Policy]bool)
	rapid.Check(t, func(t *rapid.T) {
		c := drawChoice(t, rapid.SampledFrom(policies).Draw(t, "drawn for"))
		var err error
		if c.a.PriorityF, err = priorityf.Parse(c.defs,
			rapid.SampledFrom([]string{priorityf.Default, "10*SPEED - CMEM", "PREF/(1 + SPEED)",
				"max(SPEED, 3*FEATURE[fast]) + PRIORITY", "PREF*FEATURE[fast] - CPROCS",
				"RESAFFINITY + FEATURE[slow]"}).Draw(t, "priorityf")); err != nil {
			t.Fatal(err)
		}
		for _, c.a.Policy = range policies {
			taken[c.a.Policy] = c.checkShortcut(t) || taken[c.a.Policy]
		}
	})
	for _, p := range policies {
		if !taken[p] && !testing.Short() { // few draws miss some
			t.Errorf("%s: no shortcut was taken", p)
		}
	}
}

// checkShortcut compares a shortcut, and reports whether there is one.
func (c *choice) checkShortcut(t *rapid.T) bool {
	var m mapping
	if err := m.prepare(c.Snapshot, c.a); err != nil || m.path == BucketPath || len(m.sets) > 0 {
		return false
	}
	s := m.seek(c.at, m.endedBy(c.at), false)
	order := s.shortcut(m.whole)
	if order == nil {
		return false
	}
	var got, want []uint32
	if c.a.Policy == Contiguous || c.a.Policy == MaxBalance { // the best part, not all nodes
		chunks, _ := s.handOut(order)
		all, _ := m.seek(c.at, m.endedBy(c.at), false).bestPart(m.whole)
		got, want = pickedIn(chunks), pickedIn(all)
	} else {
		got, want = s.nodesIn(order), s.nodesIn(s.byScore(m.whole))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s %v: (-all nodes +shortcut)\n%s", c.a.Policy, c.a.PriorityF, diff)
	}
	return len(got) > 0
}

// nodesIn lists the nodes that hold the first chunk, in an order.
func (s *seeker) nodesIn(order ordered) (list []uint32) {
	for sp := range order(0) {
		if s.holds(sp, 0, 1) > 0 {
			list = append(list, sp.node)
		}
	}
	return list
}

func pickedIn(chunks []Allotment) (list []uint32) {
	for _, c := range chunks {
		for _, pick := range c.Picks {
			list = append(list, pick.Node)
		}
	}
	return list
}
