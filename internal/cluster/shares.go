package cluster

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/queue"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/shares"
	"github.com/placectl/placectl/internal/users"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/placer/subject"
)

// Set replaces the settings of class shares; empty ones delete all. It fails with ErrInvalid
// and the *fairshare.SettingError if they would not work. The timer of rebalancing restarts if
// the classes, their loads, the threshold or the duration change.
func (sh Shares) Set(s *fairshare.Settings) error {
	if err := users.Operates(sh.tx, "classes"); err != nil {
		return err
	}
	if err := s.Check(); err != nil {
		return fmt.Errorf("%w: %w", row.ErrInvalid, err)
	}
	was, err := sh.tx.Shares()
	if err != nil {
		return err
	}
	for _, p := range slices.Clone(s.Allow) {
		if err := users.ValidAllow(&p.Who); err != nil {
			return err
		}
		if !slices.ContainsFunc(s.Loads, func(c fairshare.ClassLoad) bool { return c.Class == p.Class }) {
			p.Who = nil // the class is gone
		}
		s.SetAllowed(p.Class, p.Who)
	}
	sh.tx.Loaded.Matcher = nil
	if was.Rebalance != s.Rebalance || !sameLoads(was.Loads, s.Loads) {
		if err := plan.SetShareTimer(sh.tx, fairshare.Timer{}); err != nil {
			return err
		}
	}
	if len(s.Loads) == 0 && s.Rebalance == (fairshare.Rebalance{}) && s.Spare == (fairshare.Spare{}) {
		err = sh.tx.File.Remove(row.Shares, row.KeyShareSettings)
	} else {
		err = sh.tx.File.Put(row.Shares, row.KeyShareSettings, row.ShareSettingsRow.Encode(s))
	}
	if err != nil {
		return err
	}
	return recountedFor(sh.tx, subject.Class)
}

func sameLoads(a, b []fairshare.ClassLoad) bool {
	byClass := func(list []fairshare.ClassLoad) map[string]int {
		loads := make(map[string]int, len(list))
		for _, c := range list {
			loads[c.Class] = c.Load
		}
		return loads
	}
	return maps.Equal(byClass(a), byClass(b))
}

// SetTimer stores a timer for the next cycle. If it has not changed, nothing is written.
func (sh Shares) SetTimer(t fairshare.Timer) error {
	if err := users.Operates(sh.tx, "classes"); err != nil {
		return err
	}
	return plan.SetShareTimer(sh.tx, t)
}

// State returns the state on which class shares plan, by class and in the unit of the setting
// share_unit. It covers all nodes that are up, the parts that running jobs have of them, and
// the requests of queued jobs that pools and limits allow to start now. Jobs on nodes that are
// not up do not count. Nodes in an active reservation that admits no one are left out. A job
// counts in the class submitted with it, if that exists, else in its user's.
func (sh Shares) State() (*fairshare.State, error) {
	t, err := plan.ClassSharesOf(sh.tx).Tally()
	if err != nil {
		return nil, err
	}
	if err := sh.tx.EachJob(t.Runs, row.JobRunning); err != nil {
		return nil, err
	}
	line, err := startable(sh.tx)
	if err != nil {
		return nil, err
	}
	return &t.State, plan.ClassSharesOf(sh.tx).Wait(t, line)
}

// startable returns the queued jobs that wait neither for another job nor for their begin
// time.
func startable(tx *kernel.Tx) (line []*row.Job, err error) {
	all, err := queue.InOrder(tx)
	if err != nil {
		return nil, err
	}
	for _, j := range all {
		waitsFor, err := jobs.Ready(tx, j)
		if waitsFor == "" && err == nil && j.Begin <= tx.Now {
			line = append(line, j)
		}
		if err != nil && !errors.Is(err, kernel.ErrUnmet) {
			return nil, err
		}
	}
	return line, nil
}

// AllottedShares returns how much each class may start now, or nil without classes.
func AllottedShares(tx *kernel.Tx) (*shares.Allotment, error) {
	tally, err := plan.ClassSharesOf(tx).Tally()
	if err != nil || len(tally.State.Classes) == 0 {
		return &shares.Allotment{Tally: tally}, err
	}
	line, err := startable(tx)
	if err != nil {
		return nil, err
	}
	a, _, err := plan.ClassSharesOf(tx).Allot(tally, line)
	return a, err
}
