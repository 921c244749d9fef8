package queue

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/timeline"
)

// job starts a planned job whose time has come. If that is not possible, it takes the job off
// its nodes, and the job is late. A node is never given away while an overdue job has it, and
// nothing starts on one that is not up.
func (p *clockAdvance) job(c change) error {
	tx := p.tx
	j, err := tx.ListedJob(c.owner >> 1)
	if err != nil {
		return err
	}
	if j.EndsByClock() {
		return jobs.EndAsMarked(tx, j)
	}
	if j.State != row.JobReserved {
		return fmt.Errorf("%w: job %d should begin at %s, and is %s", row.ErrDamaged, j.ID, kernel.Stamp(c.at), j.State)
	}
	waitsFor, err := jobs.Ready(tx, j)
	if err != nil && !errors.Is(err, kernel.ErrUnmet) {
		return err
	}
	if waitsFor != "" || err != nil { // for example, a job that it depends on was requeued
		return jobs.MachineOf(tx).Do(j,
			jobs.Step{To: row.JobQueued,
				Reason: jobs.WasToStart(j, row.Because(row.CauseDependency, "it waits for another job again"))})
	}
	if absent, err := Unattended(tx, j); absent != "" || err != nil {
		if err != nil {
			return err
		}
		return jobs.MachineOf(tx).Do(j,
			jobs.Step{To: row.JobQueued, Reason: jobs.WasToStart(j, row.Because(row.CauseUnattended, absent))})
	}
	spans, err := tx.Allocations().Spans(j)
	if err != nil {
		return err
	}
	if err := p.clearBefore(spans, j); err != nil {
		return err
	}
	for _, s := range spans {
		why, err := p.notReady(s, j)
		if err != nil {
			return err
		}
		if why != "" {
			return p.putOff(c, j, row.Because(row.CauseRoom, why))
		}
	}
	if why, err := tx.Counters().Exceeds(j, c.at, c.at+1, false); err != nil {
		return err
	} else if why != "" {
		return p.putOff(c, j, row.Because(row.CauseLimit, why))
	}
	var short *row.Conflict
	if err := plan.BindDevices(tx, j, nil); errors.As(err, &short) {
		return p.putOff(c, j, row.Because(row.CauseRoom, short.Why))
	} else if err != nil {
		return err
	}
	if err := plan.Begin(tx, j.AllNodes()); err != nil {
		return err
	}
	around, err := passesOther(tx, j)
	if err != nil {
		return err
	}
	return jobs.MachineOf(tx).Do(j, jobs.Step{To: row.JobRunning, Reason: j.Reason, Begins: true, Around: around})
}

// putOff takes a planned job that cannot begin off its nodes. A job before it may end at this very
// instant, and its end may still be reported. Until a cycle decides, or the instant is over, the plan
// and those behind it stay.
func (p *clockAdvance) putOff(c change, j *row.Job, why row.Reason) error {
	if c.at == p.tx.Now && !p.decides && !p.tx.Opt.Plays {
		p.stays = true
		return plan.Begin(p.tx, j.AllNodes())
	}
	p.late = append(p.late, j)
	return jobs.PutOff(p.tx, j, jobs.WasToStart(j, why))
}

// clearBefore takes overdue jobs off the nodes on which something begins now. It takes those whose
// launch was never announced, and all others too if the store ends overdue jobs.
func (p *clockAdvance) clearBefore(spans []kernel.Span, j *row.Job) error {
	tx := p.tx
	late := make(map[uint64]bool)
	for _, s := range spans {
		for _, b := range tx.Calendar().At(s.Node) {
			if b.Held && b.Owner != s.Owner && b.End <= tx.Calendar().Now() {
				late[b.Owner>>1] = true
			}
		}
	}
	now := tx.Calendar().Now()
	if short, err := tx.Counters().Exceeds(j, now, now+1, false); err != nil {
		return err
	} else if short != "" {
		counted, err := tx.Counters().Overdue(j)
		if err != nil {
			return err
		}
		for _, id := range counted {
			late[id] = true
		}
	}
	if len(late) == 0 {
		return nil
	}
	set, err := tx.Settings()
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(late)) {
		j, err := tx.ListedJob(id)
		if err != nil {
			return err
		}
		switch {
		case j.State != row.JobRunning: // that job was late itself, and is being planned again
		case j.ToLaunch():
			err = missed(tx, j)
		case j.EndsByClock():
			err = jobs.EndAsMarked(tx, j)
		case kernel.IsExecuted(j):
			err = executed(tx, j, set)
		case set.FinishOverdue:
			err = finish(tx, j)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// notReady says what keeps a job's stretch on a node from beginning, or returns "". The plan
// took account of everything else, so only overdue jobs can be in its way. The node must be
// up, unless it is only withheld from new jobs because its host is silent.
func (p *clockAdvance) notReady(s kernel.Span, j *row.Job) (string, error) {
	tx := p.tx
	_, state, err := tx.Loaded.Nodes.Head(s.Node)
	if err != nil {
		return "", err
	}
	name, err := tx.Loaded.Nodes.Name(s.Node)
	if err != nil {
		return "", err
	}
	if state != index.Up && !slices.Contains(j.Along, s.Node) {
		return fmt.Sprintf("node %s was %s", name, state), nil
	}
	c, now := tx.Calendar(), tx.Calendar().Now()
	overdue := func(b timeline.Busy) bool { return b.Held && b.End <= now && b.Owner != s.Owner }
	i := slices.IndexFunc(c.At(s.Node), overdue)
	if i < 0 {
		return "", nil
	}
	first := s.Busy
	first.End = now + 1
	err = plan.Taking{Tx: p.tx, What: "it", Node: s.Node, Span: first, Guest: &beginner{s.Owner},
		User: j.User}.Conflict()
	var conflict *row.Conflict
	if !errors.As(err, &conflict) {
		return "", err
	}
	who, err := tx.Owner(c.At(s.Node)[i])
	return fmt.Sprintf("%s was still on node %s", who, name), err
}

// beginner is a job that begins. It conflicts only with other jobs, because reservations on
// its nodes have admitted it.
type beginner struct{ owner uint64 }

// Ignores implements timeline.Guest.
func (g *beginner) Ignores(b *timeline.Busy, _, _ int64) bool { return b.Claim || b.Owner == g.owner }
