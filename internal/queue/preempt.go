package queue

import (
	"errors"
	"slices"

	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/users"
	"github.com/placectl/placectl/placer/cycle"
	"github.com/placectl/placectl/placer/preempt"
	"github.com/placectl/placectl/placer/subject"
)

// Jobs are preempted by rules (package preempt), and for the shares of classes. A job that is being
// executed keeps its nodes until it has stopped. Whatever the rules say, no job is preempted twice
// for the same job, nor for a job that was preempted for it.

// making holds what a cycle knows of the jobs that it may preempt. It implements
// cycle.Preempter. The running jobs are read when a job that may preempt others is short of
// nodes.
type making struct {
	*pass
	ranks   *preempt.Ranks
	running map[uint64]*row.Job        // as the cycle found them; nil until needed
	list    []*row.Job                 // the jobs that may be stopped, by number
	awaited map[uint64]bool            // jobs for which others are ending
	below   map[asker]*cycle.Below     // by the job that preempts
	past    map[uint64]bool            // running jobs beyond a soft limit
	names   map[*row.Job]subject.Names // of running jobs
	tried   map[uint64]trialEnd        // jobs that are off their nodes on trial
	costs   map[uint64]int64           // processor-seconds of work lost if a job is stopped
	urgent  map[subject.Names]bool     // waiting jobs that may preempt others; nil until needed
}

// asker is a job that preempts others: its names, and whether it is within its
// soft limits. If it is, jobs beyond theirs make way for it.
type asker struct {
	subject.Names
	within bool
}

// trialEnd restores a job on trial.
type trialEnd struct {
	spans []kernel.Span
	end   int64
}

// making returns nil if no job can be preempted.
func (p *pass) making() (cycle.Preempter, error) {
	if p.spec.Silent {
		return nil, nil
	}
	ranks, err := users.Ranks(p.tx.File)
	if ranks == nil || err != nil {
		return nil, err
	}
	return &making{pass: p, ranks: ranks, below: make(map[asker]*cycle.Below),
		names: make(map[*row.Job]subject.Names),
		tried: make(map[uint64]trialEnd), costs: make(map[uint64]int64)}, nil
}

// whose returns whose job it is, for the rules. A job without a class has its user's.
func (m *making) whose(j *row.Job) (subject.Names, error) {
	s := j.Whose()
	if s[subject.Class] != "" {
		return s, nil
	}
	class, err := m.tx.ClassOf(j.User)
	s[subject.Class] = class
	return s, err
}

// Before implements cycle.Preempter, as do the methods that follow.
func (m *making) Before(j, other *cycle.Job) (bool, error) {
	a, err := m.whose(m.jobs[j.ID])
	if err != nil {
		return false, err
	}
	b, err := m.whose(m.jobs[other.ID])
	return err == nil && m.ranks.Over(a, b) != nil, err
}

func (m *making) Below(c *cycle.Job) (*cycle.Below, error) {
	j := m.jobs[c.ID]
	who, err := m.asks(j)
	if err != nil || !who.within && !m.ranks.Left(who.Names) {
		return nil, err
	}
	if err := m.lookUp(); err != nil {
		return nil, err
	}
	if held, err := m.allotmentHolds(j); held || err != nil || m.awaited[j.ID] {
		return nil, err
	}
	shared := m.below[who]
	if shared == nil {
		shared = new(cycle.Below)
		for _, r := range m.list {
			if err := m.add(shared, who, r); err != nil {
				return nil, err
			}
		}
		preempt.Order(shared.Candidates)
		m.below[who] = shared
	}
	return m.less(shared, j)
}

// asks describes a job that preempts. For soft limits, that is any job within its own.
func (m *making) asks(j *row.Job) (who asker, err error) {
	if who.Names, err = m.whose(j); err != nil || m.ranks.Soft() == nil {
		return who, err
	}
	rules := m.tx.Counters().Rules
	if all, err := rules.All(); all == nil || !all.Soft() || err != nil {
		return who, err
	}
	beyond, err := rules.Beyond(j)
	who.within = !beyond
	return who, err
}

// lookUp reads the running jobs.
func (m *making) lookUp() error {
	if m.running != nil {
		return nil
	}
	m.running, m.awaited = make(map[uint64]*row.Job), make(map[uint64]bool)
	var all []*row.Job
	err := m.tx.EachJob(func(r *row.Job) error {
		all = append(all, r)
		switch {
		case m.jobs[r.ID] != nil: // started by this cycle
		case r.Ending && len(r.YieldedTo) > 0:
			m.awaited[r.YieldedTo[len(r.YieldedTo)-1]] = true
		case r.Queued && !r.Ending:
			m.running[r.ID] = r
			m.list = append(m.list, r)
		}
		return nil
	}, row.JobRunning)
	if err == nil && m.ranks.Soft() != nil {
		m.past, err = m.tx.Counters().Rules.Past(all)
	}
	return err
}

// add adds a job to those that can be stopped for another, if a rule allows it and the job may
// be stopped now.
func (m *making) add(b *cycle.Below, who asker, r *row.Job) error {
	is, known := m.names[r]
	if !known {
		var err error
		if is, err = m.whose(r); err != nil {
			return err
		}
		m.names[r] = is
	}
	rule := m.ranks.Over(who.Names, is)
	if rule == nil && who.within && m.past[r.ID] {
		rule = m.ranks.Soft()
	}
	if rule == nil || rule.Spares(m.tx.Now-r.Start, len(r.YieldedTo)) {
		return nil
	}
	grace, err := toGo(m.tx, r, rule.Grace)
	if err != nil {
		return err
	}
	if grace > 0 && r.End <= m.tx.Now+grace { // it ends by itself no later
		return nil
	}
	lost, err := m.lost(r)
	b.Candidates = append(b.Candidates, preempt.Candidate{ID: r.ID, Owner: row.JobOwner(r.ID), Start: r.Start,
		Lost: lost, Grace: grace, Rule: rule})
	return err
}

// lost returns the work, in processor-seconds, that is lost if a running job is stopped.
func (m *making) lost(r *row.Job) (int64, error) {
	lost, known := m.costs[r.ID]
	if known {
		return lost, nil
	}
	spans, err := m.tx.Allocations().Spans(r)
	if err != nil {
		return 0, err
	}
	for _, s := range spans {
		n, err := m.tx.Loaded.Usage.CPUsOf(s.Node, s.Busy)
		if err != nil {
			return 0, err
		}
		lost += n * max(0, m.tx.Now-r.Start)
	}
	m.costs[r.ID] = lost
	return lost, nil
}

// less removes the jobs that a job must not preempt: those stopped for it before, and those it
// was stopped for.
func (m *making) less(shared *cycle.Below, j *row.Job) (*cycle.Below, error) {
	spared, err := m.madeWayFor(j)
	if err != nil {
		return nil, err
	}
	out := func(c preempt.Candidate) bool {
		r := m.running[c.ID]
		return r == nil || spared[c.ID] || slices.Contains(r.YieldedTo, j.ID)
	}
	if !slices.ContainsFunc(shared.Candidates, out) {
		return shared, nil
	}
	return &cycle.Below{Candidates: slices.DeleteFunc(slices.Clone(shared.Candidates), out)}, nil
}

// Yields implements cycle.Preempter. Jobs that wait now may still have their turn in this
// cycle.
func (m *making) Yields(c *cycle.Job) (bool, error) {
	j := m.jobs[c.ID]
	if !j.Queued {
		return false, nil
	}
	if m.urgent == nil {
		m.urgent = make(map[subject.Names]bool)
		for _, o := range slices.Concat(m.queue, m.aside) {
			s, err := m.whose(o)
			if err != nil {
				return false, err
			}
			if m.ranks.Left(s) {
				m.urgent[s] = true
			}
		}
	}
	is, err := m.whose(j)
	for s := range m.urgent {
		if m.ranks.Over(s, is) != nil {
			return true, err
		}
	}
	return false, err
}

func (m *making) TakesBack(c, held *cycle.Job) (bool, error) {
	j, h := m.jobs[c.ID], m.jobs[held.ID]
	a, err := m.whose(j)
	if err != nil {
		return false, err
	}
	b, err := m.whose(h)
	if err != nil {
		return false, err
	}
	rule := m.ranks.Over(a, b)
	if rule == nil || rule.Spares(rule.MinRun, len(h.YieldedTo)) || slices.Contains(h.YieldedTo, j.ID) {
		return false, nil
	}
	spared, err := m.madeWayFor(j)
	return !spared[h.ID], err
}

// madeWayFor lists the jobs that a job was stopped for, and those that they were stopped for.
func (m *making) madeWayFor(j *row.Job) (map[uint64]bool, error) {
	if len(j.YieldedTo) == 0 {
		return nil, nil
	}
	return preempt.MadeWayFor(j.ID, func(id uint64) ([]uint64, error) {
		if id == j.ID {
			return j.YieldedTo, nil
		}
		other, err := m.tx.Job(id)
		if errors.Is(err, row.ErrNotFound) { // it has ended and was deleted
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return other.YieldedTo, nil
	})
}

// allotmentHolds reports whether a job's class may not start it even if there were room,
// because the class has all that it is entitled to, and there is nothing idle to borrow.
func (m *making) allotmentHolds(j *row.Job) (bool, error) {
	if m.allotted == nil {
		return false, nil
	}
	at, err := m.allotted.Place(j)
	if err != nil {
		return false, err
	}
	wants, err := m.allotted.Wants(j)
	if kernel.IsRefusal(err) {
		return true, nil
	}
	return m.allotted.Left[at] <= 0 && m.allotted.Entitled[at] < wants, err
}
