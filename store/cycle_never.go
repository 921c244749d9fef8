package store

import (
	"errors"
	"strings"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/cycle"
	"github.com/placectl/placectl/store/internal/row"
)

// Jobs that can never run, as the cluster is, wait in vain. That is said when they are
// submitted, or when a cycle finds it out, and again by each cycle as long as it is
// so. They are in nobody's way, and are looked at again when something has changed.

// NeverRuns is a job that can never run, as things are.
type NeverRuns struct {
	*Job
	Why string
}

type neverRuns struct {
	*row.Job
	why string
}

// neverRuns marks a job as one that can never run.
func (tx *Tx) neverRuns(j *row.Job, why string) error {
	j.Never = true
	return tx.happened(row.Event{Job: j.ID, Event: "never", Old: j.State.String(), New: j.State.String(), Reason: why})
}

// Never makes it a cycle.Host: it tells of a job that can never run, and marks one that
// was not known to.
func (p *pass) Never(c *cycle.Job, why error) error {
	j := p.jobs[c.ID]
	if p.told[j.ID] {
		return nil // when it was looked at before
	}
	p.told[j.ID] = true
	p.never = append(p.never, neverRuns{j, why.Error()})
	if j.Never {
		return nil
	}
	if err := p.tx.neverRuns(j, why.Error()); err != nil {
		return err
	}
	if markedOf(j.Reason) {
		j.Reason = ""
	}
	return p.tx.putJob(j, j.State)
}

// stillNever tells of the jobs that can never run and were not looked at: the marked
// ones, and where something has changed since the last cycle those that wait for anything
// but room. It takes the mark from those that could run by now.
func (p *pass) stillNever() error {
	changed := p.began != p.tx.state.Planned
	look := func(list []*row.Job, all bool) error {
		for _, j := range list {
			if p.told[j.ID] || !j.State.Live() || !j.Never && (!all || j.State != JobQueued) {
				continue
			}
			if err := p.lookAgain(j); err != nil {
				return err
			}
		}
		return nil
	}
	return errors.Join(look(p.queue, false), look(p.aside, changed))
}

// lookAgain finds out whether a job that was not looked at could run.
func (p *pass) lookAgain(j *row.Job) error {
	c := p.waits(j)
	why, err := p.decider.Possible(c)
	switch {
	case err != nil:
		return err
	case why != nil && j.State == JobReserved: // it keeps its plan
		return nil
	case why != nil:
		return p.Never(c, why)
	case !j.Never:
		return nil
	}
	j.Never = false
	return p.tx.putJob(j, j.State)
}

// markedOf reports whether a reason is the mark that cycles once left there.
func markedOf(reason string) bool { return strings.HasPrefix(reason, placer.ErrNever.Error()+": ") }

// whyNever says why a submitted job can never run, "" when it can.
func (tx *Tx) whyNever(s Submission, a placer.Ask) (string, error) {
	snap, err := tx.snapshot(s.Queue)
	if err != nil {
		return "", err
	}
	switch err := snap.Possible(a); {
	case errors.Is(err, placer.ErrNever):
		return err.Error(), nil
	case !isRefusal(err):
		return "", err
	}
	return "", nil
}
