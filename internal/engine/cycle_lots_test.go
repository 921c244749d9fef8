package engine

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/internal/queue"
	"github.com/placectl/placectl/internal/row"
	"pgregory.net/rapid"
)

// TestLots: over random lives with arrays, cycles that decide lots of equal jobs together
// decide as they do one by one. For many more lives use -run TestLots -rapid.checks 20000.
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

// TestLotsOfArrays: the same is true of cycles over long arrays some of whose jobs are
// changed, end and return.
func TestLotsOfArrays(t *testing.T) {
	t.Parallel()
	stats := new(modelStats)
	rapid.Check(t, func(rt *rapid.T) {
		m := newQueueModel(t, rt, stats)
		m.arrays = []int{0, 40, 70, 100}
		defer m.db.Close()
		for range m.draw("submissions", 1, 3) {
			m.stepOf("submit")
		}
		for range m.draw("rounds", 1, 3) {
			for range m.draw("steps", 0, 4) {
				m.stepOf(rapid.SampledFrom([]string{"job", "job", "job", "done"}).Draw(rt, "step"))
			}
			m.lotsAgree()
			m.do("cycle", func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{}); return err })
		}
	})
	t.Logf("%+v", *stats)
}

// lotsAgree verifies that a cycle which decides lots of jobs together does what one does that
// decides each job in its turn.
func (m *queueModel) lotsAgree() {
	outcome := func(singly bool) (text string) {
		err := m.db.DryRun(func(tx *Tx) error {
			p, err := queue.RunPass(tx.k, CycleSpec{Singly: singly})
			if err != nil {
				return err
			}
			for id, l := range p.EqualTo {
				m.stats.lots++
				m.stats.passed += len(l)
				if err := siblings(tx, id, l); err != nil {
					return err
				}
			}
			r := p.Report()
			text = fmt.Sprintf("%d wait, next %v, %d start, %d planned, %d never, %d cancelled, %d launched\n",
				r.Waiting, r.Next, len(r.Started), len(r.Planned), len(r.Never), len(r.Cancelled), len(r.Launch))
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

// siblings verifies that the jobs of a lot are equal.
func siblings(tx *Tx, id uint64, lot []uint64) error {
	payload, err := tx.k.File.Get(row.Jobs, row.Key64(id))
	if err != nil {
		return err
	}
	j, err := row.DecodeJob(row.Key64(id), payload)
	if err != nil {
		return err
	}
	of, _ := row.SiblingsOf(payload, j)
	for _, id := range lot {
		if payload, err := tx.k.File.Get(row.Jobs, row.Key64(id)); err != nil || !of.Has(payload) {
			return fmt.Errorf("job %d passes for one like job %d: %w", id, j.ID, err)
		}
	}
	return nil
}
