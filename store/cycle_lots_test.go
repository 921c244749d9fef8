package store

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/store/internal/cycle"
	"github.com/placectl/placectl/store/internal/row"
	"pgregory.net/rapid"
)

// TestLots: over random lives with arrays, cycles decide lots of equal jobs together as they
// decide them one by one. Many more lives: -run TestLots -rapid.checks 20000.
func TestLots(t *testing.T) {
	t.Parallel()
	stats := new(modelStats)
	rapid.Check(t, func(rt *rapid.T) {
		m := newQueueModel(t, rt, stats)
		m.arrays = []int{0, 0, 2, 7, 30}
		defer m.db.Close()
		for range m.draw("rounds", 2, 5) {
			for range m.draw("steps", 1, 5) {
				m.step()
			}
			m.lotsAgree()
			m.do("cycle", func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{}); return err })
		}
	})
	if t.Logf("%+v", *stats); stats.passed == 0 && !testing.Short() { // few lives may have no lot
		t.Error("no job was passed over")
	}
}

// lotsAgree: a cycle that decides lots of jobs together does what one does that has each job have
// its turn.
func (m *queueModel) lotsAgree() {
	outcome := func(singly bool) (text string) {
		err := m.db.DryRun(func(tx *Tx) error {
			p, err := cycle.RunPass(tx.k, CycleSpec{Singly: singly})
			if err != nil {
				return err
			}
			for _, l := range p.EqualTo {
				m.stats.lots++
				m.stats.passed += len(l)
			}
			r := p.Report()
			text = fmt.Sprintf("%d wait, next %v, %d start, %d planned, %d never, %d cancelled, %d launched\n", r.Waiting, r.Next, len(r.Started), len(r.Planned), len(r.Never), len(r.Cancelled), len(r.Launch))
			claims, err := tx.k.Counters().Rules.Claims()
			for _, id := range slices.Sorted(maps.Keys(claims)) {
				text += fmt.Sprintf("claim %d %+v\n", id, *claims[id])
			}
			return errors.Join(err, tx.k.EachJob(func(j *row.Job) error {
				text += fmt.Sprintf("%+v\n", *j)
				return nil
			}))
		})
		if err != nil {
			m.Fatalf("a cycle: %v", err)
		}
		return text
	}
	if together, singly := outcome(false), outcome(true); together != singly {
		m.Fatalf("a cycle by lots differs: %s", cmp.Diff(singly, together))
	}
}
