package queue

import (
	"cmp"
	"slices"
	"time"

	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/users"
	"github.com/placectl/placectl/placer/subject"
)

// spared reports the instants from which running jobs may be preempted for a waiting one.
func (p *Playing) spared(at func(int64)) error {
	ranks, err := users.Ranks(p.Tx.File)
	if ranks == nil || err != nil {
		return err
	}
	m := &making{pass: &pass{tx: p.Tx}}
	asking := make(map[subject.Names]bool)
	err = p.Tx.EachJob(func(j *row.Job) error {
		who, err := m.whose(j)
		if err == nil && j.Queued && ranks.Left(who) {
			asking[who] = true
		}
		return err
	}, row.JobQueued, row.JobReserved)
	if err != nil || len(asking) == 0 && ranks.Soft() == nil {
		return err
	}
	return p.Tx.EachJob(func(j *row.Job) error {
		is, err := m.whose(j)
		if err != nil || !j.Queued {
			return err
		}
		if soft := ranks.Soft(); soft != nil {
			at(j.Start + soft.MinRun)
		}
		for who := range asking {
			if rule := ranks.Over(who, is); rule != nil && !rule.Spares(rule.MinRun, len(j.YieldedTo)) {
				at(j.Start + rule.MinRun)
			}
		}
		return nil
	}, row.JobRunning)
}

// MadeWay is a job that a cycle would stop for another.
type MadeWay struct {
	Job     uint64
	Becomes row.JobState // queued again, or cancelled
	Until   time.Time    // the latest instant at which the other job gets its nodes
	Rule    string       // the rule by which it makes way
}

// MayStop reports whether a waiting job may preempt others by some rule.
func (cy Cycle) MayStop(id uint64) (bool, error) {
	j, err := cy.tx.Job(id)
	if err != nil || !j.Queued || j.State != row.JobQueued && j.State != row.JobReserved {
		return false, err
	}
	ranks, err := users.Ranks(cy.tx.File)
	if ranks == nil || err != nil {
		return false, err
	}
	who, err := (&making{pass: &pass{tx: cy.tx}}).whose(j)
	return ranks.Left(who) || ranks.Soft() != nil, err
}

// WouldStop lists the jobs that a cycle would stop now for a waiting job. It runs one, so call it
// in a DryRun.
func (cy Cycle) WouldStop(id uint64) ([]MadeWay, error) {
	p, err := RunPass(cy.tx, CycleSpec{})
	if err != nil {
		return nil, err
	}
	out := p.madeWay[id]
	slices.SortFunc(out, func(a, b MadeWay) int { return cmp.Compare(a.Job, b.Job) })
	return out, nil
}
