package engine

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"

	"github.com/placectl/placectl/internal/jobs"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/queue"
	"github.com/placectl/placectl/internal/row"
)

// overdue notes that a job runs past its end, for which others may have to wait longer.
func (m *queueModel) overdue(tx *Tx) error {
	return tx.k.EachJob(func(j *row.Job) error {
		if j.End <= tx.k.Now {
			m.cause = fmt.Sprintf("job %d is overdue", j.ID)
		}
		return nil
	}, JobRunning)
}

// plansStand: since the last cycle no job of the queue got a later start, or lost its plan,
// without a cause. Causes are an overdue job, a lost node, a limit, a longer walltime, or an
// earlier job that had no plan or starts earlier than before.
func (m *queueModel) plansStand(before map[uint64]waitingJob) {
	now := m.snapshot()
	var claims map[uint64]*row.Claim
	err := m.db.DryRun(func(tx *Tx) (err error) {
		list, err := tx.k.Counters().Rules.Claims()
		claims = maps.Clone(list)
		return err
	})
	if err != nil {
		m.Fatal(err)
	}
	for id, start := range m.plans {
		j := now[id]
		if m.cause != "" || m.preempts || m.classes != nil || !before[id].ready && before[id].Begin <= m.clock.t {
			break
		}
		m.stats.stood++
		if j.State != JobQueued && (j.State != JobReserved && j.State != JobRunning || j.Start <= start) {
			continue
		}
		comesBefore := false
		for _, s := range now {
			plan, planned := m.plans[s.ID]
			comesBefore = comesBefore || (!planned || s.Start < plan) && s.Queued && precedes(s, j) &&
				(s.State == JobReserved || claims[s.ID] != nil || s.Start >= m.then && s.State != JobQueued)
		}
		if !comesBefore || m.backfill == Relaxed {
			m.told("the plan of job %d was put off from %d to %d (%s), for no cause", id, start, j.Start, j.State)
		}
	}
	m.promisesHold(m.cause)
	m.plans, m.then, m.cause, m.unplanned = make(map[uint64]int64), m.clock.t, "", make(map[uint64]bool)
	for id, j := range now {
		// it lost its plan for that cause, and gets another when its turn comes
		m.unplanned[id] = j.State == JobQueued && j.Promised != 0
		if j.Queued && j.State == JobReserved {
			m.plans[id] = j.Start
		}
	}
}

// promisesHold: a job with a promised start is planned for it or earlier, and no promise falls
// without a cause that its event names.
func (m *queueModel) promisesHold(cause string) {
	err := m.db.DryRun(func(tx *Tx) error {
		err := tx.EachEvent(m.events, func(ev *Event) (bool, error) {
			m.events = ev.ID
			if ev.Event != "promise" {
				return true, nil
			}
			if m.stats.broken++; cause == "" && !m.preempts && m.classes == nil && !m.unplanned[ev.Job] ||
				!strings.Contains(ev.Reason.String(), "; ") {
				return false, fmt.Errorf("a promise of job %d falls (%s), for no cause", ev.Job, ev.Reason)
			}
			return true, nil
		})
		if err != nil {
			return err
		}
		return tx.k.EachJob(func(j *row.Job) error {
			if j.Promised == 0 {
				return nil
			}
			if m.stats.promised++; j.Start > j.Promised || j.Earliest > j.Promised || j.State == JobHeld {
				return fmt.Errorf("job %d, %s, is promised %d and to start at %d", j.ID, j.State, j.Promised, j.Start)
			}
			return nil
		}, JobHeld, JobReserved, JobRunning)
	})
	if err != nil {
		m.told("%v", err)
	}
}

// foretold: if nothing else happens, a job with a plan starts no later than planned, with each
// job running for its walltime. That requires that all earlier jobs have plans and nothing is
// overdue.
func (m *queueModel) foretold() {
	if m.preempts || m.classes != nil {
		return
	}
	err := m.db.View(func(tx *Tx) error {
		plans, ahead := make(map[uint64]int64), true
		line, err := queue.InOrder(tx.k)
		if late, errLate := tx.anyOverdue(); late || err != nil || errLate != nil {
			return errors.Join(err, errLate)
		}
		for _, j := range line {
			if ahead = ahead && j.State == JobReserved; ahead { // a job without a plan may be put before later jobs
				plans[j.ID] = j.Start
			}
			waitsFor, errReady := jobs.Ready(tx.k, j)
			if errReady != nil || waitsFor != "" || j.Begin > tx.k.Now { // it may come before others then
				return nil
			}
		}
		return tx.Suppose(func(tx *Tx) error {
			list, err := tx.Cycle().Play(PlaySpec{Until: kernel.Instant(m.clock.t + 1e6)})
			for _, p := range list {
				if plan, planned := plans[p.Job]; planned && (p.Start.IsZero() || kernel.Unix(p.Start) > plan) {
					return fmt.Errorf("job %d is planned for %d, and starts at %d", p.Job, plan, kernel.Unix(p.Start))
				}
			}
			return err
		})
	})
	if err != nil {
		m.told("%v", err)
	}
}

// anyOverdue reports whether a job runs past its end.
func (tx *Tx) anyOverdue() (late bool, err error) {
	err = tx.k.EachJob(func(j *row.Job) error { late = late || j.End <= tx.k.Now; return nil }, JobRunning)
	return late, err
}

// playsOut: a play of the queue gives what happens on a copy of the file in which only cycles
// are made, whenever something is due, and jobs run for their walltimes.
func (m *queueModel) playsOut() {
	if m.preempts || !m.oneIn(3, "play") {
		return
	}
	var told []Played
	err := m.db.View(func(tx *Tx) error {
		return tx.Suppose(func(tx *Tx) (err error) {
			if late, err := tx.anyOverdue(); late || err != nil { // until when it goes on is a guess
				return err
			}
			told, err = tx.Cycle().Play(PlaySpec{Until: kernel.Instant(m.clock.t + 1e5)})
			return err
		})
	})
	if err != nil {
		m.Fatal(err)
	}
	if len(told) == 0 {
		return
	}
	path := filepath.Join(m.tt.TempDir(), "copy.db")
	if _, err := m.db.Backup(path, nil); err != nil {
		m.Fatal(err)
	}
	now := &clock{m.clock.t}
	db, err := Open(path, &Options{Now: now.now})
	if err != nil {
		m.Fatal(err)
	}
	defer db.Close()
	err = db.Update(func(tx *Tx) error { return (&queue.Playing{Tx: tx.k, Started: make(map[uint64]int64)}).Prepare() })
	if err != nil {
		m.Fatal(err)
	}
	last := now.t
	for _, p := range told {
		last = max(last, kernel.Unix(p.Start))
	}
	started := make(map[uint64]int64)
	for now.t <= last {
		err := db.Update(func(tx *Tx) error {
			r, err := tx.Cycle().Run(CycleSpec{})
			if err != nil {
				return err
			}
			if now.t = max(now.t+1, kernel.Unix(r.Next)); r.Next.IsZero() {
				now.t = last + 1
			}
			return tx.k.EachJob(func(j *row.Job) error {
				if started[j.ID] == 0 {
					started[j.ID] = j.Start
				}
				return nil
			}, JobRunning)
		})
		if err != nil {
			m.Fatal(err)
		}
	}
	for _, p := range told {
		m.stats.played++
		if at := started[p.Job]; at != kernel.Unix(p.Start) && !p.Start.IsZero() {
			m.told("by %v job %d starts at %d in a play, and at %d when it comes to it", m.backfill, p.Job,
				kernel.Unix(p.Start), at)
		}
	}
}
