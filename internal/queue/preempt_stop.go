package queue

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer/cycle"
	"github.com/placectl/placectl/placer/preempt"
)

// toGo returns how long, in seconds, a job keeps its nodes after it was told to stop: the rule's
// grace, else its own. An unclaimed job is not being executed.
func toGo(tx *kernel.Tx, j *row.Job, grace int64) (int64, error) {
	executed := kernel.IsExecuted(j)
	if !executed {
		told, err := told(tx, j)
		if !told || err != nil || j.End <= tx.Now {
			return 0, err
		}
	}
	if grace < 0 {
		own, err := tx.Attempts().Grace(j)
		if err != nil {
			return 0, err
		}
		grace = kernel.Seconds(own)
	}
	if executed {
		grace = max(grace, 1) // it cannot have stopped by now
	}
	return grace, nil
}

// told reports whether a launcher has claimed a job's attempt, and may be executing it.
func told(tx *kernel.Tx, j *row.Job) (bool, error) {
	if !j.Launched || j.Attended {
		return false, nil
	}
	a, err := tx.Attempts().Of(j, j.CurrentAttempt())
	return err == nil && a.By == row.ByLauncher && a.Claimed != 0, err
}

func (m *making) Try(c *preempt.Candidate) error {
	r := m.running[c.ID]
	spans, err := m.tx.Allocations().Spans(r)
	if err != nil {
		return err
	}
	m.tried[c.ID] = trialEnd{spans, r.End}
	if err := jobs.LeaveNodes(m.tx, r); err != nil || c.Grace == 0 {
		return err
	}
	r.End = m.tx.Now + c.Grace
	kept := slices.Clone(spans)
	for i := range kept {
		kept[i].End = r.End
	}
	return plan.OccupyAgain(m.tx, r, kept, r.State)
}

func (m *making) Untry(c *preempt.Candidate) error {
	r, was := m.running[c.ID], m.tried[c.ID]
	delete(m.tried, c.ID)
	if c.Grace > 0 {
		if err := jobs.LeaveNodes(m.tx, r); err != nil {
			return err
		}
	}
	r.End = was.end
	return plan.OccupyAgain(m.tx, r, was.spans, r.State)
}

func (m *making) Stop(c *preempt.Candidate, other *cycle.Job) error {
	if err := m.Untry(c); err != nil {
		return err
	}
	r := m.running[c.ID]
	delete(m.running, c.ID)
	m.awaited[other.ID] = c.Grace > 0 || m.awaited[other.ID]
	m.urgent = nil
	id := strconv.FormatUint(other.ID, 10)
	return m.makesWay(r, stopping{forJob: other.ID, how: c.Rule.How, grace: c.Grace, rule: c.Rule.String(),
		reason: row.Because(row.CausePreempted, fmt.Sprintf("made way for job %s (%s)", id, c.Rule))})
}

// stopping says how a job is preempted.
type stopping struct {
	forJob uint64 // 0 for another class's share
	how    preempt.How
	grace  int64 // seconds for which it keeps its nodes if it may be executed
	rule   string
	reason row.Reason
}

// makesWay preempts a running job: it is queued again, or cancelled. If it is not being
// executed, it leaves its nodes at once, else when it has stopped or its grace is over.
func (p *pass) makesWay(j *row.Job, s stopping) error {
	if j.Ending {
		return nil // it is already giving its nodes back
	}
	becomes := row.JobQueued
	if j.NoRequeue || s.how == preempt.Cancel {
		becomes = row.JobCancelled
	}
	j.YieldedTo = append(j.YieldedTo, s.forJob)
	if s.forJob != 0 {
		if err := p.tx.Happened(row.Event{Job: j.ID, Event: "preempt", Attempt: j.Attempt, Old: j.State.String(),
			New: j.State.String(), Reason: s.reason}); err != nil {
			return err
		}
	}
	p.madeWay[s.forJob] = append(p.madeWay[s.forJob],
		MadeWay{Job: j.ID, Becomes: becomes, Until: kernel.Instant(min(p.tx.Now+s.grace, max(j.End, p.tx.Now))),
			Rule: s.rule})
	if s.grace > 0 {
		return jobs.MachineOf(p.tx).EndsWithin(j, becomes, s.reason, s.grace)
	}
	if becomes == row.JobQueued {
		p.waiting++
		p.why[j.ID] = s.reason
	}
	return jobs.MachineOf(p.tx).Do(j, jobs.Step{To: becomes, Reason: s.reason})
}
