package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/placectl/placectl/locality"
)

// world describes a simulation. Times are in seconds unless noted, speeds in mean jobs an hour.
type world struct {
	hosts    int
	files    int
	jobs     int
	dense    func(r *rand.Rand, files int) []float64 // relative numbers of jobs that begin with each file
	longest  int                                     // greatest number of files of a job
	more     float64                                 // probability of one more file; 0: all lengths are equally likely
	quorum   int
	churn    float64 // fraction of hosts that vanish at a random moment, and are replaced
	download float64 // hours a file
	scaled   bool    // fast hosts also download faster, in proportion
	request  int     // jobs a request
	keep     int     // files that a host may keep
	speed    func(r *rand.Rand) float64
	history  float64                               // hours that the first hosts worked before
	shown    func(r *rand.Rand, s float64) float64 // the speed that they showed then
	arrival  float64                               // hosts arrive within this multiple of the ideal time; 0: at once
}

const hour = 3600

// table returns the world of the table in which the policies were first compared. All other worlds are
// changes of it.
func table() world {
	return world{hosts: 1000, files: 10_000, jobs: 100_000, dense: segments, longest: 5, more: 0.4, quorum: 1,
		churn:    0.1,
		download: 0.2, request: 1, keep: 200, speed: logNormal, history: 10, shown: noisy}
}

// change makes one world from another.
type change struct {
	name, what string
	make       func(*world)
}

func changes() []change {
	return []change{
		{"table", "jobs unevenly dense along the files; a download takes the same time on every host; speeds " +
			"known with noise", func(*world) {}},
		{"even", "files used evenly; a fast host downloads faster; speeds unknown", func(w *world) {
			w.dense, w.more, w.scaled, w.history = even, 0.42, true, 0
		}},
		{"zipf", "files used by Zipf's law", func(w *world) { w.dense = zipf }},
		{"two kinds", "hosts of two speeds, one in five is eight times as fast as the others", func(w *world) {
			w.speed = twoKinds
		}},
		{"wrong history", "a long history of speeds that says nothing", func(w *world) {
			w.history, w.shown = 100, wrong
		}},
		{"later", "hosts come over half of the ideal time", func(w *world) { w.arrival = 0.5 }},
		{"unknown", "none of the hosts has worked before", func(w *world) { w.history = 0 }},
		{"known", "a long history of true speeds", func(w *world) {
			w.history, w.shown = 100, func(_ *rand.Rand, s float64) float64 { return s }
		}},
		{"quorum 2", "two results of each job", func(w *world) { w.quorum = 2 }},
		{"30 % churn", "so many hosts vanish", func(w *world) { w.churn = 0.3 }},
		{"1,000 files", "as many files as hosts", func(w *world) { w.files = 1000 }},
		{"dear downloads", "an hour a file", func(w *world) { w.download = 1 }},
		{"5 jobs a request", "hosts take five at a time", func(w *world) { w.request = 5 }},
		{"lengths alike", "jobs of 1 to 5 files, all equally likely", func(w *world) { w.more = 0 }},
		{"100 hosts", "long stretches for each", func(w *world) { w.hosts = 100 }},
	}
}

// names returns the names of all worlds that differ from the first in one thing.
func names() []string {
	var out []string
	for _, c := range changes() {
		out = append(out, c.name)
	}
	return out
}

// worldOf returns the world of a name: changes joined by "+", one after the other.
func worldOf(name string) (world, error) {
	w := table()
	for part := range strings.SplitSeq(name, "+") {
		found := false
		for _, c := range changes() {
			if c.name == strings.TrimSpace(part) {
				c.make(&w)
				found = true
			}
		}
		if !found {
			return w, fmt.Errorf("there is no world %q", part)
		}
	}
	return w, nil
}

// length draws how many files a job uses: one more with probability w.more, up to w.longest.
func (w world) length(r *rand.Rand) int {
	if w.more == 0 {
		return 1 + r.IntN(w.longest)
	}
	n := 1
	for n < w.longest && r.Float64() < w.more {
		n++
	}
	return n
}

// draw makes the jobs: sorted first files as dense as the world says, and random lengths and credits
// with a mean credit of one.
func (w world) draw(r *rand.Rand) []locality.Job {
	sums := w.dense(r, w.files)
	for i := 1; i < len(sums); i++ {
		sums[i] += sums[i-1]
	}
	starts := make([]int, w.files)
	for range w.jobs {
		at, _ := slices.BinarySearch(sums, r.Float64()*sums[len(sums)-1])
		starts[at]++
	}
	jobs := make([]locality.Job, 0, w.jobs)
	for file, k := range starts {
		for range k {
			jobs = append(jobs, locality.Job{A: file, B: min(w.files-1, file+w.length(r)-1), Quorum: w.quorum,
				Credit: locality.Micro/2 + r.Int64N(locality.Micro)})
		}
	}
	return jobs
}
