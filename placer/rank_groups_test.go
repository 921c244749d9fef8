package placer

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/placer/priorityf"
	"pgregory.net/rapid"
)

// TestGroupsInOrder: nodes that are gone through group by group, or by the bounds of their
// scores, come in the order in which they would if each had been scored.
func TestGroupsInOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		policy := rapid.SampledFrom([]Policy{Priority, Priority, CPULoad, Tetris, Fastest, MinResource}).Draw(t, "policy")
		c := drawChoice(t, policy)
		if policy == Priority {
			var err error
			if c.a.PriorityF, err = priorityf.Parse(c.defs, rapid.SampledFrom([]string{priorityf.Default, "10*SPEED - CMEM", "PREF/(1 + SPEED)",
				"max(SPEED, 3*FEATURE[fast]) + PRIORITY", "PREF*FEATURE[fast] - CPROCS", "RESAFFINITY + FEATURE[slow]"}).Draw(t, "priorityf")); err != nil {
				t.Fatal(err)
			}
		}
		var m mapping
		if err := m.prepare(c.Snapshot, c.a); err != nil || m.path == BucketPath || len(m.sets) > 0 {
			return
		}
		s := m.seek(c.at, m.endedBy(c.at), false)
		order := s.inGroups(m.whole)
		if order == nil {
			return
		}
		var got, want []uint32
		for sp := range order(0) {
			if s.holds(sp, 0, 1) > 0 {
				got = append(got, sp.node)
			}
		}
		for e := range popAll(s.entries(0, m.whole[0])) {
			want = append(want, e.node)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%s %v: (-one by one +in groups)\n%s", policy, c.a.PriorityF, diff)
		}
	})
}
