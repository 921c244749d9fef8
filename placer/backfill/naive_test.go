package backfill

import (
	"slices"
	"sort"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// naive does exactly what the package comment says, on an array of what is free at each
// instant. It is for small logs.
type naive struct {
	jobs   []Job
	policy Policy
	free   []int64 // by instant
	queue  []int   // waiting jobs by submission; conservative: unfinished ones
	start  []int64
	first  []int64 // conservative: the start planned first
	slack  float64 // relaxed

	promised map[int]int64 // relaxed: the latest start of each job that was the head
	coming   []naiveEvent
	added    int
}

// A naiveEvent happens, unless it is a start that was planned again.
type naiveEvent struct {
	at           int64
	kind, job, n int
}

func runNaive(procs int64, jobs []Job, p Policy, slack float64) *naive {
	horizon := int64(1)
	for _, j := range jobs {
		horizon += j.Request + j.Submit + int64(slack*float64(j.Request))
	}
	s := &naive{jobs: jobs, policy: p, slack: slack, promised: make(map[int]int64), free: make([]int64, horizon),
		start: make([]int64, len(jobs)), first: make([]int64, len(jobs))}
	for t := range s.free {
		s.free[t] = procs
	}
	for i, j := range jobs {
		s.comes(j.Submit, submission, i)
		s.start[i] = -1
	}
	for len(s.coming) > 0 {
		sort.SliceStable(s.coming, func(a, b int) bool {
			x, y := s.coming[a], s.coming[b]
			if x.at != y.at {
				return x.at < y.at
			}
			if x.kind != y.kind {
				return x.kind < y.kind
			}
			return x.n < y.n
		})
		e := s.coming[0]
		s.coming = s.coming[1:]
		switch e.kind {
		case submission:
			s.queue = append(s.queue, e.job)
			if p == Conservative {
				s.plan(e.job, e.at)
				s.first[e.job] = s.start[e.job]
			}
		case end:
			j := jobs[e.job]
			s.take(e.at, s.start[e.job]+j.Request, -j.Procs)
			if p == Conservative {
				s.queue = slices.DeleteFunc(s.queue, func(i int) bool { return i == e.job })
				s.replan(e.at)
			}
		case start:
			if s.start[e.job] == e.at {
				s.comes(e.at+jobs[e.job].Run, end, e.job)
			}
			continue
		}
		if p != Conservative {
			s.pass(e.at)
		}
	}
	return s
}

func (s *naive) comes(at int64, kind, job int) {
	s.added++
	s.coming = append(s.coming, naiveEvent{at, kind, job, s.added})
}

// take takes processors in [from, to).
func (s *naive) take(from, to, procs int64) {
	for t := from; t < to; t++ {
		s.free[t] -= procs
	}
}

func (s *naive) fits(job int, at int64) bool {
	for t := at; t < at+s.jobs[job].Request; t++ {
		if s.free[t] < s.jobs[job].Procs {
			return false
		}
	}
	return true
}

func (s *naive) earliest(job int, now int64) int64 {
	for !s.fits(job, now) {
		now++
	}
	return now
}

func (s *naive) begin(job int, at int64) {
	s.take(at, at+s.jobs[job].Request, s.jobs[job].Procs)
	s.start[job] = at
	s.comes(at, start, job)
}

func (s *naive) plan(job int, now int64) {
	at := s.earliest(job, now)
	if at == s.start[job] {
		s.take(at, at+s.jobs[job].Request, s.jobs[job].Procs)
		return
	}
	s.begin(job, at)
}

func (s *naive) replan(now int64) {
	for _, i := range s.queue {
		if at := s.start[i]; at > now {
			s.take(at, at+s.jobs[i].Request, -s.jobs[i].Procs)
			s.plan(i, now)
		}
	}
}

func (s *naive) pass(now int64) {
	for len(s.queue) > 0 && s.fits(s.queue[0], now) {
		s.begin(s.queue[0], now)
		s.queue = s.queue[1:]
	}
	if s.policy == FCFS || len(s.queue) == 0 {
		return
	}
	head := s.jobs[s.queue[0]]
	at := s.earliest(s.queue[0], now)
	candidates := slices.Clone(s.queue[1:])
	if s.policy == Relaxed {
		if s.promised[s.queue[0]] == 0 {
			s.promised[s.queue[0]] = at + int64(s.slack*float64(head.Request))
		}
		at = s.promised[s.queue[0]]
		slices.SortStableFunc(candidates, func(a, b int) int { return int(s.jobs[a].Request - s.jobs[b].Request) })
	}
	s.take(at, at+head.Request, head.Procs)
	for _, i := range candidates {
		if s.fits(i, now) {
			s.begin(i, now)
			s.queue = slices.DeleteFunc(s.queue, func(o int) bool { return o == i })
		}
	}
	s.take(at, at+head.Request, -head.Procs)
}

// drawJobs draws a log in which much happens at once: few instants, round requests, and jobs
// that run for no time or for all of their request.
func drawJobs(t *rapid.T, procs int64) []Job {
	latest := rapid.Int64Range(0, 120).Draw(t, "latest")
	most := rapid.SampledFrom([]int64{3, 10, 40}).Draw(t, "longest")
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Job {
		j := Job{Submit: rapid.Int64Range(0, latest).Draw(t, "submit"), Procs: rapid.Int64Range(1, procs).Draw(t,
			"procs")}
		j.Request = rapid.Int64Range(1, most).Draw(t, "request")
		j.Run = j.Request
		if rapid.Bool().Draw(t, "early") {
			j.Run = rapid.Int64Range(0, j.Request).Draw(t, "run")
		}
		return j
	}), 0, 60).Draw(t, "jobs")
}

// TestNaive: starts are those of the literal rules, and satisfy what these promise.
func TestNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		procs := rapid.Int64Range(1, 20).Draw(t, "procs")
		jobs := drawJobs(t, procs)
		for p := FCFS; p <= Conservative; p++ {
			starts, err := Run(procs, jobs, p, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := runNaive(procs, jobs, p, 0)
			if diff := cmp.Diff(want.start, starts); diff != "" {
				t.Fatalf("%s (-want +got):\n%s", p, diff)
			}
			checkUse(t, procs, jobs, starts)
			for i := range jobs {
				if p == Conservative && starts[i] > want.first[i] {
					t.Fatalf("job %d starts at %d, planned for %d", i, starts[i], want.first[i])
				}
			}
			if order := submissions(jobs); p == FCFS && !slices.IsSortedFunc(order, func(a, b int32) int {
				return int(starts[a] - starts[b])
			}) {
				t.Fatal("FCFS lets jobs overtake")
			}
		}
	})
}

// TestNaiveRelaxed: starts are those of the literal rules. Every job that was the head starts
// by its promise: without slack, by the earliest start that it had.
func TestNaiveRelaxed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		procs := rapid.Int64Range(1, 20).Draw(t, "procs")
		jobs, slack := drawJobs(t, procs), rapid.SampledFrom([]float64{0, .5, 1, 3}).Draw(t, "slack")
		starts, promises, err := RunRelaxed(procs, jobs, slack, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := runNaive(procs, jobs, Relaxed, slack)
		if diff := cmp.Diff(want.start, starts); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		checkUse(t, procs, jobs, starts)
		for job, latest := range want.promised {
			if starts[job] > latest {
				t.Fatalf("job %d starts at %d, promised for %d", job, starts[job], latest)
			}
		}
		if promises.Made != len(want.promised) || promises.Broken != 0 || slack == 0 && promises.Used != 0 {
			t.Fatalf("%+v of %d", promises, len(want.promised))
		}
	})
}

// checkUse verifies that no job starts before it is submitted, and that no instant is
// overfull.
func checkUse(t *rapid.T, procs int64, jobs []Job, starts []int64) {
	for i, j := range jobs {
		if starts[i] < j.Submit {
			t.Fatalf("job %d starts before it is submitted", i)
		}
		used := int64(0) // when it starts: use only grows at starts
		for k, other := range jobs {
			if starts[k] <= starts[i] && starts[i] < starts[k]+other.Run {
				used += other.Procs
			}
		}
		if used > procs {
			t.Fatalf("%d processors used at %d, of %d", used, starts[i], procs)
		}
	}
}
