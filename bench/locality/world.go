package main

import (
	"math"
	"math/rand/v2"

	"github.com/placectl/placectl/locality"
)

// world is what a simulation is of. Times are in seconds, speeds in mean jobs an
// hour.
type world struct {
	hosts    int
	files    int
	jobs     int
	longest  int     // files of a job, 1 to this
	more     float64 // the chance of a file more; 0 for all lengths alike
	quorum   int
	churn    float64 // part of the hosts that vanish, each at a random moment, and are replaced
	download float64 // mean jobs a file
	request  int     // jobs a request
	keep     int     // files that a host may keep
	known    bool    // the first hosts have worked before: the store knows their speeds
}

// spec is the simulation that the goals are set in.
func spec() world {
	return world{hosts: 1000, files: 10_000, jobs: 100_000, longest: 5, more: 0.42, quorum: 1, churn: 0.1, download: 0.2, request: 1, keep: 200}
}

const hour = 3600

// length draws how many files a job uses: one more with a chance of w.more, up to
// w.longest.
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

// speed draws how fast a host is: log-normal around 1, from 0.2 to 8.
func speed(r *rand.Rand) float64 {
	for {
		if s := math.Exp(0.8 * r.NormFloat64()); s >= 0.2 && s <= 8 {
			return s
		}
	}
}

// draw makes the jobs: first files anywhere, in order, lengths and credits uniform,
// the mean credit one.
func (w world) draw(r *rand.Rand) []locality.Job {
	jobs := make([]locality.Job, w.jobs)
	starts := make([]int, w.files)
	for range w.jobs {
		starts[r.IntN(w.files)]++
	}
	n := 0
	for file, k := range starts {
		for range k {
			jobs[n] = locality.Job{A: file, B: min(w.files-1, file+w.length(r)-1), Quorum: w.quorum,
				Credit: locality.Micro/2 + r.Int64N(locality.Micro)}
			n++
		}
	}
	return jobs
}
