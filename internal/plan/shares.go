package plan

import (
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/shares"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/placer/subject"
)

func SetShareTimer(tx *kernel.Tx, t fairshare.Timer) error {
	was, err := tx.ShareTimer()
	switch {
	case err != nil || was == t:
		return err
	case !t.Running:
		return tx.File.Remove(row.Shares, row.KeyShareState)
	}
	return tx.File.Put(row.Shares, row.KeyShareState, row.ShareTimerRow.Encode(&t))
}

// ClassShares is the part of a transaction that deals with the shares of classes.
type ClassShares struct{ tx *kernel.Tx }

func ClassSharesOf(tx *kernel.Tx) ClassShares { return ClassShares{tx} }

// OfJob returns the class whose share a job uses: the given class if it exists, or that of its
// user as a requestor. It returns "" in a store without classes.
func (cs ClassShares) OfJob(who subject.Names) (string, error) {
	s, err := cs.tx.Shares()
	if err != nil {
		return "", err
	}
	for _, c := range s.Loads {
		if c.Class == who[subject.Class] {
			return c.Class, nil
		}
	}
	return cs.tx.ClassOf(who[subject.User])
}

// Tally returns a tally with nothing running or waiting.
func (cs ClassShares) Tally() (*shares.Tally, error) {
	s, err := cs.tx.Shares()
	if err != nil {
		return nil, err
	}
	timer, err := cs.tx.ShareTimer()
	if err != nil {
		return nil, err
	}
	set, err := cs.tx.Settings()
	if err != nil {
		return nil, err
	}
	unit, err := shares.UnitOf(cs.tx.Loaded.Defs, set.ShareUnit)
	if err != nil {
		return nil, err
	}
	ix, err := cs.tx.Index()
	if err != nil {
		return nil, err
	}
	t := shares.NewTally(shares.Source{Now: cs.tx.Now, Defs: cs.tx.Loaded.Defs, Nodes: cs.tx.Loaded.Nodes, Classes: cs,
		Allocations: cs.tx.Allocations(),
		Overdue:     cs.tx}, unit, s, timer, ix)
	if err := cs.tx.Reservations().Each(t.Keeps); err != nil {
		return nil, err
	}
	return t, ix.Err()
}

// Allot computes how much each class may start, with these jobs waiting.
func (cs ClassShares) Allot(t *shares.Tally, line []*row.Job) (*shares.Allotment, *fairshare.Plan, error) {
	if err := cs.tx.EachJob(t.Runs, row.JobRunning); err != nil {
		return nil, nil, err
	}
	if err := cs.Wait(t, line); err != nil {
		return nil, nil, err
	}
	return t.Allot()
}

// Wait counts the jobs of the queue that may begin by now and that pools and limits allow to start.
func (cs ClassShares) Wait(t *shares.Tally, line []*row.Job) error {
	start := cs.tx.Counters().Lettable()
	defer start.Undo()
	for _, j := range line {
		if j.Begin > cs.tx.Now {
			continue
		}
		if err := t.Waits(j, start); err != nil && !kernel.IsRefusal(err) {
			return err
		}
	}
	return nil
}
