package simulate

import (
	"github.com/placectl/placectl/placer/backfill"
	"github.com/placectl/placectl/placer/cluster"
	"github.com/placectl/placectl/placer/preempt"
)

// Run is what came of a policy.
type Run struct {
	Policy backfill.Policy
	starts []int64              // of each job
	placed []*cluster.Placement // of each job, nil where processors were counted
	cut    []cut                // by rules of who makes way
}

// cut is a part of a run that came to nothing: its job made way at an instant.
type cut struct {
	*cluster.Placement
	at int64
}

// Run replays the log under a policy, told of jobs that have started so far; its error ends the run.
func (t *Trace) Run(p backfill.Policy, progress func(started int) error) (run *Run, err error) {
	run = &Run{Policy: p}
	if t.cluster != nil {
		return run, t.onNodes(run, progress)
	}
	if t.shares != nil {
		run.starts, err = backfill.RunShared(t.procs, t.shares.gate(t), t.jobs, p, progress)
	} else {
		run.starts, err = backfill.Run(t.procs, t.jobs, p, progress)
	}
	return run, err
}

// onNodes simulates on a cluster that is empty at first.
func (t *Trace) onNodes(run *Run, progress func(int) error) error {
	c, err := t.cluster.empty(t.first())
	if err != nil {
		return err
	}
	run.placed = make([]*cluster.Placement, len(t.jobs))
	log := &cluster.Log{Jobs: t.jobs, Asks: t.asks, Policy: run.Policy, Progress: progress,
		Placed: func(p *cluster.Placement) { run.placed[p.Owner] = p }}
	var gate *shareGate
	if t.shares != nil {
		gate = t.shares.gate(t)
		log.Gate = gate
	}
	if t.ranks != nil {
		log.Preemption = t.preemption(run, gate)
	}
	run.starts, err = cluster.Replay(c, log)
	return err
}

// Jobs is how many jobs a run starts.
func (t *Trace) Jobs() int { return len(t.jobs) }

// preemption is who makes way for whom in a run. Users, groups and queues are what the log calls
// them, and classes are those of shares.
func (t *Trace) preemption(run *Run, gate *shareGate) *cluster.Preemption {
	p := &cluster.Preemption{Ranks: t.ranks, Subjects: make([]preempt.Subject, len(t.jobs)),
		Stopped: func(p *cluster.Placement, at int64) { run.cut = append(run.cut, cut{p, at}) }}
	for i, o := range t.origins {
		p.Subjects[i] = preempt.Subject{User: o.user, Group: o.group, Queue: o.queue}
		if t.shares != nil {
			p.Subjects[i].Class = t.shares.settings.Loads[t.shares.class[i]].Class
		}
	}
	if gate != nil {
		p.Entitled = gate.entitled
	}
	return p
}

// times is how often each job made way.
func (run *Run) times(jobs int) []int {
	times := make([]int, jobs)
	for _, c := range run.cut {
		times[c.Owner]++
	}
	return times
}
