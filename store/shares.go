package store

import (
	"errors"
	"fmt"
	"slices"

	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/placer/limits"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/store/internal/shares"
	"github.com/placectl/placectl/store/internal/sharing"
)

// The class shares of a store are two rows: the settings, and since when the shares have been out
// of balance, which a cycle stores for the next one.

// Shares returns a copy of the settings of class shares. Change it by its methods and pass it to
// SetShares. A store in which none were set has no classes.
func (tx *Tx) Shares() (*fairshare.Settings, error) {
	payload, err := tx.file.Get(row.Shares, row.KeyShareSettings)
	if err != nil || payload == nil {
		return new(fairshare.Settings), err
	}
	return row.DecodeShareSettings(payload)
}

// SetShares replaces the settings of class shares; empty ones delete all. It fails with ErrInvalid
// and the *fairshare.SettingError if they would not work. The timer of rebalancing restarts if its
// basis changes: the classes, their loads, the threshold or the duration.
func (tx *Tx) SetShares(s *fairshare.Settings) error {
	if err := tx.operates("classes"); err != nil {
		return err
	}
	if err := s.Check(); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	was, err := tx.Shares()
	if err != nil {
		return err
	}
	for _, p := range slices.Clone(s.Allow) {
		if err := sharing.ValidAllow(&p.Who); err != nil {
			return err
		}
		if !slices.ContainsFunc(s.Loads, func(c fairshare.ClassLoad) bool { return c.Class == p.Class }) {
			p.Who = nil // the class is gone
		}
		s.SetAllowed(p.Class, p.Who)
	}
	tx.loaded.matcher = nil
	if was.Rebalance != s.Rebalance || !sameLoads(was.Loads, s.Loads) {
		if err := tx.setShareTimer(fairshare.Timer{}); err != nil {
			return err
		}
	}
	if len(s.Loads) == 0 && s.Rebalance == (fairshare.Rebalance{}) && s.Spare == (fairshare.Spare{}) {
		err = tx.file.Remove(row.Shares, row.KeyShareSettings)
	} else {
		err = tx.file.Put(row.Shares, row.KeyShareSettings, row.EncodeShareSettings(s))
	}
	if err != nil {
		return err
	}
	return tx.counters().recountedFor(limits.Class)
}

func sameLoads(a, b []fairshare.ClassLoad) bool {
	if len(a) != len(b) {
		return false
	}
	loads := make(map[string]int, len(a))
	for _, c := range a {
		loads[c.Class] = c.Load
	}
	for _, c := range b {
		if load, ok := loads[c.Class]; !ok || load != c.Load {
			return false
		}
	}
	return true
}

// ShareTimer is since when classes have been as far apart as the threshold of
// rebalancing says, as the last cycle left it.
func (tx *Tx) ShareTimer() (fairshare.Timer, error) {
	payload, err := tx.file.Get(row.Shares, row.KeyShareState)
	if err != nil || payload == nil {
		return fairshare.Timer{}, err
	}
	return row.DecodeShareTimer(payload)
}

// SetShareTimer keeps a timer for the next cycle. One that has not changed writes
// nothing.
func (tx *Tx) SetShareTimer(t fairshare.Timer) error {
	if err := tx.operates("classes"); err != nil {
		return err
	}
	return tx.setShareTimer(t)
}

func (tx *Tx) setShareTimer(t fairshare.Timer) error {
	was, err := tx.ShareTimer()
	switch {
	case err != nil || was == t:
		return err
	case !t.Running:
		return tx.file.Remove(row.Shares, row.KeyShareState)
	}
	return tx.file.Put(row.Shares, row.KeyShareState, row.EncodeShareTimer(t))
}

// ClassOf is the class that a requestor's jobs are in: that of the first mapping
// which matches, else the default class; "" in a store without classes.
func (tx *Tx) ClassOf(requestor string) (string, error) {
	if tx.loaded.matcher == nil {
		s, err := tx.Shares()
		if err != nil {
			return "", err
		}
		if tx.loaded.matcher, err = s.Matcher(); err != nil {
			return "", fmt.Errorf("%w: class shares: %v", ErrDamaged, err)
		}
	}
	class, _ := tx.loaded.matcher.Class(requestor)
	return class, nil
}

// UnitNodes is the share_unit in which every node counts as one.
const UnitNodes = shares.Nodes

// classShares is the transaction as far as it is about the shares of classes.
type classShares struct{ *Tx }

func (tx *Tx) classShares() classShares { return classShares{tx} }

// ofJob is the class that a job's shares are of: the one that was given, where
// there is such a class, else that of its user as a requestor; "" in a store
// without classes.
func (cs classShares) ofJob(j *row.Job) (string, error) {
	s, err := cs.Shares()
	if err != nil {
		return "", err
	}
	for _, c := range s.Loads {
		if c.Class == j.Class {
			return j.Class, nil
		}
	}
	return cs.ClassOf(j.User)
}

// tally begins to count, with nothing running or waiting.
func (cs classShares) tally() (*shares.Tally, error) {
	s, err := cs.Shares()
	if err != nil {
		return nil, err
	}
	timer, err := cs.ShareTimer()
	if err != nil {
		return nil, err
	}
	set, err := cs.settings()
	if err != nil {
		return nil, err
	}
	unit, err := shares.UnitOf(cs.loaded.defs, set.ShareUnit)
	if err != nil {
		return nil, err
	}
	ix, err := cs.index()
	if err != nil {
		return nil, err
	}
	t := shares.NewTally(shares.Source{Now: cs.now, Defs: cs.loaded.defs, Nodes: cs.loaded.nodes, ClassOf: cs.ofJob, Spans: cs.allocations().spans,
		Overrun: cs.overdue().overrun}, unit, s, timer, ix)
	if err := cs.reservations().each(t.Keeps); err != nil {
		return nil, err
	}
	return t, ix.Err()
}

// allot finds out how much each class may start, with these jobs waiting.
func (cs classShares) allot(t *shares.Tally, line []*row.Job) (*shares.Allotment, *fairshare.Plan, error) {
	if err := cs.eachJob(t.Runs, JobRunning); err != nil {
		return nil, nil, err
	}
	if err := cs.wait(t, line); err != nil {
		return nil, nil, err
	}
	return t.Allot()
}

// wait counts the jobs of the queue that may begin by now and that pools and limits allow to start.
func (cs classShares) wait(t *shares.Tally, line []*row.Job) error {
	start := cs.counters().lettable()
	defer start.undo()
	t.Lets = start.lets
	for _, j := range line {
		if j.Begin > cs.now {
			continue
		}
		if err := t.Waits(j); err != nil && !isRefusal(err) {
			return err
		}
	}
	return nil
}

// ShareState is the state that class shares plan on, by class and in the unit of the setting
// share_unit. It covers all nodes that are up, what running jobs have of them, and what queued jobs
// ask for that pools and limits allow to start now. Jobs on nodes that are not up do not count.
// Nodes in an active reservation that admits no one are left out. A job counts in the class
// submitted with it, if there is such a class, else in its user's.
func (tx *Tx) ShareState() (*fairshare.State, error) {
	cs := tx.classShares()
	t, err := cs.tally()
	if err != nil {
		return nil, err
	}
	if err := tx.eachJob(t.Runs, JobRunning); err != nil {
		return nil, err
	}
	line, err := cs.startable()
	if err != nil {
		return nil, err
	}
	return &t.State, cs.wait(t, line)
}

// startable are the jobs of the queue that wait for no other job, and not to begin.
func (cs classShares) startable() (line []*row.Job, err error) {
	all, err := cs.waiting().line()
	if err != nil {
		return nil, err
	}
	for _, j := range all {
		waitsFor, err := cs.waiting().ready(j)
		if waitsFor == "" && err == nil && j.Begin <= cs.now {
			line = append(line, j)
		}
		if err != nil && !errors.Is(err, errUnmet) {
			return nil, err
		}
	}
	return line, nil
}

// allotted is what each class may start now; nil without classes.
func (cs classShares) allotted() (*shares.Allotment, error) {
	tally, err := cs.tally()
	if err != nil || len(tally.State.Classes) == 0 {
		return &shares.Allotment{Tally: tally}, err
	}
	line, err := cs.startable()
	if err != nil {
		return nil, err
	}
	a, _, err := cs.allot(tally, line)
	return a, err
}
