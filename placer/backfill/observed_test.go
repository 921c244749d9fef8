package backfill

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// player plays the queue for every job that waits after the last has been submitted.
type player struct {
	t    *rapid.T
	view *View
	last int32
	told map[int32]int64
}

func (p *player) Started(int32, int64) {}
func (p *player) Ended(int32, int64)   {}

func (p *player) Submitted(job int32, now int64) error {
	if job != p.last {
		return nil
	}
	for _, w := range p.view.Waiting() {
		at, err := p.view.Play(w, now, func(job int32, _ int64) int64 { return p.view.sim.jobs[job].Request })
		if err != nil {
			return err
		}
		p.told[w] = at
	}
	return nil
}

// TestPlay: if no more jobs are submitted, and all jobs run as long as they asked for, they
// start when a play says. An observer that plays changes no start.
func TestPlay(t *testing.T) {
	told := 0
	rapid.Check(t, func(t *rapid.T) {
		procs := rapid.Int64Range(1, 12).Draw(t, "procs")
		jobs, slack := drawJobs(t, procs), rapid.SampledFrom([]float64{0, .5, 1, 3}).Draw(t, "slack")
		if len(jobs) == 0 {
			return
		}
		order := submissions(jobs)
		last := order[len(order)-1]
		for i := range jobs { // what has ended by then may have run for less
			if jobs[i].Submit+jobs[i].Run >= jobs[last].Submit {
				jobs[i].Run = jobs[i].Request
			}
		}
		for _, p := range []Policy{FCFS, EASY, Relaxed} {
			var before []int64
			var err error
			if p == Relaxed {
				before, _, err = RunRelaxed(procs, jobs, slack, nil)
			} else {
				before, err = Run(procs, jobs, p, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			for i := range jobs { // those that start later than they came
				if before[i]+jobs[i].Run >= jobs[last].Submit && jobs[i].Run < jobs[i].Request {
					return
				}
			}
			play := &player{t: t, last: last, told: make(map[int32]int64)}
			starts, err := RunObserved(procs, jobs, p, slack, func(v *View) Observer { play.view = v; return play },
				nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(before, starts); diff != "" {
				t.Fatalf("%s observed (-not +so):\n%s", p, diff)
			}
			for job, at := range play.told {
				if told++; starts[job] != at {
					t.Fatalf("%s: job %d starts at %d, and a play says %d", p, job, starts[job], at)
				}
			}
		}
	})
	if told == 0 {
		t.Error("no job waited")
	}
}
