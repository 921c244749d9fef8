package jobs

import (
	"errors"
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/row"
)

// If an overdue job, a node that is down or a smaller amount breaks a plan, a cycle makes it again:
// in the order of the queue, with the plans of all later jobs lifted. Jobs placed at an instant
// come before the queue. Nothing else makes a plan for a job that had one.

// displace removes plans that can no longer be kept. Jobs of the queue are queued again, for the
// next cycle to plan. Jobs placed at an instant get another start once the change is complete: see
// placeAnew.
func displace(tx *kernel.Tx, list []*row.Job, why row.Reason) error {
	for _, j := range list {
		if err := takeOff(tx, j, why); err != nil {
			return err
		}
	}
	awaitPlaces(tx, list)
	return nil
}

// takeOff removes a plan. Plans of placed jobs are made again once all have been removed, because a
// pass moves other plans too: see placeAnew.
func takeOff(tx *kernel.Tx, j *row.Job, why row.Reason) error {
	reason := WasToStart(j, why)
	if j.Queued {
		return MachineOf(tx).Do(j, Step{To: row.JobQueued, Reason: reason})
	}
	return PutOff(tx, j, reason)
}

// WasToStart returns the reason of a job whose plan cannot be kept.
func WasToStart(j *row.Job, why row.Reason) row.Reason {
	return why.Behind("was to start at " + kernel.Stamp(j.Start) + "; ")
}

// awaitPlaces records which of some jobs without their plans were placed at an instant.
func awaitPlaces(tx *kernel.Tx, list []*row.Job) {
	for _, j := range list {
		if !j.Queued {
			tx.Loaded.Moved, tx.Loaded.Unplaced = append(tx.Loaded.Moved, j), append(tx.Loaded.Unplaced, j)
		}
	}
}

// offNode removes plans from a node that is out of service. Jobs of the queue get their turn before
// the commit. Placed jobs keep their plans until they are planned again: the transaction may change
// them, or the node, before that.
func offNode(tx *kernel.Tx, list []*row.Job, n *index.Node) error {
	turnBeforeCommit(tx, list)
	for _, j := range list {
		var err error
		switch {
		case j.Queued:
			err = takeOff(tx, j, outOfService(n))
		case !slices.Contains(tx.Loaded.Stranded, j.ID):
			tx.Loaded.Stranded = append(tx.Loaded.Stranded, j.ID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func outOfService(n *index.Node) row.Reason {
	return row.Because(row.CauseNode, "node "+n.Name+" is "+n.State.String())
}

// TakeOffStranded removes the plans of placed jobs that offNode has left, where they are still on
// a node out of service. A change of the node, a limit or a pool may have removed some already.
func TakeOffStranded(tx *kernel.Tx) error {
	stranded := tx.Loaded.Stranded
	tx.Loaded.Stranded = nil
	for _, id := range stranded {
		if slices.ContainsFunc(tx.Loaded.Unplaced, func(j *row.Job) bool { return j.ID == id }) {
			continue
		}
		j, err := tx.Job(id)
		if errors.Is(err, row.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if j.State != row.JobReserved {
			continue
		}
		for _, number := range j.AllNodes() {
			n, err := tx.NodeByNumber(number)
			if err != nil {
				return err
			}
			if n.State == index.Up || slices.Contains(j.Along, number) {
				continue
			}
			if err := displace(tx, []*row.Job{j}, outOfService(n)); err != nil {
				return err
			}
			break
		}
	}
	return nil
}

func turnBeforeCommit(tx *kernel.Tx, list []*row.Job) {
	for _, j := range list {
		if j.Queued {
			tx.Loaded.Displaced = append(tx.Loaded.Displaced, j.ID)
		}
	}
}

// PutOff takes a planned job off its nodes, to be planned again.
func PutOff(tx *kernel.Tx, j *row.Job, why row.Reason) error {
	j.Reason = why
	if err := Postpone(tx.File, j); err != nil {
		return err
	}
	return vacate(tx, j)
}

// plannedOn lists the jobs planned on a node, by start.
func plannedOn(tx *kernel.Tx, number uint32) (list []*row.Job, err error) {
	for _, b := range tx.Calendar().At(number) {
		if b.Claim || b.Start <= tx.Now {
			continue
		}
		j, err := tx.ListedJob(b.Owner >> 1)
		if err != nil {
			return nil, err
		}
		if j.State == row.JobReserved && !slices.Contains(j.Along, number) {
			list = append(list, j)
		}
	}
	return list, tx.Calendar().Err()
}

// TakeOffOutgrown removes plans that a node can no longer serve, the last first, until the others
// fit.
func TakeOffOutgrown(tx *kernel.Tx, n *index.Node) error {
	planned, err := plannedOn(tx, n.Number)
	if err != nil {
		return err
	}
	var off []*row.Job
	for _, j := range slices.Backward(planned) {
		serves, err := serves(tx, n, j)
		if err == nil && !serves {
			off = append(off, j)
			err = takeOff(tx, j, row.Because(row.CauseNode, "node "+n.Name+" has less than it had"))
		}
		if err != nil {
			return err
		}
	}
	turnBeforeCommit(tx, off)
	awaitPlaces(tx, off)
	return nil
}

// serves reports whether a node can still serve a job's plan on it.
func serves(tx *kernel.Tx, n *index.Node, j *row.Job) (bool, error) {
	guest, err := plan.GuestOf(tx, j)
	if err != nil {
		return false, err
	}
	if taken, err := Conflict(tx, j, &Patient{Guest: guest, Now: tx.Now}, true); taken || err != nil {
		return false, err
	}
	a, err := plan.AskOfJob(tx, j)
	if kernel.IsRefusal(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	snap, err := plan.Snapshot(tx, j.Queue)
	if err != nil {
		return false, err
	}
	buckets, beyond := snap.Buckets(a)
	return beyond || slices.ContainsFunc(buckets, func(b *index.Bucket) bool { return b.ID == n.Bucket }),
		snap.Index.Err()
}
