package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/backfill"
	"github.com/placectl/placectl/placer/cycle"
	"github.com/placectl/placectl/placer/limits"
)

// Log holds jobs to replay on a cluster. A job is identified by its place in the log, which is
// also the owner number of its placement.
type Log struct {
	Jobs   []backfill.Job
	Asks   []placer.Ask // of each job
	Policy backfill.Policy
	Slack  float64       // of relaxed backfilling
	Gate   backfill.Gate // nil for none
	// Preemption says which jobs can be preempted for which; nil for none.
	Preemption *Preemption
	// Placed, if not nil, is called for placements. A job runs on the last one.
	Placed func(*Placement)
	// Promised, if not nil, is called for the first promise of each job.
	Promised func(job int32, p backfill.Promise)
	// Observe, if not nil, makes an observer of the replay.
	Observe func(*View) backfill.Observer
	// Progress, if not nil, is called after every start with the number of starts, and its error ends
	// the replay.
	Progress func(started int) error
}

// Replay returns when each job starts. After each submission and each end there is a pass over the
// queue, the same as in placectl cycle. In between, planned jobs begin at their time. It fails with
// backfill.ErrJob, and if a job can never run.
func Replay(c *Cluster, log *Log) ([]int64, error) {
	r, err := backfill.NewReplay(log.Jobs)
	if err != nil {
		return nil, err
	}
	if len(log.Asks) != len(log.Jobs) {
		return nil, fmt.Errorf("%d requests of %d jobs", len(log.Asks), len(log.Jobs))
	}
	s := newScheduler(c, log)
	s.replay, s.kinds, s.numbers = r, make([]string, len(log.Jobs)), make([]uint64, len(log.Jobs))
	if log.Observe != nil {
		s.observer = log.Observe(&View{s})
		r.OnStart(s.observer.Started)
	}
	known := make(map[request]string)
	for i := range log.Asks {
		a := &log.Asks[i]
		r := request{a.Text(c.defs) + "@" + a.Spec.Place.Format(c.defs), a.User, a.Duration}
		if known[r] == "" {
			known[r] = strconv.Itoa(len(known))
		}
		s.kinds[i] = known[r]
	}
	starts, err := r.Run(s, log.Progress)
	if n := len(s.queue); n > 0 && err == nil {
		err = fmt.Errorf("%d jobs wait for good", n)
	}
	return starts, err
}

// request is shared by jobs of one kind.
type request struct {
	text, user string
	duration   int64
}

// scheduler makes passes over the queue of a replay, as their cycle.Host.
type scheduler struct {
	*Cluster
	log      *Log
	replay   *backfill.Replay
	spec     cycle.Spec
	freed    *cycle.Freed
	kinds    []string // of each job
	requests map[string]*cycle.Request
	queue    []*cycle.Job
	arrived  uint64                // number of submitted jobs
	numbers  []uint64              // of each submitted job, in that order
	lifted   map[uint64]*Placement // by owner
	yielded  map[uint64][]uint64   // the jobs that an owner was stopped for
	promised map[uint64]bool       // owners whose promise was reported
	observer backfill.Observer     // nil for none
}

// Submitted implements backfill.Scheduler, as does Ended.
func (s *scheduler) Submitted(job int32, now int64) error {
	if err := s.pass(now); err != nil {
		return err
	}
	s.arrived++
	s.numbers[job] = s.arrived
	s.queue = append(s.queue, &cycle.Job{ID: s.arrived, Owner: uint64(job), Submit: now})
	s.count(uint64(job), 1, 0)
	if err := s.cycle(); err != nil || s.observer == nil {
		return err
	}
	return s.observer.Submitted(job, now)
}

func (s *scheduler) Ended(job int32, now int64) error {
	if err := s.pass(now); err != nil {
		return err
	}
	p, err := s.Remove(uint64(job))
	if err != nil {
		return err
	}
	if p != nil {
		s.freed.On(p.nodes)
	}
	s.count(uint64(job), 0, -1)
	if s.observer != nil {
		s.observer.Ended(job, now)
	}
	return s.cycle()
}

// pass lets time pass.
func (s *scheduler) pass(now int64) error {
	begun, freed, err := s.Pass(now)
	if len(freed) > 0 {
		s.freed.On(freed)
	}
	for _, p := range begun {
		s.count(p.Owner, -1, 1)
	}
	if len(begun) > 0 {
		s.queue = slices.DeleteFunc(s.queue, func(j *cycle.Job) bool { return j.Planned && j.Start <= now })
	}
	return err
}

func (s *scheduler) count(job uint64, waiting, running int) {
	if s.log.Gate != nil {
		s.log.Gate.Count(int32(job), waiting, running)
	}
}

// cycle makes a pass over the queue. It begins again if it stopped jobs: they may run
// elsewhere, and others on the nodes they left.
func (s *scheduler) cycle() error {
	spec := s.spec
	way := s.making()
	if way != nil {
		spec.Preempter = way
	}
	pass := cycle.New(s, s.freed, spec, s.snap.Now)
	for anew := true; anew; {
		if s.log.Gate != nil {
			if err := s.log.Gate.Pass(); err != nil {
				return err
			}
		}
		var err error
		has := func(j *cycle.Job) bool { return s.placed[j.Owner] != nil && !j.Planned }
		if _, anew, err = pass.Run(slices.DeleteFunc(slices.Clone(s.queue), has)); err == nil && !anew {
			_, err = pass.Begin()
			s.queue = slices.DeleteFunc(s.queue, has)
		}
		if err != nil {
			return err
		}
		if way != nil && anew {
			s.queue = append(s.queue, way.stopped...)
			slices.SortFunc(s.queue, func(a, b *cycle.Job) int { return cmp.Compare(a.ID, b.ID) })
			way.stopped = nil
		}
	}
	if way != nil {
		way.setAlarm()
	}
	return nil
}

// Kind implements cycle.Host, as do the methods that follow.
func (s *scheduler) Kind(j *cycle.Job) (string, error) { return s.kinds[j.Owner], nil }

func (s *scheduler) Request(j *cycle.Job) (r *cycle.Request, err error) {
	kind := s.kinds[j.Owner]
	if s.requests[kind] == nil {
		s.requests[kind], err = cycle.NewRequest(&s.snap, s.log.Asks[j.Owner])
	}
	return s.requests[kind], err
}

func (s *scheduler) Snapshot(*cycle.Job) (*placer.Snapshot, error) { return &s.snap, nil }

func (s *scheduler) Take(j *cycle.Job, a *placer.Ask, plan *placer.Plan) error {
	if err := s.Hold(j, a, plan); err != nil {
		return err
	}
	return s.Begin(j)
}

func (s *scheduler) Hold(j *cycle.Job, a *placer.Ask, plan *placer.Plan) error {
	_, err := s.Cluster.Take(a, plan, j.Owner)
	if old := s.lifted[j.Owner]; old != nil && err == nil {
		delete(s.lifted, j.Owner)
		s.freed.On(old.nodes)
	}
	return err
}

func (s *scheduler) Begin(j *cycle.Job) error {
	p := s.placed[j.Owner]
	if p.Start == s.snap.Now {
		s.count(j.Owner, -1, 1)
	}
	s.replay.Decide(int32(j.Owner), p.Start)
	if s.log.Promised != nil && j.Promised > 0 && !s.promised[j.Owner] {
		s.promised[j.Owner] = true
		s.log.Promised(int32(j.Owner), backfill.Promise{Earliest: j.Earliest, Latest: j.Promised})
	}
	if s.log.Placed != nil {
		s.log.Placed(p)
	}
	return nil
}

func (s *scheduler) Lift(j *cycle.Job) (err error) {
	s.lifted[j.Owner], err = s.Remove(j.Owner)
	return err
}

func (s *scheduler) PutBack(j *cycle.Job) (bool, error) {
	back, err := s.Restore(s.lifted[j.Owner])
	if back {
		delete(s.lifted, j.Owner)
	}
	return back, err
}

func (s *scheduler) Withdraw(j *cycle.Job) error {
	s.freed.On(s.lifted[j.Owner].nodes)
	delete(s.lifted, j.Owner)
	s.replay.Withdraw(int32(j.Owner))
	return nil
}

func (s *scheduler) Drop(j *cycle.Job) error { return s.Withdraw(j) }

func (s *scheduler) Nodes(j *cycle.Job) []uint32 {
	if p := s.lifted[j.Owner]; p != nil {
		return p.nodes
	}
	return s.placed[j.Owner].nodes
}

func (s *scheduler) Alike(*cycle.Job) (*cycle.Job, error) { return nil, nil }

func (s *scheduler) Followers(*cycle.Job) ([]*cycle.Job, error) { return nil, nil }

func (s *scheduler) Claim(*cycle.Job, *placer.Plan, limits.Demands) error { return nil }

func (s *scheduler) Beyond(*cycle.Job) (bool, error) { return false, nil }

func (s *scheduler) MayStart(j *cycle.Job) (bool, error) {
	return s.log.Gate == nil || s.log.Gate.Open(int32(j.Owner)), nil
}

func (s *scheduler) Never(_ *cycle.Job, why error) error {
	return why
}
