package simulate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer/backfill"
	"github.com/placectl/placectl/placer/cluster"
	"github.com/placectl/placectl/placer/subject"
)

// Rule is a policy, with the slack of its promises if it is relaxed.
type Rule struct {
	backfill.Policy
	Slack float64
}

// ParseRule parses the name of a policy, which may have a slack: relaxed:0.5.
func ParseRule(word string) (Rule, error) {
	name, slack, has := strings.Cut(word, ":")
	p := slices.Index(backfill.PolicyNames(), name)
	if p < 0 {
		return Rule{}, text.NotOneOf(name, backfill.PolicyNames())
	}
	r := Rule{backfill.Policy(p), backfill.DefaultSlack}
	if !has {
		return r, nil
	}
	if r.Policy != backfill.Relaxed {
		return Rule{}, fmt.Errorf("%s has no slack; only relaxed has", text.Quoted(name))
	}
	var err error
	r.Slack, err = ParseSlack(slack)
	return r, err
}

// ParseSlack parses a slack, in walltimes.
func ParseSlack(word string) (slack float64, err error) {
	if slack, err = strconv.ParseFloat(word, 64); err != nil || !(slack >= 0 && slack <= mostSlack) {
		return 0, fmt.Errorf("%s is not a number from 0 to %d", text.Quoted(word), mostSlack)
	}
	return slack, nil
}

// mostSlack bounds a slack, as the setting does.
const mostSlack = 100

func (r Rule) String() string {
	if r.Policy == backfill.Relaxed && r.Slack != backfill.DefaultSlack {
		return r.Policy.String() + ":" + strconv.FormatFloat(r.Slack, 'f', -1, 64)
	}
	return r.Policy.String()
}

// Run is the result of a policy.
type Run struct {
	Rule
	promises backfill.Promises
	starts   []int64              // one for each job
	placed   []*cluster.Placement // one for each job, nil if processors were counted
	cut      []cut                // by preemption
}

// cut is a part of a run that was lost, because its job made way at an instant.
type cut struct {
	*cluster.Placement
	at int64
}

// Run replays the log under a policy. progress is called with the number of jobs started so far, and
// its error ends the run.
func (t *Trace) Run(r Rule, progress func(started int) error) (run *Run, err error) {
	run = &Run{Rule: r}
	if t.cluster != nil {
		return run, t.onNodes(run, progress)
	}
	if t.shares != nil {
		run.starts, err = backfill.RunShared(t.procs, t.shares.gate(t), t.jobs, r.Policy, progress)
	} else if r.Policy == backfill.Relaxed {
		run.starts, run.promises, err = backfill.RunRelaxed(t.procs, t.jobs, r.Slack, progress)
	} else {
		run.starts, err = backfill.Run(t.procs, t.jobs, r.Policy, progress)
	}
	return run, err
}

// onNodes simulates on a cluster that is empty at first.
func (t *Trace) onNodes(run *Run, progress func(int) error) error {
	c, err := t.cluster.empty(t.first())
	if err != nil {
		return err
	}
	promised := make(map[int32]backfill.Promise)
	run.placed = make([]*cluster.Placement, len(t.jobs))
	log := &cluster.Log{Jobs: t.jobs, Asks: t.asks, Policy: run.Policy, Slack: run.Slack, Progress: progress,
		Promised: func(job int32, p backfill.Promise) { promised[job] = p },
		Placed:   func(p *cluster.Placement) { run.placed[p.Owner] = p }}
	var gate *shareGate
	if t.shares != nil {
		gate = t.shares.gate(t)
		log.Gate = gate
	}
	if t.ranks != nil {
		log.Preemption = t.preemption(run, gate)
	}
	if run.starts, err = cluster.Replay(c, log); err == nil {
		run.promises = backfill.CountPromises(promised, run.starts)
	}
	return err
}

// Jobs returns how many jobs a run starts.
func (t *Trace) Jobs() int { return len(t.jobs) }

// preemption returns which jobs make way for which in a run. Users, groups and queues have the log's
// names, and classes are those of shares.
func (t *Trace) preemption(run *Run, gate *shareGate) *cluster.Preemption {
	p := &cluster.Preemption{Ranks: t.ranks, Whose: make([]subject.Names, len(t.jobs)),
		Stopped: func(p *cluster.Placement, at int64) { run.cut = append(run.cut, cut{p, at}) }}
	for i, o := range t.origins {
		p.Whose[i] = subject.Names{subject.User: o.user, subject.Group: o.group, subject.Queue: o.queue}
		if t.shares != nil {
			p.Whose[i][subject.Class] = t.shares.settings.Loads[t.shares.class[i]].Class
		}
	}
	if gate != nil {
		p.Entitled = gate.entitled
	}
	return p
}

// times returns how often each job made way.
func (run *Run) times(jobs int) []int {
	times := make([]int, jobs)
	for _, c := range run.cut {
		times[c.Owner]++
	}
	return times
}
