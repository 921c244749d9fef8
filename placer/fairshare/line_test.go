package fairshare

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestLineAsPlanner: for tasks that differ only in their jobs, the first turns of a Line are the starts
// that a Planner shares among the jobs.
func TestLineAsPlanner(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Job {
			return Job{Running: rapid.IntRange(0, 8).Draw(t, "running"),
				Waiting: rapid.IntRange(0, 8).Draw(t, "waiting")}
		}), 0, 8).Draw(t, "jobs")
		var line Line
		waiting := 0
		for i, j := range jobs {
			line.Run(LineJob{Array: uint64(i)}, j.Running)
			for range j.Waiting {
				line.Wait(LineJob{Array: uint64(i)}, LineTask{At: i})
			}
			waiting += j.Waiting
		}
		var p Planner
		got := make([]int, len(jobs))
		for n := range waiting + 1 {
			if want := p.share(jobs, n); !slices.Equal(got, want) || line.Len() != waiting-n {
				t.Fatalf("%d turns of %v: %v, the planner starts %v", n, jobs, got, want)
			}
			if n < waiting {
				got[line.First()]++
				line.Turn(true)
			}
		}
	})
}

// naiveLine finds the next task by looking at all.
type naiveLine struct {
	running, turns map[LineJob]int
	waiting        []LineTask
	of             []LineJob
}

func (l *naiveLine) first() int {
	best := -1
	for i, t := range l.waiting {
		if best < 0 {
			best = i
			continue
		}
		o, a, b := l.waiting[best], l.of[i], l.of[best]
		switch {
		case t.Priority != o.Priority:
			if t.Priority > o.Priority {
				best = i
			}
		case l.running[a] != l.running[b]:
			if l.running[a] < l.running[b] {
				best = i
			}
		case l.turns[a] != l.turns[b]:
			if l.turns[a] < l.turns[b] {
				best = i
			}
		case t.Walltime > o.Walltime:
			best = i
		}
	}
	return best
}

// TestLine: each turn goes to the task that a search through all finds, while jobs end and time passes.
func TestLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(what string, n int) int { return rapid.IntRange(0, n).Draw(t, what) }
		var line Line
		naive := naiveLine{running: make(map[LineJob]int), turns: make(map[LineJob]int)}
		name := func() LineJob {
			if draw("of an array", 1) == 0 {
				return LineJob{User: rapid.SampledFrom([]string{"ann", "bob"}).Draw(t, "user")}
			}
			return LineJob{Array: uint64(draw("array", 3)) + 1}
		}
		for at := range draw("tasks", 12) {
			j, task := name(), LineTask{At: at, Priority: float64(draw("priority", 1)),
				Walltime: int64(draw("walltime", 2))}
			line.Wait(j, task)
			naive.waiting, naive.of = append(naive.waiting, task), append(naive.of, j)
		}
		run := func(j LineJob, n int) {
			line.Run(j, n)
			naive.running[j] += n
		}
		for line.Len() > 0 {
			switch draw("what", 5) {
			case 0:
				run(name(), 1)
			case 1:
				if j := name(); naive.running[j] > 0 {
					run(j, -1)
				}
			case 2:
				line.Later()
				clear(naive.turns)
			default:
				i, starts := naive.first(), draw("starts", 3) > 0
				if got, want := line.First(), naive.waiting[i].At; got != want {
					t.Fatalf("the turn is task %d's, want %d", got, want)
				}
				if line.Turn(starts); starts {
					naive.running[naive.of[i]]++
					naive.turns[naive.of[i]]++
				}
				naive.waiting, naive.of = slices.Delete(naive.waiting, i, i+1), slices.Delete(naive.of, i, i+1)
			}
		}
	})
}
