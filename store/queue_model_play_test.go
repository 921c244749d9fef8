package store

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/placectl/placectl/store/internal/row"
)

// overdue notes that a job runs past its end, for which others may have to wait longer.
func (m *queueModel) overdue(tx *Tx) error {
	return tx.eachJob(func(j *row.Job) error {
		if j.End <= tx.now {
			m.cause = fmt.Sprintf("job %d is overdue", j.ID)
		}
		return nil
	}, JobRunning)
}

// plansStand: since the last cycle no job of the queue got a later start, or lost its plan, but
// for a cause: an overdue job, a lost node, a limit, a longer walltime, or a job before it that
// had no plan or comes sooner than it did.
func (m *queueModel) plansStand(before map[uint64]waitingJob) {
	now := m.snapshot()
	var claims map[uint64]*row.Claim
	err := m.db.DryRun(func(tx *Tx) (err error) {
		list, err := tx.counters().Rules.Claims()
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
		m.unplanned[id] = j.State == JobQueued && j.Promised != 0 // it lost its plan for that cause, and gets another when its turn comes
		if j.Queued && j.State == JobReserved {
			m.plans[id] = j.Start
		}
	}
}

// promisesHold: a job that was promised a start is planned for it or for sooner, and no promise
// falls but for a cause that the event of it names.
func (m *queueModel) promisesHold(cause string) {
	err := m.db.DryRun(func(tx *Tx) error {
		err := tx.EachEvent(m.events, func(ev *Event) (bool, error) {
			m.events = ev.ID
			if ev.Event != "promise" {
				return true, nil
			}
			if m.stats.broken++; cause == "" && !m.preempts && m.classes == nil && !m.unplanned[ev.Job] || !strings.Contains(ev.Reason.String(), "; ") {
				return false, fmt.Errorf("a promise of job %d falls (%s), for no cause", ev.Job, ev.Reason)
			}
			return true, nil
		})
		if err != nil {
			return err
		}
		return tx.eachJob(func(j *row.Job) error {
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

// foretold: where nothing else happens a job with a plan starts no later than it says, each job
// running for its walltime, as long as all before it have plans and nothing is overdue.
func (m *queueModel) foretold() {
	if m.preempts || m.classes != nil {
		return
	}
	err := m.db.DryRun(func(tx *Tx) error {
		plans, ahead := make(map[uint64]int64), true
		line, err := tx.waiting().line()
		if late, errLate := tx.anyOverdue(); late || err != nil || errLate != nil {
			return errors.Join(err, errLate)
		}
		for _, j := range line {
			if ahead = ahead && j.State == JobReserved; ahead { // a job without a plan may be put before those behind it
				plans[j.ID] = j.Start
			}
			waitsFor, errReady := tx.waiting().ready(j)
			if errReady != nil || waitsFor != "" || j.Begin > tx.now { // it may come before others then
				return nil
			}
		}
		list, err := Play(tx, CycleSpec{}, instant(m.clock.t+1e6))
		for _, p := range list {
			if plan, planned := plans[p.Job]; planned && (p.Start.IsZero() || unix(p.Start) > plan) {
				return fmt.Errorf("job %d is planned for %d, and starts at %d", p.Job, plan, unix(p.Start))
			}
		}
		return err
	})
	if err != nil {
		m.told("%v", err)
	}
}

// anyOverdue reports whether a job runs past its end.
func (tx *Tx) anyOverdue() (late bool, err error) {
	err = tx.eachJob(func(j *row.Job) error { late = late || j.End <= tx.now; return nil }, JobRunning)
	return late, err
}

// playsOut: what is told of the start of a job with a plan is what happens on a copy of the
// file, where nothing is done but cycles whenever something is due, and jobs run for their
// walltimes. Where jobs are planned to a depth, or a placed job has a node that is not up and so
// will leave its room, a job may start sooner. Nothing is said where a job before it has no plan
// yet, for another job or its begin, or where jobs are overdue.
func (m *queueModel) playsOut() {
	if m.preempts || m.classes != nil || m.backfill == FCFS || !m.oneIn(3, "play") {
		return
	}
	told, exact := make(map[uint64]int64), m.backfill == Conservative
	err := m.db.DryRun(func(tx *Tx) error {
		o, err := tx.Outlook()
		if err != nil {
			return err
		}
		if late, err := tx.anyOverdue(); late || err != nil {
			return err
		}
		exact = exact && tx.plansServe(false) == nil
		line, err := tx.waiting().line()
		for _, j := range line {
			p, errJob := o.Prospect(jobOf(j))
			if err = errors.Join(err, errJob); err != nil || j.State != JobReserved && p.Wait != WaitsNever {
				break
			}
			if j.State == JobReserved {
				told[j.ID] = unix(p.Start)
			}
		}
		return err
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
	last := slices.Max(slices.Collect(maps.Values(told)))
	for now.t <= last {
		err := db.Update(func(tx *Tx) error {
			err := tx.Configure("overdue", "finish")
			if err != nil {
				return err
			}
			r, err := tx.Cycle(CycleSpec{})
			if err == nil {
				now.t = max(now.t+1, unix(r.Next))
			}
			if err == nil && r.Next.IsZero() {
				now.t = last + 1
			}
			return err
		})
		if err != nil {
			m.Fatal(err)
		}
	}
	err = db.View(func(tx *Tx) error {
		for id, start := range told {
			m.stats.played++
			j, err := tx.Job(id)
			if err != nil {
				return err
			}
			if at := unix(j.Start); at > start || exact && at != start {
				return fmt.Errorf("job %d is told to start at %d, and is %s at %d", id, start, j.State, at)
			}
		}
		return nil
	})
	if err != nil {
		m.told("%v", err)
	}
}
