package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/queue"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/limits"
)

// A waitingJob is a waiting job as it was before a cycle.
type waitingJob struct {
	*row.Job
	ready bool // nothing but the cluster keeps it
}

// cycle makes a cycle and verifies what it has decided.
func (m *queueModel) cycle() {
	before := make(map[uint64]waitingJob)
	m.holds("time")
	m.lotsAgree()
	m.do("cycle", func(tx *Tx) error {
		err := tx.k.EachJob(func(j *row.Job) error {
			waitsFor, err := jobs.Ready(tx.k, j)
			before[j.ID] = waitingJob{j, err == nil && waitsFor == "" && j.Begin <= tx.k.Now && !j.Never}
			return nil
		})
		if err == nil {
			_, err = tx.Cycle().Run(CycleSpec{})
		}
		return err
	})
	m.stats.cycles++
	m.holds("cycle")
	m.orderHolds(before)
	m.followed(before)
	m.still()
	if m.classes == nil || m.backfill != FCFS { // shares choose the first
		m.nothingIdle()
	}
	m.plansStand(before)
	m.foretold()
	m.playsOut()
}

// orderHolds: no ready job was left that could have started in place of later jobs started by
// this cycle, and of plans and claims behind it; earlier jobs' stay. A job that already had a
// plan moves within the plans of others. Under first come, first served, no job passes one
// that no limit holds back. With shares this is true within a class, if no plan of another
// class has moved. Such a plan blocks a job until one of its own class postpones it.
func (m *queueModel) orderHolds(before map[uint64]waitingJob) {
	now := m.snapshot()
	for id, j := range now {
		if len(j.YieldedTo) > len(before[id].YieldedTo) {
			return // the room is for the job for which it was made
		}
		for _, b := range now { // or taken back from
			waits := b.State == JobQueued || b.State == JobReserved
			earlier := precedes(b, j) || m.backfill == Relaxed && b.Walltime < j.Walltime
			if j.State == JobRunning && before[id].State != JobRunning && m.goesBefore(j, b) && waits &&
				before[b.ID].ready && earlier {
				return
			}
		}
	}
	for id, j := range now {
		was := before[id]
		if !j.Queued || !was.ready || j.State != JobQueued && j.State != JobReserved || was.State != JobQueued &&
			was.State != JobReserved || j.Never || startsAnew(before, now, j) {
			continue
		}
		behind := func(s *row.Job) bool {
			return s.Queued && m.comesFirst(j, s) && !m.goesBefore(s, j) &&
				(m.backfill != Relaxed || s.Walltime >= j.Walltime) // the shortest go first
		}
		if m.classes != nil && otherPlansMoved(before, now, j.Class) {
			continue
		}
		var passed []uint64
		for _, s := range now {
			if s.State == JobRunning && before[s.ID].State == JobQueued && behind(s) {
				passed = append(passed, s.ID)
			}
		}
		if len(passed) == 0 {
			continue
		}
		m.stats.ordered++
		err := m.db.DryRun(func(tx *Tx) error {
			var claims []uint64
			for _, s := range now {
				if !behind(s) {
					continue
				}
				started := s.State == JobRunning && before[s.ID].State == JobQueued
				if started || s.State == JobReserved && j.State == JobQueued && m.backfill != Relaxed {
					if err := jobs.LeaveNodes(tx.k, s); err != nil {
						return err
					}
				}
				if s.State == JobQueued && j.State == JobQueued {
					claims = append(claims, s.ID)
				}
			}
			return withoutClaims(tx, claims, func() error {
				kept, err := keptInOrder(tx, j, now)
				if err == nil && !kept {
					kept, err = waitsForNodes(tx, j)
				}
				if err != nil {
					return err
				}
				if m.backfill == FCFS && kept {
					return nil
				}
				if m.backfill == FCFS {
					return fmt.Errorf("job %d waits, and jobs %v behind it have started", id, passed)
				}
				starts, err := couldStartNow(tx, j)
				if starts {
					err = fmt.Errorf("job %d (%s) waits, and could have started in place of %v", id, j.State, passed)
				}
				return err
			})
		})
		if err != nil {
			m.told("%v", err)
		}
	}
}

// comesFirst reports whether a job is before another in the order of the queue, whatever runs. With
// shares only jobs of one class have an order; if their priorities are equal, only those of one array,
// or of one user, whatever else is running.
func (m *queueModel) comesFirst(j, s *row.Job) bool {
	if m.classes == nil || j.Priority != s.Priority {
		return precedes(j, s) && (m.classes == nil || s.Class == j.Class)
	}
	alike := j.Array == s.Array && (j.Array != 0 || j.User == s.User)
	return s.Class == j.Class && alike && (j.Walltime > s.Walltime || j.Walltime == s.Walltime && precedes(j, s))
}

// otherPlansMoved reports whether a cycle has moved plans of classes other than one.
func otherPlansMoved(before map[uint64]waitingJob, now map[uint64]*row.Job, class string) bool {
	for id, was := range before {
		if is := now[id]; was.State == JobReserved && was.Queued && was.Class != class && (is.State == JobQueued ||
			is.Start != was.Start) {
			return true
		}
	}
	return false
}

// startsAnew reports whether a job that another waits for was running, and starts once more in this cycle, because no
// process had claimed it. Only then has the other its turn.
func startsAnew(before map[uint64]waitingJob, now map[uint64]*row.Job, j *row.Job) bool {
	for _, d := range j.After {
		for id, was := range before {
			if (id == d.Job || was.Array == d.Job) && was.State == JobRunning && now[id].Start != was.Start {
				return true
			}
		}
	}
	return false
}

// goesBefore reports whether jobs make way for a job, with j among them, whatever their order.
func (m *queueModel) goesBefore(s, j *row.Job) bool {
	return m.preempts && s.User == "ann" && j.User == "bob"
}

// waitsForNodes reports whether only nodes out of service could hold a job, so that it blocks no other.
func waitsForNodes(tx *Tx, j *row.Job) (bool, error) {
	a, err := plan.AskOfJob(tx.k, j)
	if err != nil {
		return false, err
	}
	snap, err := plan.Snapshot(tx.k, j.Queue)
	if err != nil {
		return false, err
	}
	err = snap.Possible(a)
	if kernel.IsRefusal(err) {
		return errors.Is(err, placer.ErrAbsent), nil
	}
	return false, err
}

// keptInOrder reports whether a limit holds back a job, or an earlier waiting job under the
// same limit.
func keptInOrder(tx *Tx, j *row.Job, all map[uint64]*row.Job) (bool, error) {
	kept, err := plan.HoldsBack(tx.k, j)
	if kept || err != nil {
		return kept, err
	}
	a, err := plan.AskOfJob(tx.k, j)
	if err != nil {
		return false, err
	}
	for _, s := range all {
		if s.State != JobQueued || !precedes(s, j) {
			continue
		}
		b, err := plan.AskOfJob(tx.k, s)
		if err != nil && !kernel.IsRefusal(err) {
			return false, err
		}
		if kept, err := plan.HoldsBack(tx.k, s); !kept || err != nil {
			if err != nil {
				return false, err
			}
			continue
		}
		for _, d := range b.Demands {
			if d.Rule && slices.ContainsFunc(a.Demands, func(o limits.Demand) bool { return o.Counter == d.Counter }) {
				return true, nil
			}
		}
	}
	return false, nil
}

// followed: under easy and conservative, a job whose dependency this cycle has started or
// ended has had its turn: it could not start now.
func (m *queueModel) followed(before map[uint64]waitingJob) {
	if m.backfill == FCFS || m.preempts {
		return
	}
	now := m.snapshot()
	err := m.db.DryRun(func(tx *Tx) error {
		for id, j := range now {
			waitsFor, err := jobs.Ready(tx.k, j)
			if err != nil || j.State != JobQueued || before[id].ready || before[id].Never || waitsFor != "" ||
				j.Begin > tx.k.Now || len(j.After) == 0 {
				continue
			}
			if starts, err := couldStartNow(tx, j); starts || err != nil {
				return errors.Join(err,
					fmt.Errorf("job %d waits, what it waited for has happened, and it could start now", id))
			}
		}
		return nil
	})
	if err != nil {
		m.told("%v", err)
	}
}

// withoutClaims calls a function while the claims of some jobs do not count.
func withoutClaims(tx *Tx, ids []uint64, fn func() error) error {
	if len(ids) == 0 {
		return fn()
	}
	return tx.k.Counters().Rules.Unclaimed(ids[0], func() error { return withoutClaims(tx, ids[1:], fn) })
}

// still: a cycle at the same instant as another starts, stops and cancels no job, and plans
// almost none again. It commits nothing if no job is overdue. A plan that an overdue job keeps
// from being made again may be written again.
func (m *queueModel) still() {
	for i := 0; ; i++ {
		var was, is string
		var report *CycleReport
		var late bool
		m.db.changed.Store(false)
		m.do("cycle", func(tx *Tx) (err error) {
			was = statesOf(tx)
			report, err = tx.Cycle().Run(CycleSpec{})
			is = statesOf(tx)
			late, _ = tx.anyOverdue()
			return err
		})
		if was == is && (late || !m.db.Changed()) {
			return
		}
		m.stats.again++
		if i >= stillAfter || len(report.Started)+len(report.Stopped)+len(report.Cancelled) > 0 {
			m.told("another cycle starts %v, plans %v, stops %v, cancels %v", ids(report.Started), ids(report.Planned),
				ids(report.Stopped), ids(report.Cancelled))
		}
	}
}

// stillAfter is how many further cycles may move plans at one instant.
const stillAfter = 20

// nothingIdle: no job waits that could start now beside all plans, claims and jobs; under
// first come, first served this applies to the first job in the queue.
func (m *queueModel) nothingIdle() {
	err := m.db.DryRun(func(tx *Tx) error {
		line, err := queue.InOrder(tx.k)
		if err != nil {
			return err
		}
		for _, j := range line {
			waitsFor, err := jobs.Ready(tx.k, j)
			if err != nil || waitsFor != "" || j.Begin > tx.k.Now {
				continue
			}
			m.stats.idle++
			if starts, err := couldStartNow(tx, j); starts || err != nil {
				return errors.Join(err, fmt.Errorf("job %d waits (%s at %d), and could start now", j.ID, j.State,
					j.Start))
			}
			if passed, err := waitsForNodes(tx, j); m.backfill == FCFS && !passed || err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		m.told("%v", err)
	}
}

// couldStartNow reports whether a job could start now if it had no plan or claim of its own.
func couldStartNow(tx *Tx, j *row.Job) (starts bool, err error) {
	a, err := plan.AskOfJob(tx.k, j)
	if kernel.IsRefusal(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	snap, err := plan.Snapshot(tx.k, j.Queue)
	if err != nil {
		return false, err
	}
	if j.State == JobReserved {
		spans, err := tx.k.Allocations().Spans(j)
		if err == nil {
			err = jobs.LeaveNodes(tx.k, j)
		}
		if err != nil {
			return false, err
		}
		defer func() { err = errors.Join(err, plan.OccupyAgain(tx.k, j, spans, j.State)) }()
	}
	return starts, tx.k.Counters().Rules.Unclaimed(j.ID, func() error {
		_, err := snap.Place(a, tx.k.Now)
		if starts = err == nil; kernel.IsRefusal(err) {
			return nil
		}
		return err
	})
}

// snapshot returns all jobs as of now.
func (m *queueModel) snapshot() map[uint64]*row.Job {
	all := make(map[uint64]*row.Job)
	if err := m.db.DryRun(func(tx *Tx) error {
		return tx.k.EachJob(func(j *row.Job) error { all[j.ID] = j; return nil })
	}); err != nil {
		m.Fatal(err)
	}
	return all
}
