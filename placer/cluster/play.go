package cluster

import (
	"errors"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer/backfill"
	"github.com/placectl/placectl/placer/cycle"
)

// A View is what an observer of a replay may know about the cluster: which jobs wait, and how
// the queue would run if no more jobs came.
type View struct{ *scheduler }

// Waiting lists the waiting jobs in the order of the queue.
func (v *View) Waiting() (list []int32) {
	for _, j := range v.queue {
		list = append(list, int32(j.Owner))
	}
	return list
}

// Alone returns when a waiting job could start beside running and planned ones.
func (v *View) Alone(job int32, now int64) (int64, error) {
	if p := v.placed[uint64(job)]; p != nil {
		return p.Start, nil
	}
	plan, err := v.snap.Earliest(v.log.Asks[job], now)
	if err != nil {
		return 0, err
	}
	return plan.Start, nil
}

// Play plays the queue forward by the replay's passes, with no new jobs, until a waiting job starts, and
// returns when. run is each job's run time, in all for running jobs, and at most what they asked for.
func (v *View) Play(job int32, now int64, run func(job int32, ran int64) int64) (int64, error) {
	if v.log.Gate != nil || v.log.Preemption != nil {
		return 0, errors.New("cluster: there is no play with shares, or where jobs make way")
	}
	nodes := make([]*index.Node, len(v.nodes))
	for i, n := range v.nodes {
		mine := *n
		nodes[i] = &mine
	}
	c, err := New(v.defs, nodes, v.snap.Rules, now)
	if err != nil {
		return 0, err
	}
	log := &Log{Policy: v.log.Policy, Slack: v.log.Slack}
	s := newScheduler(c, log)
	waits := make(map[uint64]bool, len(v.queue))
	for _, j := range v.queue {
		waits[j.Owner] = true
	}
	var running []uint64
	for owner := range v.placed {
		if !waits[owner] {
			running = append(running, owner)
		}
	}
	slices.Sort(running)
	place := make(map[uint64]uint64, len(running)+len(v.queue))
	add := func(owner uint64, ran int64) {
		x := v.log.Jobs[owner]
		place[owner] = uint64(len(log.Jobs))
		left := x.Request - ran
		log.Jobs = append(log.Jobs, backfill.Job{Submit: now, Procs: x.Procs, Request: left,
			Run: min(max(run(int32(owner), ran)-ran, 1), left)})
		log.Asks, s.kinds = append(log.Asks, v.log.Asks[owner]), append(s.kinds, v.kinds[owner])
	}
	for _, owner := range running {
		add(owner, now-v.placed[owner].Start)
	}
	for _, j := range v.queue {
		add(j.Owner, 0)
		waiting := *j
		waiting.Owner = place[j.Owner]
		s.queue = append(s.queue, &waiting)
	}
	s.replay = backfill.Resume(log.Jobs, len(running), now)
	s.numbers = make([]uint64, len(log.Jobs))
	for owner, at := range place {
		p := v.placed[owner]
		if p == nil {
			continue
		}
		mine := *p
		mine.Owner = at
		if back, err := c.Restore(&mine); err != nil || !back {
			return 0, errors.Join(err, errors.New("cluster: a play cannot begin as things are"))
		}
		if p.Start > now {
			s.replay.Decide(int32(at), p.Start)
		}
	}
	if err := s.cycle(); err != nil {
		return 0, err
	}
	return s.replay.StartOf(int32(place[uint64(job)]), s)
}

// newScheduler makes a scheduler for a log, without its jobs.
func newScheduler(c *Cluster, log *Log) *scheduler {
	s := &scheduler{Cluster: c, log: log, freed: cycle.NewFreed(roaring.New(), true),
		requests: make(map[string]*cycle.Request),
		lifted:   make(map[uint64]*Placement), yielded: make(map[uint64][]uint64), promised: make(map[uint64]bool)}
	switch log.Policy {
	case backfill.FCFS:
		s.spec = cycle.Spec{InOrder: true}
	case backfill.EASY:
		s.spec = cycle.Spec{Depth: 1}
	case backfill.Relaxed:
		s.spec = cycle.Spec{Depth: 1, Relaxed: true, Slack: log.Slack}
	default:
		s.spec = cycle.Spec{Depth: cycle.All}
	}
	return s
}
