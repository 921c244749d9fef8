package jobs

import (
	"fmt"
	"slices"

	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/users"
)

// PutBack queues the jobs again that a host should execute and that no process there has claimed. It returns
// them.
func (as Attempts) PutBack(node uint32, why string) (back []*kernel.Job, err error) {
	if err := users.Operates(as.tx, "nodes"); err != nil {
		return nil, err
	}
	err = as.runningOn(node, func(j *row.Job, a *row.Attempt) error {
		if !j.ToLaunch() || !j.HasCommand() {
			return nil
		}
		if err := as.tx.Spoil(unclaimed(as.tx, j, a, why, BlameNobody)); err != nil {
			return err
		}
		back = append(back, kernel.JobOf(j))
		return nil
	})
	return back, err
}

// UnclaimedTooLong takes a job off its nodes if no process has claimed its attempt in time, and reports
// whether it did. A suspend of the machine with the database gives hosts that time anew.
func UnclaimedTooLong(tx *kernel.Tx, j *row.Job, set *kernel.Settings) (bool, error) {
	if set.Launch != kernel.LaunchWork || !j.HasCommand() {
		return false, nil
	}
	a, err := tx.Attempts().Of(j, j.CurrentAttempt())
	late := err == nil && tx.Now >= ClaimedBy(tx, a.Began, set)
	if err != nil || !late && tx.Now < j.End {
		return false, err
	}
	if why, err := tx.Copy(); err != nil || why != "" {
		return false, err // it may have been claimed in the database itself
	}
	host, err := host(tx, j)
	if err != nil {
		return false, err
	}
	blame := BlameNobody
	if late && tx.Now < j.End {
		if blame, err = HostsOf(tx).blame(host, set); err != nil {
			return false, err
		}
	}
	return true, unclaimed(tx, j, a, fmt.Sprintf("no process claimed it on %s (for %s)", host, j.User), blame)
}

// ClaimedBy returns until when an attempt that has begun at an instant must be claimed.
func ClaimedBy(tx *kernel.Tx, began int64, set *kernel.Settings) int64 {
	return max(began, tx.State.Woke) + kernel.Seconds(set.ClaimWithin)
}

// unclaimed takes a job whose attempt was not claimed off its nodes. The node whose host should have claimed
// it is left out of the next try, if another could take the job.
func unclaimed(tx *kernel.Tx, j *row.Job, a *row.Attempt, why string, blame Blame) error {
	err := HostsOf(tx).refuses(firstNode(j), Result{Job: j.ID, Why: why, Blame: blame})
	if err == nil {
		err = allowed(tx, j)
	}
	if err == nil {
		err = elsewhere(tx, j)
	}
	if err != nil {
		return err
	}
	a.Outcome, a.Why, a.State, j.Claimed = row.OutcomeRefused, row.Because(row.CauseUntold, why), row.AttemptClaimed,
		true
	if err := tx.Attempts().Put(a); err != nil {
		return err
	}
	j.Unbegun, j.Lost = 0, 0
	return MachineOf(tx).Do(j, Step{To: row.JobQueued, Reason: row.Because(row.CauseRefused, why), Leaving: Exited})
}

// allowed ends the exclusion of the node that did not claim the attempt before the current one: it was
// left out of this try only.
func allowed(tx *kernel.Tx, j *row.Job) error {
	if len(j.Excluded) == 0 || j.CurrentAttempt() < 2 {
		return nil
	}
	before, err := tx.Attempts().Of(j, j.CurrentAttempt()-1)
	if err != nil || before.Outcome != row.OutcomeRefused || before.Why.Cause != row.CauseUntold {
		return err
	}
	if nodes := before.AllNodes(); len(nodes) > 0 {
		j.Excluded = slices.DeleteFunc(slices.Clone(j.Excluded), func(n uint32) bool { return n == nodes[0] })
	}
	return nil
}
