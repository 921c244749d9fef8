package simulate

import (
	"github.com/placectl/placectl/placer/backfill"
	"github.com/placectl/placectl/placer/cluster"
)

// Run is what came of a policy.
type Run struct {
	Policy backfill.Policy
	starts []int64              // of each job
	placed []*cluster.Placement // of each job, nil where processors were counted
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
	if t.shares != nil {
		log.Gate = t.shares.gate(t)
	}
	run.starts, err = cluster.Replay(c, log)
	return err
}

// Jobs is how many jobs a run starts.
func (t *Trace) Jobs() int { return len(t.jobs) }
