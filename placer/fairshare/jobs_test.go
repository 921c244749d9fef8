package fairshare

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// naiveShare starts n tasks one at a time: it puts jobs into bins by how many tasks they run,
// and takes the lowest bin first, its jobs in the order in which they entered it.
func naiveShare(jobs []Job, n int) []int {
	starts := make([]int, len(jobs))
	bins := make(map[int][]int)
	for i, j := range jobs {
		bins[j.Running] = append(bins[j.Running], i)
	}
	for level := 0; n > 0; level++ {
		for _, i := range bins[level] {
			if n == 0 {
				break
			}
			if starts[i] == jobs[i].Waiting {
				continue
			}
			starts[i]++
			n--
			bins[level+1] = append(bins[level+1], i)
		}
	}
	return starts
}

func TestShare(t *testing.T) {
	for _, c := range []struct {
		name string
		jobs []Job
		n    int
		want []int
	}{
		{"none", nil, 0, []int{}},
		{"the fewest running first", []Job{{3, 9}, {1, 9}, {2, 9}}, 3, []int{0, 2, 1}},
		{"ties by submission", []Job{{0, 9}, {0, 9}, {0, 9}}, 4, []int{2, 1, 1}},
		{"who was there before comes first", []Job{{0, 9}, {1, 9}}, 2, []int{1, 1}},
		{"a job that has no more", []Job{{0, 1}, {5, 9}}, 4, []int{1, 3}},
		{"all", []Job{{0, 1}, {5, 9}, {2, 0}}, 10, []int{1, 9, 0}},
	} {
		var p Planner
		if got := p.share(c.jobs, c.n); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, expected %v", c.name, got, c.want)
		}
	}
}

func TestShareAgainstBins(t *testing.T) {
	var p Planner
	rapid.Check(t, func(t *rapid.T) {
		jobs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Job {
			return Job{Running: rapid.IntRange(0, 12).Draw(t, "running"),
				Waiting: rapid.IntRange(0, 12).Draw(t, "waiting")}
		}), 0, 12).Draw(t, "jobs")
		waiting := 0
		for _, j := range jobs {
			waiting += j.Waiting
		}
		n := rapid.IntRange(0, waiting).Draw(t, "n")
		if got, want := p.share(jobs, n), naiveShare(jobs, n); !slices.Equal(got, want) {
			t.Fatalf("%v, expected %v", got, want)
		}
	})
}

func TestNewest(t *testing.T) {
	tasks := []Task{{ID: 1, Start: 10}, {ID: 2, Start: 30}, {ID: 3, Start: 20, Units: 2}, {ID: 4, Start: 30},
		{ID: 5, Start: 5}}
	for n, want := range [][]uint64{{}, {4}, {4, 2}, {4, 2, 1}, {4, 2, 3}, {4, 2, 3, 1}, {4, 2, 3, 1, 5},
		{4, 2, 3, 1, 5}} {
		var p Planner
		got := []uint64{}
		for _, task := range p.newest(tasks, n) {
			got = append(got, task.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d: %v, expected %v", n, got, want)
		}
	}
}
