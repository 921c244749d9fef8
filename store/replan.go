package store

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/cycle"
	"github.com/placectl/placectl/store/internal/postponed"
	"github.com/placectl/placectl/store/internal/row"
)

// If an overdue job, a node that is down or a smaller amount breaks a plan, a cycle makes it again:
// in the order of the queue, with the plans of all later jobs lifted. Jobs placed at an instant
// come before the queue. Nothing else makes a plan for a job that had one.

// displace takes plans away that cannot be kept. Jobs of the queue are queued again, for the
// next cycle to plan; jobs placed at an instant get another start when the change is complete:
// see placeAnew.
func (tx *Tx) displace(list []*row.Job, why row.Reason) error {
	for _, j := range list {
		if err := tx.takeOff(j, why); err != nil {
			return err
		}
	}
	tx.awaitPlaces(list)
	return nil
}

// takeOff takes a plan away. As a pass moves other plans, too, the plans of placed jobs are made
// again once all are taken away: placeAnew.
func (tx *Tx) takeOff(j *row.Job, why row.Reason) error {
	reason := wasToStart(j, why)
	if j.Queued {
		return tx.machine().do(j, step{to: JobQueued, reason: reason})
	}
	return tx.putOff(j, reason)
}

// wasToStart is the reason of a job whose plan cannot be kept.
func wasToStart(j *row.Job, why row.Reason) row.Reason {
	return why.Behind("was to start at " + stamp(j.Start) + "; ")
}

// awaitPlaces notes the placed ones of some jobs whose plans were taken away.
func (tx *Tx) awaitPlaces(list []*row.Job) {
	for _, j := range list {
		if !j.Queued {
			tx.loaded.moved, tx.loaded.unplaced = append(tx.loaded.moved, j), append(tx.loaded.unplaced, j)
		}
	}
}

// placeAnew plans the placed jobs whose plans were taken away.
func (tx *Tx) placeAnew() error {
	if len(tx.loaded.unplaced) == 0 {
		return nil
	}
	return tx.replan(nil)
}

// offNode takes plans off a node that cannot serve them. Jobs of the queue have their turn
// before the commit.
func (tx *Tx) offNode(list []*row.Job, why row.Reason) error {
	tx.turnBeforeCommit(list)
	return tx.displace(list, why)
}

func (tx *Tx) turnBeforeCommit(list []*row.Job) {
	for _, j := range list {
		if j.Queued {
			tx.loaded.displaced = append(tx.loaded.displaced, j.ID)
		}
	}
}

// putOff takes a planned job off its nodes, to be planned again.
func (tx *Tx) putOff(j *row.Job, why row.Reason) error {
	j.Reason = why
	return errors.Join(postponed.Add(tx.file, j), tx.allocations().vacate(j))
}

// replan plans jobs that were put off, and those that were displaced, in the order of the queue.
func (tx *Tx) replan(late []*row.Job) error {
	displaced := tx.loaded.displaced
	late = slices.Concat(late, tx.loaded.unplaced)
	if len(late)+len(displaced) == 0 {
		return nil
	}
	tx.loaded.displaced, tx.loaded.unplaced = nil, nil
	set, err := tx.settings()
	if err != nil {
		return err
	}
	p := newPass(tx, CycleSpec{Backfill: Conservative, Silent: true, stands: set.Backfill == Relaxed, slack: set.Slack})
	p.late = make(map[uint64]row.Reason)
	known := make(map[uint64]*row.Job)
	for _, j := range late {
		known[j.ID], p.late[j.ID] = j, j.Reason
		if !j.Queued {
			p.placed = append(p.placed, placedJob{j, j.Start})
		}
	}
	line, err := tx.waiting().line()
	if err != nil {
		return err
	}
	for _, j := range line {
		if known[j.ID] != nil {
			j = known[j.ID]
		} else if slices.Contains(displaced, j.ID) && j.State == JobQueued {
			p.late[j.ID] = j.Reason
			if waitsFor, err := tx.waiting().ready(j); waitsFor != "" || err != nil {
				if err != nil && !errors.Is(err, errUnmet) {
					return err
				}
				continue
			}
			if absent, err := tx.waiting().unattended(j); err != nil {
				return err
			} else if absent != "" {
				continue
			}
		} else if j.State != JobReserved {
			continue
		}
		p.queue = append(p.queue, j)
	}
	if err := errors.Join(p.shares(), p.schedule()); err != nil {
		return err
	}
	tx.loaded.freed.Anywhere() // the next cycle looks at everything once more
	return nil
}

// placedJob is a job placed at an instant that was put off.
type placedJob struct {
	*row.Job
	wanted int64 // when it was to start
}

// putOffs lists the jobs placed at an instant that were put off, in the order of these
// instants, for the pass to bring them forward.
func (p *pass) putOffs() error {
	list, err := postponed.Read(p.tx.file)
	if err != nil {
		return err
	}
	for _, x := range list.Jobs {
		j, err := p.tx.job(x.Job)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if j.State == JobReserved && (j.Start > x.Wanted || p.delayed[j.ID]) {
			p.placed = append(p.placed, placedJob{j, x.Wanted})
		}
	}
	slices.SortFunc(p.placed, func(a, b placedJob) int { return cmp.Or(cmp.Compare(a.wanted, b.wanted), cmp.Compare(a.ID, b.ID)) })
	return nil
}

// keepPutOffs stores which of them are still put off.
func (p *pass) keepPutOffs() error {
	list, err := postponed.Read(p.tx.file)
	if err != nil || len(list.Jobs) == 0 {
		return err
	}
	wanted := make(map[uint64]int64)
	for _, x := range p.placed {
		if x.State == JobReserved && x.Start > x.wanted {
			wanted[x.ID] = x.wanted
		}
	}
	if len(wanted) == len(list.Jobs) {
		return nil
	}
	list.Jobs = nil
	for _, id := range slices.Sorted(maps.Keys(wanted)) {
		list.Jobs = append(list.Jobs, row.PostponedJob{Job: id, Wanted: wanted[id]})
	}
	return postponed.Keep(p.tx.file, list)
}

// awaits are the jobs placed at an instant as they wait before the queue.
func (p *pass) awaits() (out []*cycle.Job) {
	for i, x := range p.placed {
		if x.State == JobRunning || !x.State.Live() { // since the queue was gone through before
			continue
		}
		j := p.waits(x.Job)
		j.Placed, j.Begin = true, x.wanted
		j.Priority = math.MaxInt64 - int64(i)
		out = append(out, j)
	}
	return out
}

// plannedOn lists the jobs that are to start on a node, by their start.
func (tx *Tx) plannedOn(number uint32) (list []*row.Job, err error) {
	for _, b := range tx.calendar().At(number) {
		if b.Claim || b.Start <= tx.now {
			continue
		}
		j, err := tx.job(b.Owner >> 1)
		if err != nil {
			return nil, err
		}
		if j.State == JobReserved && !slices.Contains(j.Along, number) {
			list = append(list, j)
		}
	}
	return list, tx.calendar().Err()
}

// outgrown takes the plans off a node that it cannot serve any more as it is now: the last
// first, until the others fit.
func (tx *Tx) outgrown(n *index.Node) error {
	planned, err := tx.plannedOn(n.Number)
	if err != nil {
		return err
	}
	var off []*row.Job
	for _, j := range slices.Backward(planned) {
		serves, err := tx.serves(n, j)
		if err == nil && !serves {
			off = append(off, j)
			err = tx.takeOff(j, row.Because(row.CauseNode, "node "+n.Name+" has less than it had"))
		}
		if err != nil {
			return err
		}
	}
	tx.turnBeforeCommit(off)
	tx.awaitPlaces(off)
	return nil
}

// serves reports whether a node can still serve a job's plan on it.
func (tx *Tx) serves(n *index.Node, j *row.Job) (bool, error) {
	guest, err := tx.allocations().guest(j)
	if err != nil {
		return false, err
	}
	if taken, err := tx.allocations().conflict(j, &patient{guest, tx.now}, true); taken || err != nil {
		return false, err
	}
	a, err := tx.askOf(j)
	if isRefusal(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	snap, err := tx.snapshot(j.Queue)
	if err != nil {
		return false, err
	}
	buckets, beyond := snap.Buckets(a)
	return beyond || slices.ContainsFunc(buckets, func(b *index.Bucket) bool { return b.ID == n.Bucket }), snap.Index.Err()
}
