package cluster

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/backfill"
)

// newCluster returns nodes of the given cpus, and memory for each.
func newCluster(t interface{ Fatal(...any) }, first int64, cpus ...int64) *Cluster {
	var nodes []*index.Node
	for i, n := range cpus {
		node := &index.Node{Name: fmt.Sprintf("n%d", i)}
		node.Set(index.NCPUs, index.Value{Num: n})
		node.Set(index.Mem, index.Value{Num: 10 * n})
		nodes = append(nodes, node)
	}
	c, err := New(index.NewDefs(), nodes, placer.Rules{}, first)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func ask(t interface{ Fatal(...any) }, c *Cluster, sel, place string, duration int64) placer.Ask {
	spec, err := placer.Parse(c.Defs(), placer.Request{Select: sel, Place: place})
	if err != nil {
		t.Fatal(err)
	}
	return placer.Ask{Spec: spec, Duration: duration}
}

func drawJobs(t *rapid.T, procs int64) []backfill.Job {
	at := int64(0)
	var jobs []backfill.Job
	for range rapid.IntRange(1, 30).Draw(t, "jobs") {
		at += rapid.Int64Range(0, 6).Draw(t, "later")
		request := rapid.Int64Range(1, 20).Draw(t, "request")
		jobs = append(jobs, backfill.Job{Submit: at, Request: request, Run: rapid.Int64Range(0, request).Draw(t, "run"),
			Procs: rapid.Int64Range(1, procs).Draw(t, "procs")})
	}
	return jobs
}

// TestOneNodeIsProcessors: a cluster of one node whose jobs ask for cpus is a machine with as
// many processors. Every job starts when package backfill says, which does not know of nodes.
// Conservative backfilling on nodes moves plans forward after submissions, too, as cycles do;
// package backfill only does so after ends.
func TestOneNodeIsProcessors(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		procs := rapid.Int64Range(1, 8).Draw(t, "procs")
		jobs, slack := drawJobs(t, procs), rapid.SampledFrom([]float64{0, .5, 1, 3}).Draw(t, "slack")
		for p := backfill.FCFS; p <= backfill.Relaxed; p++ {
			c := newCluster(t, jobs[0].Submit, procs)
			asks := make([]placer.Ask, len(jobs))
			for i, j := range jobs {
				asks[i] = ask(t, c, fmt.Sprintf("%d:ncpus=1", j.Procs), "free", j.Request)
			}
			var want []int64
			var literal *conservative
			replay, err := backfill.NewReplay(jobs)
			if err == nil && p == backfill.Conservative {
				literal = &conservative{replay: replay, jobs: jobs, procs: procs, on: make(map[int32]taken)}
				want, err = replay.Run(literal, nil)
			} else if err == nil && p == backfill.Relaxed {
				want, _, err = backfill.RunRelaxed(procs, jobs, slack, nil)
			} else if err == nil {
				want, err = backfill.Run(procs, jobs, p, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := Replay(c, &Log{Jobs: jobs, Asks: asks, Policy: p, Slack: slack})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" && (literal == nil || !literal.left) {
				t.Fatalf("%s: (-processors +node)\n%s", p, diff)
			}
		}
	})
}

func TestReplayRefuses(t *testing.T) {
	jobs := []backfill.Job{{Request: 1, Procs: 1}}
	if starts, err := Replay(newCluster(t, 0, 1), &Log{Jobs: jobs}); err == nil {
		t.Errorf("a job without a request starts: %v", starts)
	}
}

// conservative is literal conservative backfilling on processors: after each event it plans
// every waiting job again, in order, beside all others. A cycle lets jobs before one that has moved
// look again at the room that it has left; where there is any, this is no measure.
type conservative struct {
	replay  *backfill.Replay
	jobs    []backfill.Job
	procs   int64
	on      map[int32]taken // jobs that run or are planned
	waiting []int32
	left    bool // a plan has left room in which one before it would be earlier
}

type taken struct{ from, to, procs int64 }

func (c *conservative) Submitted(job int32, now int64) error {
	c.begin(now)
	c.waiting = append(c.waiting, job)
	c.pass(now)
	return nil
}

func (c *conservative) Ended(job int32, now int64) error {
	c.begin(now)
	delete(c.on, job)
	c.pass(now)
	return nil
}

func (c *conservative) begin(now int64) {
	c.waiting = slices.DeleteFunc(c.waiting, func(job int32) bool { return c.on[job].from <= now })
}

func (c *conservative) pass(now int64) {
	for _, job := range c.waiting {
		c.on[job] = c.earliest(job, now)
		c.replay.Decide(job, c.on[job].from)
	}
	for _, job := range c.waiting {
		c.left = c.left || c.earliest(job, now).from < c.on[job].from
	}
}

// earliest returns when a job could start beside all others.
func (c *conservative) earliest(job int32, now int64) taken {
	was, planned := c.on[job]
	delete(c.on, job)
	j := c.jobs[job]
	ends := []int64{now}
	for _, other := range c.on {
		ends = append(ends, max(now, other.to))
	}
	slices.Sort(ends)
	at := ends[slices.IndexFunc(ends, func(t int64) bool { return c.fits(j, t) })]
	if planned {
		c.on[job] = was
	}
	return taken{at, at + j.Request, j.Procs}
}

func (c *conservative) fits(j backfill.Job, at int64) bool {
	used := func(t int64) (n int64) {
		for _, o := range c.on {
			if o.from <= t && t < o.to {
				n += o.procs
			}
		}
		return n
	}
	if used(at)+j.Procs > c.procs {
		return false
	}
	for _, o := range c.on {
		if o.from > at && o.from < at+j.Request && used(o.from)+j.Procs > c.procs {
			return false
		}
	}
	return true
}

// On any nodes, jobs never have more of a node than there is, and none starts before it is
// submitted. Under conservative backfilling no job starts later than first planned. Under
// relaxed none starts later than promised: without slack, by the earliest start that it had.
func TestNothingIsTakenTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cpus := rapid.SliceOfN(rapid.Int64Range(1, 4), 1, 5).Draw(t, "cpus")
		jobs, slack := drawJobs(t, int64(len(cpus))), rapid.SampledFrom([]float64{0, .5, 1, 3}).Draw(t, "slack")
		for p := backfill.FCFS; p <= backfill.Relaxed; p++ {
			c := newCluster(t, jobs[0].Submit, cpus...)
			asks := make([]placer.Ask, len(jobs))
			for i, j := range jobs {
				sel := fmt.Sprintf("%d:ncpus=1:mem=%dkb", j.Procs, 1+j.Request%10)
				place := []string{"free", "scatter", "scatter:excl"}[j.Request%3]
				asks[i] = ask(t, c, sel, place, j.Request)
			}
			at := make(map[uint64]*Placement)
			first := make(map[uint64]int64)
			promised := make(map[int32]backfill.Promise)
			told := func(job int32, p backfill.Promise) { promised[job] = p }
			starts, err := Replay(c, &Log{Jobs: jobs, Asks: asks, Policy: p, Slack: slack, Promised: told,
				Placed: func(p *Placement) {
					if at[p.Owner] = p; first[p.Owner] == 0 {
						first[p.Owner] = p.Start + 1
					}
				}})
			if err != nil {
				t.Fatal(err)
			}
			for i, start := range starts {
				j := uint64(i)
				if start < jobs[i].Submit || at[j].Start != start || p == backfill.Conservative && start >= first[j] {
					t.Fatalf("%s: job %d starts at %d, is placed for %d, first %d", p, i, start, at[j].Start,
						first[j]-1)
				}
			}
			if kept := backfill.CountPromises(promised, starts); kept.Broken > 0 || slack == 0 && kept.Used > 0 {
				t.Fatalf("%s with slack %v: %+v", p, slack, kept)
			}
			var stints []stint
			for owner, p := range at {
				stints = append(stints, stint{p, p.Start + jobs[owner].Run})
			}
			sweep(t, c, stints)
		}
	})
}

// stint is a placement that was in use until an instant.
type stint struct {
	*Placement
	to int64
}

// sweep sums up what jobs have of each node at each instant at which one starts.
func sweep(t interface{ Fatalf(string, ...any) }, c *Cluster, stints []stint) {
	type use struct {
		from, to, cpus, mem int64
	}
	on := make([][]use, len(c.nodes))
	for _, p := range stints {
		for _, take := range p.Takings {
			u := use{from: p.Start, to: p.to}
			n := c.nodes[take.Node]
			if take.Use == nil {
				u.cpus, u.mem = n.Res[0].Value.Num, n.Res[1].Value.Num
			} else {
				for _, a := range take.Use.Amounts {
					switch index.ResID(a.Quantity) {
					case index.NCPUs:
						u.cpus = a.N
					case index.Mem:
						u.mem = a.N
					}
				}
			}
			on[take.Node] = append(on[take.Node], u)
		}
	}
	for number, uses := range on {
		n := c.nodes[number]
		for _, at := range uses {
			var cpus, mem int64
			for _, u := range uses {
				if u.from <= at.from && at.from < u.to {
					cpus, mem = cpus+u.cpus, mem+u.mem
				}
			}
			if cpus > n.Res[0].Value.Num || mem > n.Res[1].Value.Num {
				t.Fatalf("at %d: %d cpus and %d kb taken of node %s, which has %v", at.from, cpus, mem, n.Name, n.Res)
			}
		}
	}
}

func TestTwoNodesOfOneName(t *testing.T) {
	n := func() *index.Node { return &index.Node{Name: "n"} }
	if _, err := New(index.NewDefs(), []*index.Node{n(), n()}, placer.Rules{}, 0); err == nil {
		t.Error("taken")
	}
}
