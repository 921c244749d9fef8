package cluster

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/backfill"
	"pgregory.net/rapid"
)

// player plays the queue for every job that waits after the last has been submitted.
type player struct {
	view *View
	jobs []backfill.Job
	told map[int32]int64
}

func (p *player) Started(int32, int64) {}
func (p *player) Ended(int32, int64)   {}

func (p *player) Submitted(job int32, now int64) error {
	if int(job) != len(p.jobs)-1 {
		return nil
	}
	for _, w := range p.view.Waiting() {
		at, err := p.view.Play(w, now, func(job int32, _ int64) int64 { return p.jobs[job].Request })
		if err != nil {
			return err
		}
		p.told[w] = at
	}
	return nil
}

// TestPlay: if no more jobs are submitted, and all jobs run as long as they asked for, they
// start on nodes when a play says, to the second, under every policy. A replay that is
// observed is the same.
func TestPlay(t *testing.T) {
	told := 0
	rapid.Check(t, func(t *rapid.T) {
		cpus := rapid.SliceOfN(rapid.Int64Range(1, 4), 1, 4).Draw(t, "cpus")
		jobs, slack := drawJobs(t, int64(len(cpus))), rapid.SampledFrom([]float64{0, .5, 1, 3}).Draw(t, "slack")
		early := rapid.IntRange(0, len(jobs)).Draw(t, "early")
		for i := range jobs {
			if i >= early || jobs[i].Submit+jobs[i].Run >= jobs[len(jobs)-1].Submit {
				jobs[i].Run = jobs[i].Request
			}
		}
		for p := backfill.FCFS; p <= backfill.Relaxed; p++ {
			replay := func(observe func(*View) backfill.Observer) []int64 {
				c := newCluster(t, jobs[0].Submit, cpus...)
				asks := make([]placer.Ask, len(jobs))
				for i, j := range jobs {
					asks[i] = ask(t, c, fmt.Sprintf("%d:ncpus=1", j.Procs),
						[]string{"free", "scatter", "scatter:excl"}[j.Request%3], j.Request)
				}
				starts, err := Replay(c, &Log{Jobs: jobs, Asks: asks, Policy: p, Slack: slack, Observe: observe})
				if err != nil {
					t.Fatal(err)
				}
				return starts
			}
			before := replay(nil)
			asked := true
			for i, j := range jobs { // what runs or waits then
				asked = asked && (before[i]+j.Run < jobs[len(jobs)-1].Submit || j.Run == j.Request)
			}
			if !asked {
				continue
			}
			play := &player{jobs: jobs, told: make(map[int32]int64)}
			starts := replay(func(v *View) backfill.Observer { play.view = v; return play })
			if diff := cmp.Diff(before, starts); diff != "" {
				t.Fatalf("%s watched (-not +so):\n%s", p, diff)
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
