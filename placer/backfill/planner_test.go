package backfill

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/timeline"
	_ "pgregory.net/rapid" // its flags
)

// A plannerPlan is literal conservative backfilling on timeline's planner. plan is compared
// with it, and checked against it on logs that are too long for an array of instants.
type plannerPlan struct {
	sim     *Replay
	planned *timeline.Planner
	span    []timeline.SpanID
	waiting []int32
}

func (p *plannerPlan) Submitted(job int32, now int64) error {
	p.waiting = append(p.waiting, job)
	p.sim.start[job] = never
	return p.put(job, now)
}

func (p *plannerPlan) put(job int32, now int64) error {
	j := &p.sim.jobs[job]
	at, err := p.planned.EarliestStart(now, j.Request, j.Procs)
	if err != nil {
		return err
	}
	if at != p.sim.start[job] {
		p.sim.Decide(job, at)
	}
	p.span[job], err = p.planned.Add(timeline.Span{Start: at, Duration: j.Request, Amount: j.Procs})
	return err
}

func (p *plannerPlan) Ended(job int32, now int64) error {
	if err := p.planned.Remove(p.span[job]); err != nil {
		return err
	}
	kept := 0
	for _, job := range p.waiting {
		if p.sim.start[job] <= now {
			continue
		}
		p.waiting[kept] = job
		kept++
		if err := p.planned.Remove(p.span[job]); err != nil {
			return err
		}
		if err := p.put(job, now); err != nil {
			return err
		}
	}
	p.waiting = p.waiting[:kept]
	return nil
}

func runPlanner(t testing.TB, procs int64, jobs []Job) []int64 {
	t.Helper()
	first, end, err := check(procs, jobs)
	if err != nil {
		t.Fatal(err)
	}
	planned, err := timeline.New(procs, first, end)
	if err != nil {
		t.Fatal(err)
	}
	s := newReplay(jobs)
	starts, err := s.Run(&plannerPlan{sim: s, planned: planned, span: make([]timeline.SpanID, len(jobs))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return starts
}

// busyLog returns a log with long queues, jobs of all widths, and runs far shorter than
// requests.
func busyLog(rng *rand.Rand, jobs int, procs int64) []Job {
	log := make([]Job, jobs)
	t := int64(0)
	for i := range log {
		t += int64(rng.ExpFloat64() * 300)
		width := procs >> rng.IntN(9)
		j := Job{Submit: t, Procs: 1 + rng.Int64N(max(1, width)), Request: 60 * (1 + rng.Int64N(1<<rng.IntN(10)))}
		j.Run = rng.Int64N(j.Request + 1)
		log[i] = j
	}
	return log
}

// seeded returns a source of random numbers from the seed of all random tests: -rapid.seed, or
// RAPID_SEED in the environment, or a new seed if neither is set.
func seeded(t testing.TB) *rand.Rand {
	seed, _ := strconv.ParseUint(flag.Lookup("rapid.seed").Value.String(), 0, 64)
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-rapid.seed=%d", seed)
	return rand.New(rand.NewPCG(seed, seed))
}

func TestPlanner(t *testing.T) {
	rng := seeded(t)
	for range 8 {
		for _, procs := range []int64{7, 64, 1000} {
			log := busyLog(rng, 1500, procs)
			starts, err := Run(procs, log, Conservative, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(runPlanner(t, procs, log), starts); diff != "" {
				t.Fatalf("%d processors (-planner +got):\n%s", procs, diff)
			}
		}
	}
}

func BenchmarkPlanner(b *testing.B) {
	for _, ref := range references {
		_, jobs := readLog(b, ref.log)
		b.Run(fmt.Sprintf("%s/%s", ref.log, Conservative), func(b *testing.B) {
			for b.Loop() {
				runPlanner(b, ref.procs, jobs)
			}
		})
	}
}
