package jobs

import (
	"errors"

	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/timeline"
)

// PlannedBehind lists the jobs that should start soon on a node of an overdue job, or with
// something that it holds.
func PlannedBehind(tx *kernel.Tx, j *row.Job) ([]uint64, error) {
	until := tx.Now + tx.Overrun(row.JobOwner(j.ID))
	ids, err := tx.Counters().Planned(j, tx.Now, until)
	for _, node := range j.AllNodes() {
		for _, b := range tx.Calendar().At(node) {
			if b.Held && b.Start > tx.Now && b.Start < until {
				ids = append(ids, b.Owner>>1)
			}
		}
	}
	return ids, err
}

// Conflict reports whether another owner, which guest does not ignore, holds what a job has
// planned. If by is true, counters ignore overdue jobs.
func Conflict(tx *kernel.Tx, j *row.Job, guest timeline.Guest, by bool) (bool, error) {
	if short, err := tx.Counters().Exceeds(j, j.Start, j.End, by); short != "" || err != nil {
		return short != "", err
	}
	spans, err := tx.Allocations().Spans(j)
	if err != nil {
		return false, err
	}
	for _, s := range spans {
		err := plan.Taking{Tx: tx, What: "the plan", Node: s.Node, Span: s.Busy, Guest: guest,
			User: j.User}.Conflict()
		if errors.Is(err, row.ErrConflict) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// Patient is a job whose plan ignores overdue jobs, because they already were in its way.
type Patient struct {
	*placer.Guest
	Now int64
}

// Ignores implements timeline.Guest.
func (g *Patient) Ignores(b *timeline.Busy, from, to int64) bool {
	return b.Held && b.End <= g.Now || g.Guest.Ignores(b, from, to)
}
