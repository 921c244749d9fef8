package fairshare

import "slices"

// A Plan says how many tasks start and stop. It belongs to its Planner, which overwrites it with the
// next one.
type Plan struct {
	Classes []ClassPlan // as in the State

	Starts int // of all classes
	Stops  int
	Idle   int // workers that stay idle because nothing waits for them

	Spread     int   // how far the classes were from their loads, in percentage points
	Rebalanced bool  // whether classes went back to what they are entitled to
	Timer      Timer // hand it back with the next State
}

// A ClassPlan is a class's part of a plan.
type ClassPlan struct {
	Name        string
	LoadPct     int // the load, as a percentage of all loads
	Entitlement int // workers
	Loaned      int // workers beyond these before this plan
	Start       int // tasks
	Stop        int // tasks; 0 if Start is above 0

	// JobStarts says how many of Start are in each of the Class's jobs; nil if it has none.
	JobStarts []int
	// StopTasks are those of the Class's Tasks that stop, newest first.
	StopTasks []Task
}

// A Planner makes plans. Its zero value is ready. It reuses its memory.
type Planner struct {
	rows  []row // in class order
	order []int // the place in State.Classes of each row
	plan  Plan
	jobs  []int  // backs the JobStarts of a plan
	tasks []Task // backs the StopTasks of a plan
}

// A row is the state of a class while its plan is made.
type row struct {
	load     int64
	pct      int64 // of 100
	target   int64 // workers that the class is entitled to
	running  int64
	waiting  int64 // tasks that still wait, without start
	loaned   int64 // workers beyond target at the start
	start    int64
	recalled int64 // loaned workers that a rebalancing takes back and hands out again
	want     int64 // scratch of a round: workers that the class can claim
	share    int64 // scratch of a round: its percentage of them
}

// Plan makes a plan. It fails with a *StateError.
func (p *Planner) Plan(s *State) (*Plan, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	p.line(s)
	p.entitle(int64(s.TotalWorkers))

	plan := &p.plan
	*plan = Plan{Classes: plan.Classes, Spread: p.spread(int64(s.TotalWorkers))}
	plan.Timer, plan.Rebalanced = s.Timer.step(s.Rebalance, plan.Spread, s.Now)

	idle := s.idle()
	for i := range p.rows {
		r := &p.rows[i]
		r.loaned = max(0, r.running-r.target)
	}
	if plan.Rebalanced {
		idle = p.rebalance(idle)
	} else {
		idle = p.allot(idle)
	}
	plan.Idle = int(idle)
	p.write(s)
	return plan, nil
}

// write puts the rows into the plan, in the order of the State.
func (p *Planner) write(s *State) {
	p.jobs, p.tasks = p.jobs[:0], p.tasks[:0]
	plan := &p.plan
	plan.Classes = slices.Grow(plan.Classes[:0], len(s.Classes))[:len(s.Classes)]
	for i, at := range p.order {
		r, c, out := &p.rows[i], &s.Classes[at], &plan.Classes[at]
		out.Name = c.Name
		out.LoadPct = int(r.pct)
		out.Entitlement = int(r.target)
		out.Loaned = max(0, c.Running-out.Entitlement)
		out.Start = int(max(0, r.start))
		out.Stop = int(max(0, -r.start))
		plan.Starts += out.Start
		plan.Stops += out.Stop
		out.JobStarts, out.StopTasks = nil, nil
		if len(c.Jobs) > 0 {
			out.JobStarts = p.share(c.Jobs, out.Start)
		}
		if out.Stop > 0 && len(c.Tasks) > 0 {
			out.StopTasks = p.newest(c.Tasks, out.Stop)
		}
	}
}
