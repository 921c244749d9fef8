package engine

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/backfill"
	"github.com/placectl/placectl/placer/cluster"
	"pgregory.net/rapid"
)

// simulated is a log of jobs and the nodes that they run on, drawn at random.
type simulated struct {
	nodes    []*index.Node
	jobs     []backfill.Job
	requests []placer.Request
	asks     []placer.Ask
	policy   placer.Policy // of nodes
	backfill backfill.Policy
	slack    float64 // of relaxed
}

// ran is when and where a job ran.
type ran struct {
	Job   int
	Start int64
	Nodes []uint32
}

func drawSimulated(t *rapid.T) *simulated {
	s := &simulated{backfill: backfill.Policy(rapid.IntRange(int(backfill.FCFS), int(backfill.Relaxed)).Draw(t,
		"backfill")), slack: rapid.SampledFrom([]float64{0, .5, 2}).Draw(t, "slack"),
		policy: rapid.SampledFrom([]placer.Policy{placer.FirstAvailable, placer.LastAvailable, placer.MinResource,
			placer.Contiguous}).Draw(t, "policy")}
	for i, cpus := range rapid.SliceOfN(rapid.Int64Range(1, 4), 1, 5).Draw(t, "cpus") {
		n := &index.Node{Name: fmt.Sprintf("n%d", i),
			Access: rapid.SampledFrom([]index.Access{index.AccessShared, index.AccessShared, index.AccessSingleUser,
				index.AccessSingleJob}).Draw(t, "access")}
		n.Set(index.NCPUs, index.Value{Num: cpus})
		n.Set(index.Mem, index.Value{Num: 10 * cpus})
		s.nodes = append(s.nodes, n)
	}
	trial := s.cluster(t, 0)
	at := int64(1_000_000)
	for range rapid.IntRange(1, 30).Draw(t, "jobs") {
		at += rapid.Int64Range(0, 3).Draw(t, "later")
		j := backfill.Job{Submit: at, Request: rapid.Int64Range(1, 20).Draw(t, "request")}
		j.Run = rapid.Int64Range(0, j.Request).Draw(t, "run")
		r := placer.Request{User: rapid.SampledFrom([]string{"ann", "bob"}).Draw(t, "user"),
			Walltime: time.Duration(j.Request) * time.Second,
			Place: rapid.SampledFrom([]string{"free", "free", "scatter", "pack", "scatter:excl", "excl"}).Draw(t,
				"place"),
			Select: rapid.SampledFrom([]string{"1:ncpus=1", "2:ncpus=1", "3:ncpus=1:mem=4kb", "1:ncpus=2",
				"2:ncpus=2:mem=9kb", "1:ncpus=2+1:ncpus=1", "2:ncpus=1+1:mem=25kb"}).Draw(t, "select")}
		spec, err := placer.Parse(trial.Defs(), r)
		if err != nil {
			t.Fatal(err)
		}
		a := placer.Ask{Spec: spec, Duration: j.Request, User: r.User, Policy: s.policy}
		if trial.Fits(a) == nil {
			s.jobs, s.requests, s.asks = append(s.jobs, j), append(s.requests, r), append(s.asks, a)
		}
	}
	return s
}

func (s *simulated) cluster(t *rapid.T, now int64) *cluster.Cluster {
	var nodes []*index.Node
	for _, n := range s.nodes {
		mine := *n
		nodes = append(nodes, &mine)
	}
	c, err := cluster.New(index.NewDefs(), nodes, placer.Rules{}, now)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// simulate runs the jobs in a simulation.
func (s *simulated) simulate(t *rapid.T) []ran {
	out := make([]ran, len(s.jobs))
	starts, err := cluster.Replay(s.cluster(t, s.jobs[0].Submit), &cluster.Log{Jobs: s.jobs, Asks: s.asks,
		Policy: s.backfill, Slack: s.slack,
		Placed: func(p *cluster.Placement) {
			nodes := make([]uint32, len(p.Takings))
			for i, take := range p.Takings {
				nodes[i] = take.Node
			}
			slices.Sort(nodes)
			out[p.Owner] = ran{int(p.Owner), p.Start, nodes}
		}})
	if err != nil {
		t.Fatal(err)
	}
	for i, start := range starts {
		if out[i].Start != start {
			t.Fatalf("job %d starts at %d and is placed for %d", i, start, out[i].Start)
		}
	}
	return out
}

// live runs the jobs of a log in a database, with a cycle after each submission and each end.
type live struct {
	*simulated
	db     *DB
	clock  *clock
	replay *backfill.Replay
}

func (s *simulated) live(t *rapid.T, path string) []ran {
	l := &live{simulated: s, clock: &clock{t: s.jobs[0].Submit}}
	opt := &Options{Now: l.clock.now}
	err := Create(path, opt, func(tx *Tx) error {
		for _, n := range s.nodes {
			mine := *n
			if _, err := tx.Nodes().Put(&mine); err != nil {
				return err
			}
		}
		if err := tx.Config().Set("overdue", "finish"); err != nil {
			return err
		}
		return errors.Join(tx.Config().Set("policy", s.policy.String()), tx.Config().Set("slack", fmt.Sprint(s.slack)))
	})
	if err == nil {
		l.db, err = Open(path, opt)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer l.db.Close()
	if l.replay, err = backfill.NewReplay(s.jobs); err == nil {
		_, err = l.replay.Run(l, nil)
	}
	var out []ran
	if err == nil {
		err = l.db.View(func(tx *Tx) error {
			return tx.k.EachJob(func(j *row.Job) error {
				nodes := j.AllNodes()
				slices.Sort(nodes)
				out = append(out, ran{int(j.ID) - 1, j.Start, slices.Compact(nodes)})
				return nil
			})
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (l *live) Submitted(job int32, now int64) error {
	return l.cycle(now, func(tx *Tx) error {
		list, err := tx.Jobs().Submit(Submission{Request: l.requests[job], Attended: true})
		if err == nil && list[0].ID != uint64(job)+1 {
			err = fmt.Errorf("job %d is number %d", job, list[0].ID)
		}
		return err
	})
}

func (l *live) Ended(job int32, now int64) error {
	return l.cycle(now, func(tx *Tx) error {
		j, err := tx.Jobs().Get(uint64(job) + 1)
		if err == nil && j.State == JobRunning {
			_, err = tx.Jobs().Finish(j.ID, 0, "")
		}
		return err
	})
}

// cycle makes something happen, and makes a cycle. It tells the replay what the cycle decides.
func (l *live) cycle(now int64, event func(tx *Tx) error) error {
	l.clock.t = now
	spec := CycleSpec{Backfill: []Backfill{backfill.FCFS: FCFS, backfill.EASY: EASY,
		backfill.Conservative: Conservative, backfill.Relaxed: Relaxed}[l.backfill]}
	return l.db.Update(func(tx *Tx) error {
		if err := event(tx); err != nil {
			return err
		}
		r, err := tx.Cycle().Run(spec)
		if err != nil {
			return err
		}
		for _, j := range append(r.Started, r.Planned...) {
			l.replay.Decide(int32(j.ID)-1, kernel.Unix(j.Start))
		}
		return nil
	})
}

// The same jobs, nodes and policies give the same starts on the same nodes in a database
// and in a simulation.
func TestSimulationIsLive(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := drawSimulated(rt)
		if len(s.jobs) == 0 {
			rt.Skip("no job fits")
		}
		got := s.simulate(rt)
		if diff := cmp.Diff(s.live(rt, t.TempDir()+"/s.db"), got); diff != "" {
			rt.Fatalf("%s, %s (-live +simulated):\n%s", s.backfill, s.policy, diff)
		}
	})
}
