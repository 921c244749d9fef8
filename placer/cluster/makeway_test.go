package cluster

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/backfill"
	"github.com/placectl/placectl/placer/preempt"
	"github.com/placectl/placectl/placer/subject"
)

// way is the result of a replay in which jobs made way.
type way struct {
	starts []int64
	stints []stint
	times  []int // how often each job was stopped
}

// replayWay replays jobs under rules. Each job is in a queue.
func replayWay(t interface{ Fatal(...any) }, c *Cluster, log Log, queues []string, rules ...*preempt.Rule) *way {
	ranks, err := preempt.NewRanks(rules)
	if err != nil {
		t.Fatal(err)
	}
	w := &way{times: make([]int, len(log.Jobs))}
	log.Preemption = &Preemption{Ranks: ranks, Whose: make([]subject.Names, len(log.Jobs))}
	for i, q := range queues {
		log.Preemption.Whose[i][subject.Queue] = q
	}
	last := make(map[uint64]*Placement)
	log.Placed = func(p *Placement) { last[p.Owner] = p }
	log.Preemption.Stopped = func(p *Placement, at int64) {
		w.stints = append(w.stints, stint{p, at})
		w.times[p.Owner]++
	}
	if w.starts, err = Replay(c, &log); err != nil {
		t.Fatal(err)
	}
	for owner, p := range last {
		w.stints = append(w.stints, stint{p, w.starts[owner] + log.Jobs[owner].Run})
	}
	return w
}

// A job with precedence stops as few jobs as necessary, and those that lose least, after they
// have run for long enough, and as often as the rule allows. They wait again in their place.
func TestMakeWay(t *testing.T) {
	rule := func(minRun int64, atMost int) *preempt.Rule {
		r, err := preempt.Parse("queue=urgent over all")
		if err != nil {
			t.Fatal(err)
		}
		r.MinRun, r.AtMost = minRun, atMost
		return r
	}
	for _, c := range []struct {
		name   string
		rule   *preempt.Rule
		starts string
		times  string
	}{
		// The job with 1 cpu would lose least, but is not enough; so it stays, and the one
		// with 3 goes. With 20 that one is spared at first, and later it is enough.
		{"at once", rule(0, 0), "[110 1 10 65]", "[2 0 0 0]"},
		{"when it has run for 20", rule(20, 0), "[110 70 20 65]", "[1 1 0 0]"},
		{"once", rule(0, 1), "[60 1 10 160]", "[1 0 0 0]"},
		{"never as it runs too short", rule(1000, 0), "[0 1 100 150]", "[0 0 0 0]"},
	} {
		jobs := []backfill.Job{{Submit: 0, Run: 100, Request: 100, Procs: 3},
			{Submit: 1, Run: 300, Request: 300, Procs: 1},
			{Submit: 10, Run: 50, Request: 50, Procs: 2}, {Submit: 65, Run: 45, Request: 45, Procs: 2}}
		cl := newCluster(t, 0, 4)
		var asks []placer.Ask
		for _, j := range jobs {
			asks = append(asks, ask(t, cl, fmt.Sprintf("1:ncpus=%d", j.Procs), "", j.Request))
		}
		w := replayWay(t, cl, Log{Jobs: jobs, Asks: asks, Policy: backfill.EASY}, []string{"", "", "urgent", "urgent"},
			c.rule)
		if got := fmt.Sprint(w.starts); got != c.starts {
			t.Errorf("%s: starts %s, want %s", c.name, got, c.starts)
		}
		if got := fmt.Sprint(w.times); got != c.times {
			t.Errorf("%s: stopped %s, want %s", c.name, got, c.times)
		}
	}
}

// On any nodes, with any rules, jobs never have more of a node than there is, and each job
// runs for its time after it was last stopped. No job is stopped too early, too often, or for
// a job that has not started. On one node no job waits if others could have made way for it.
func TestMakingWay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cpus := rapid.SliceOfN(rapid.Int64Range(1, 4), 1, 5).Draw(t, "cpus")
		procs := int64(len(cpus))
		if len(cpus) == 1 {
			procs = cpus[0]
		}
		jobs := drawJobs(t, procs)
		queues := make([]string, len(jobs))
		for i := range queues {
			queues[i] = rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "queue")
		}
		var rules []*preempt.Rule
		minRun, atMost := rapid.Int64Range(1, 5).Draw(t, "min-run"), rapid.IntRange(0, 2).Draw(t, "at-most")
		texts := rapid.SampledFrom([][]string{{"queue=a over all"}, {"queue=a over queue=b"},
			{"queue=a over queue=b", "queue=b over queue=c"}}).Draw(t, "rules")
		for _, text := range texts {
			r, err := preempt.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			r.MinRun, r.AtMost = minRun, atMost
			rules = append(rules, r)
		}
		for p := backfill.FCFS; p <= backfill.Conservative; p++ {
			c := newCluster(t, jobs[0].Submit, cpus...)
			asks := make([]placer.Ask, len(jobs))
			for i, j := range jobs {
				asks[i] = ask(t, c, fmt.Sprintf("%d:ncpus=1:mem=1kb", j.Procs), "free", j.Request)
			}
			w := replayWay(t, c, Log{Jobs: jobs, Asks: asks, Policy: p}, queues, rules...)
			sweep(t, c, w.stints)
			w.check(t, jobs, minRun, atMost)
			if len(cpus) == 1 && len(rules[0].Under) == 0 && p == backfill.EASY {
				w.nobodyWaitsInVain(t, cpus[0], jobs, queues, rules[0])
			}
		}
	})
}

// check compares what happened with the numbers of the rules.
func (w *way) check(t *rapid.T, jobs []backfill.Job, minRun int64, atMost int) {
	for i, j := range jobs {
		if w.starts[i] < j.Submit || atMost > 0 && w.times[i] > atMost {
			t.Fatalf("job %d, submitted at %d, starts at %d and was stopped %d times", i, j.Submit, w.starts[i],
				w.times[i])
		}
	}
	for i, s := range w.stints {
		cut := i < len(w.stints)-len(jobs)
		if cut && s.to-s.Start < minRun {
			t.Fatalf("job %d ran from %d to %d, and no shorter than %d is stopped", s.Owner, s.Start, s.to, minRun)
		}
		started := false
		for _, o := range w.stints {
			started = started || o.Start == s.to && o.Owner != s.Owner
		}
		if cut && !started {
			t.Fatalf("job %d was stopped at %d, and nobody starts", s.Owner, s.to)
		}
	}
}

// nobodyWaitsInVain: for the first waiting job with precedence, no running job could have made
// way when it was submitted.
func (w *way) nobodyWaitsInVain(t *rapid.T, cpus int64, jobs []backfill.Job, queues []string, rule *preempt.Rule) {
	for i, j := range jobs {
		if queues[i] != "a" || w.starts[i] == j.Submit {
			continue
		}
		first, free, room := true, cpus, int64(0)
		for k, o := range jobs {
			if k != i && queues[k] == "a" && o.Submit <= j.Submit && w.starts[k] > j.Submit {
				first = false
			}
		}
		for n, s := range w.stints {
			if s.Start > j.Submit || j.Submit >= s.to {
				continue
			}
			free -= jobs[s.Owner].Procs
			times := 0
			for _, o := range w.stints[:min(n, len(w.stints)-len(jobs))] {
				if o.Owner == s.Owner {
					times++
				}
			}
			if queues[s.Owner] != "a" && !rule.Spares(j.Submit-s.Start, times) {
				room += jobs[s.Owner].Procs
			}
		}
		if first && room > 0 && free+room >= j.Procs {
			t.Fatalf("job %d, submitted at %d, starts at %d: of %d processors %d are free, and %d would have been", i,
				j.Submit, w.starts[i], cpus, free, room)
		}
	}
}
