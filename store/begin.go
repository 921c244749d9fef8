package store

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/timeline"
)

// job starts a planned job whose time has come. Where that is not possible it is taken
// off its nodes and is late: a node is never given away while an overdue job has it, and
// nothing starts on one that is not up.
func (p *clockAdvance) job(c change) error {
	tx := p.tx
	j, err := tx.job(c.owner >> 1)
	if err != nil {
		return err
	}
	if j.EndsByClock() {
		return tx.attempts().asMarked(j)
	}
	if j.State != JobReserved {
		return fmt.Errorf("%w: job %d is to begin at %s, and is %s", ErrDamaged, j.ID, stamp(c.at), j.State)
	}
	waitsFor, err := tx.waiting().ready(j)
	if err != nil && !errors.Is(err, errUnmet) {
		return err
	}
	if waitsFor != "" || err != nil { // for example, a job that it depends on was queued again
		return tx.machine().do(j, step{to: JobQueued, reason: wasToStart(j, row.Because(row.CauseDependency, "it waits for another job again"))})
	}
	if absent, err := tx.waiting().unattended(j); absent != "" || err != nil {
		return errors.Join(err, tx.machine().do(j, step{to: JobQueued, reason: wasToStart(j, row.Because(row.CauseUnattended, absent))}))
	}
	spans, err := tx.allocations().spans(j)
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
			return p.putOff(j, row.Because(row.CauseRoom, why))
		}
	}
	if why, err := tx.counters().Exceeds(j, c.at, c.at+1, false); err != nil {
		return err
	} else if why != "" {
		return p.putOff(j, row.Because(row.CauseLimit, why))
	}
	var short *Conflict
	if err := tx.nodeDevices().bind(j, nil); errors.As(err, &short) {
		return p.putOff(j, row.Because(row.CauseRoom, short.Why))
	} else if err != nil {
		return err
	}
	if err := p.beginOn(j.AllNodes()); err != nil {
		return err
	}
	around, err := tx.waiting().passesOther(j)
	if err != nil {
		return err
	}
	return tx.machine().do(j, step{to: JobRunning, reason: j.Reason, begins: true, around: around})
}

// putOff takes a planned job that cannot begin off its nodes.
func (p *clockAdvance) putOff(j *row.Job, why row.Reason) error {
	p.late = append(p.late, j)
	return p.tx.putOff(j, wasToStart(j, why))
}

// clearBefore takes overdue jobs off the nodes on which something begins now. It takes those whose
// launch was never announced, and all others too if the store ends overdue jobs.
func (p *clockAdvance) clearBefore(spans []span, j *row.Job) error {
	tx := p.tx
	late := make(map[uint64]bool)
	for _, s := range spans {
		for _, b := range tx.calendar().At(s.Node) {
			if b.Held && b.Owner != s.Owner && b.End <= tx.calendar().Now() {
				late[b.Owner>>1] = true
			}
		}
	}
	now := tx.calendar().Now()
	if short, err := tx.counters().Exceeds(j, now, now+1, false); err != nil {
		return err
	} else if short != "" {
		counted, err := tx.counters().Overdue(j)
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
	set, err := tx.settings()
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(late)) {
		j, err := tx.job(id)
		if err != nil {
			return err
		}
		switch {
		case j.State != JobRunning: // it was late itself, and is being planned again
		case j.ToLaunch():
			err = tx.overdue().missed(j)
		case j.EndsByClock():
			err = tx.attempts().asMarked(j)
		case isExecuted(j):
			err = tx.overdue().executed(j, set)
		case set.FinishOverdue:
			err = tx.overdue().finish(j)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// notReady says what keeps a job's stretch on a node from beginning, or "". Everything else was
// there when it was planned, so only overdue jobs can be in its way. The node must be up, unless it
// is only withheld from others because its host is silent.
func (p *clockAdvance) notReady(s span, j *row.Job) (string, error) {
	tx := p.tx
	_, state, err := tx.loaded.nodes.Head(s.Node)
	if err != nil {
		return "", err
	}
	name, err := tx.loaded.nodes.Name(s.Node)
	if err != nil {
		return "", err
	}
	if state != index.Up && !slices.Contains(j.Along, s.Node) {
		return fmt.Sprintf("node %s was %s", name, state), nil
	}
	c, now := tx.calendar(), tx.calendar().Now()
	overdue := func(b timeline.Busy) bool { return b.Held && b.End <= now && b.Owner != s.Owner }
	i := slices.IndexFunc(c.At(s.Node), overdue)
	if i < 0 {
		return "", nil
	}
	first := s.Busy
	first.End = now + 1
	err = p.tx.allocations().taking("it", s.Node, first, &beginner{s.Owner}, j.User).Conflict()
	var conflict *Conflict
	if !errors.As(err, &conflict) {
		return "", err
	}
	who, err := tx.Owner(c.At(s.Node)[i])
	return fmt.Sprintf("%s was still on node %s", who, name), err
}

// beginner is a job that begins: it minds other jobs alone. Reservations that lie
// over it have let it in.
type beginner struct{ owner uint64 }

// Ignores implements timeline.Guest.
func (g *beginner) Ignores(b *timeline.Busy, _, _ int64) bool { return b.Claim || b.Owner == g.owner }
