package cluster

import (
	"errors"
	"slices"

	"github.com/placectl/placectl/placer/cycle"
	"github.com/placectl/placectl/placer/preempt"
	"github.com/placectl/placectl/placer/subject"
)

// Preemption says which jobs can be preempted for which. A simulation executes nothing, so a stopped
// job gives its nodes back at once and waits again. All of its work is lost.
type Preemption struct {
	Ranks *preempt.Ranks
	Whose []subject.Names // of each job
	// Entitled, if not nil, reports whether a job may preempt others because its class has
	// less than it is entitled to.
	Entitled func(job int32) bool
	// Stopped, if not nil, is called for a job that was stopped early, with the instant.
	Stopped func(p *Placement, at int64)
}

// making holds what a pass knows of the jobs that it may preempt. It implements
// cycle.Preempter.
type making struct {
	*scheduler
	ranks   *preempt.Ranks
	waiting map[uint64]bool                // jobs that waited when the pass began, by owner
	below   map[subject.Names]*cycle.Below // by whose job preempts
	tried   map[uint64]*Placement          // jobs off their nodes on trial, by owner
	gone    map[uint64]bool                // stopped jobs, by number
	stopped []*cycle.Job                   // the same, as waiting jobs
}

// making prepares a pass; nil if no job can be preempted.
func (s *scheduler) making() *making {
	if s.log.Preemption == nil {
		return nil
	}
	m := &making{scheduler: s, ranks: s.log.Preemption.Ranks, waiting: make(map[uint64]bool, len(s.queue)),
		below: make(map[subject.Names]*cycle.Below), tried: make(map[uint64]*Placement), gone: make(map[uint64]bool)}
	for _, j := range s.queue {
		m.waiting[j.Owner] = true
	}
	return m
}

func (m *making) whose(owner uint64) subject.Names { return m.log.Preemption.Whose[owner] }

// Before implements cycle.Preempter, as do the methods that follow.
func (m *making) Before(j, other *cycle.Job) (bool, error) {
	return m.ranks.Over(m.whose(j.Owner), m.whose(other.Owner)) != nil, nil
}

func (m *making) Below(j *cycle.Job) (*cycle.Below, error) {
	who := m.whose(j.Owner)
	if entitled := m.log.Preemption.Entitled; !m.ranks.Left(who) || entitled != nil && !entitled(int32(j.Owner)) {
		return nil, nil
	}
	shared := m.below[who]
	if shared == nil {
		shared = new(cycle.Below)
		for owner, p := range m.placed {
			if p.Start > m.snap.Now || m.waiting[owner] {
				continue
			}
			rule := m.ranks.Over(who, m.whose(owner))
			if ran := m.snap.Now - p.Start; rule != nil && !rule.Spares(ran, len(m.yielded[owner])) {
				shared.Candidates = append(shared.Candidates, preempt.Candidate{ID: m.numbers[owner], Owner: owner,
					Start: p.Start, Lost: ran * m.log.Jobs[owner].Procs, Rule: rule})
			}
		}
		preempt.Order(shared.Candidates)
		m.below[who] = shared
	}
	return m.less(shared, j)
}

// less removes the jobs that a job must not preempt: those stopped for it before, and those it
// was stopped for.
func (m *making) less(shared *cycle.Below, j *cycle.Job) (*cycle.Below, error) {
	spared, err := preempt.MadeWayFor(j.Owner+1, func(job uint64) ([]uint64, error) { return m.yielded[job-1], nil })
	if err != nil {
		return nil, err
	}
	out := func(c preempt.Candidate) bool {
		return m.gone[c.ID] || spared[c.Owner+1] || slices.Contains(m.yielded[c.Owner], j.Owner+1)
	}
	if !slices.ContainsFunc(shared.Candidates, out) {
		return shared, nil
	}
	return &cycle.Below{Candidates: slices.DeleteFunc(slices.Clone(shared.Candidates), out)}, nil
}

// Yields holds every start until the pass is over.
func (m *making) Yields(*cycle.Job) (bool, error) { return true, nil }

func (m *making) TakesBack(j, held *cycle.Job) (bool, error) {
	who, is := m.whose(j.Owner), m.whose(held.Owner)
	rule := m.ranks.Over(who, is)
	if rule == nil || rule.Spares(rule.MinRun, len(m.yielded[held.Owner])) || slices.Contains(m.yielded[held.Owner],
		j.Owner+1) {
		return false, nil
	}
	spared, err := preempt.MadeWayFor(j.Owner+1, func(job uint64) ([]uint64, error) { return m.yielded[job-1], nil })
	return !spared[held.Owner+1], err
}

func (m *making) Try(c *preempt.Candidate) (err error) {
	m.tried[c.Owner], err = m.Remove(c.Owner)
	return err
}

func (m *making) Untry(c *preempt.Candidate) error {
	p := m.tried[c.Owner]
	delete(m.tried, c.Owner)
	back, err := m.Restore(p)
	if err == nil && !back {
		err = errors.New("cluster: who was to make way has lost its place")
	}
	return err
}

func (m *making) Stop(c *preempt.Candidate, other *cycle.Job) error {
	p := m.tried[c.Owner]
	delete(m.tried, c.Owner)
	m.gone[c.ID] = true
	m.yielded[c.Owner] = append(m.yielded[c.Owner], other.Owner+1)
	m.freed.On(p.nodes)
	m.count(c.Owner, 1, -1)
	m.replay.Requeue(int32(c.Owner))
	if told := m.log.Preemption.Stopped; told != nil {
		told(p, m.snap.Now)
	}
	m.stopped = append(m.stopped, &cycle.Job{ID: c.ID, Owner: c.Owner, Submit: m.log.Jobs[c.Owner].Submit})
	return nil
}

// setAlarm schedules another pass for the instant at which a job has run long enough to be preempted
// for a waiting one.
func (m *making) setAlarm() {
	m.replay.Alarm(0, nil)
	asked := make(map[subject.Names]bool)
	soonest, any := int64(0), false
	for _, j := range m.queue {
		who := m.whose(j.Owner)
		if asked[who] || !m.ranks.Left(who) {
			continue
		}
		asked[who] = true
		for owner, p := range m.placed {
			rule := m.ranks.Over(who, m.whose(owner))
			if rule == nil || p.Start > m.snap.Now || rule.Spares(rule.MinRun, len(m.yielded[owner])) {
				continue
			}
			if at := p.Start + rule.MinRun; at > m.snap.Now && (!any || at < soonest) {
				soonest, any = at, true
			}
		}
	}
	if !any {
		return
	}
	m.replay.Alarm(soonest, func(now int64) error {
		if err := m.pass(now); err != nil {
			return err
		}
		return m.scheduler.cycle()
	})
}
