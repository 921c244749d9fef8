package store

import (
	"errors"
	"fmt"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
)

// beginJob starts a planned job whose time has come. Where that is not possible
// it is taken off its nodes and added to late: a node is never given away while
// an overdue job has it, and nothing starts on one that is not up.
func (tx *Tx) beginJob(c change, late []*Job) ([]*Job, error) {
	j, err := tx.Job(c.owner >> 1)
	if err != nil {
		return nil, err
	}
	if j.State != JobReserved {
		return nil, fmt.Errorf("%w: job %d is to begin at %s, and is %s", ErrDamaged, j.ID, stamp(c.at), j.State)
	}
	for _, n := range j.NodeNumbers() {
		why, err := tx.notReady(n, c.owner)
		if err != nil {
			return nil, err
		}
		if why != "" {
			j.Reason = fmt.Sprintf("was to start at %s; %s", stamp(j.Start), why)
			return append(late, j), tx.vacate(j)
		}
	}
	j.State = JobRunning
	if err := tx.beginOn(j.NodeNumbers()); err != nil {
		return nil, err
	}
	return late, tx.putJob(j, JobReserved)
}

// notReady says what keeps an owner from beginning on a node, "" for nothing.
func (tx *Tx) notReady(node uint32, owner uint64) (string, error) {
	on, _ := tx.Calendar().On(node)
	_, state, err := tx.nodeHead(node)
	if err != nil || on.Owner == owner && state == index.Up {
		return "", err
	}
	name, err := tx.nodeName(node)
	if err != nil {
		return "", err
	}
	if state != index.Up {
		return fmt.Sprintf("node %s was %s", name, state), nil
	}
	who, err := tx.Owner(on)
	return fmt.Sprintf("%s was still on node %s", who, name), err
}

// planAnew gives a late job the earliest start that there is for it now. One that
// fits nowhere any more, or asks for what is not defined any more, has failed:
// the clock must go on.
func (tx *Tx) planAnew(j *Job) error {
	a, plan, err := tx.earliestFor(j)
	for _, final := range []error{placer.ErrNever, placer.ErrNotNow, placer.ErrRequest, ErrNotFound, ErrInvalid} {
		if errors.Is(err, final) {
			j.State, j.End = JobFailed, tx.now
			j.Reason += "; " + err.Error()
			return tx.putJob(j, JobReserved)
		}
	}
	if err != nil {
		return err
	}
	return tx.apply(j, a, plan, JobReserved)
}

func (tx *Tx) earliestFor(j *Job) (placer.Ask, *placer.Plan, error) {
	a, err := tx.Ask(placer.Request{Select: j.Select, Place: j.Place, Queue: j.Queue})
	if err != nil {
		return a, nil, err
	}
	a.Duration = j.Walltime
	snap, err := tx.snapshot(j.Queue)
	if err != nil {
		return a, nil, err
	}
	plan, err := snap.Earliest(a, tx.now)
	return a, plan, err
}
