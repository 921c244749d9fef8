package main

import (
	"math"
	"math/rand/v2"

	"github.com/placectl/placectl/placer/backfill"
)

// The synthetic log has the size of CEA-Curie's (Parallel Workloads Archive, CEA-Curie-2011-2.1-cln:
// 80,640 processors, 295,540 jobs that can be replayed), which cannot be kept here. Such a log is slow
// to simulate because of its queue. So the synthetic one has what makes queues: more submissions by day
// than by night, campaigns of equal jobs, requests that are round, generous and seldom used up, and a
// load that at times exceeds the machine.
const (
	curieJobs  = 295_540
	curieProcs = 80_640
	coresANode = 16
)

// requests are the times that users request, in minutes.
var requests = []int64{10, 30, 60, 120, 240, 360, 720, 1440}

// synthetic makes a log of jobs with a given load: the processor time of all runs divided by what the
// machine has until the last submission.
func synthetic(jobs int, load float64) []backfill.Job {
	rng := rand.New(rand.NewPCG(2011, 2012))
	var log []backfill.Job
	work := 0.0
	for len(log) < jobs {
		shape := shapeOf(rng)
		campaign := 1
		if rng.Float64() < .3 {
			campaign += int(rng.ExpFloat64() * 12)
		}
		for range min(campaign, jobs-len(log)) {
			j := shape
			j.Run = max(1, int64(float64(j.Request)*usedPart(rng)))
			log = append(log, j)
			work += float64(j.Run) * float64(j.Procs)
		}
		log[len(log)-1].Submit = 1 // marks the end of a campaign until submit
	}
	submit(rng, log, work/load/curieProcs)
	return log
}

// shapeOf draws the request of a campaign's jobs.
func shapeOf(rng *rand.Rand) backfill.Job {
	nodes := int64(math.Exp(rng.NormFloat64()*1.5 + 1.6))
	if rng.Float64() < .5 { // people like powers of two
		nodes = 1 << int(math.Round(math.Log2(float64(max(1, nodes)))))
	}
	procs := min(max(1, nodes)*coresANode, curieProcs)
	if rng.Float64() < .15 {
		procs = 1 + rng.Int64N(coresANode)
	}
	return backfill.Job{Procs: procs, Request: requests[rng.IntN(len(requests))] * 60}
}

// usedPart draws the part of its request that a job runs: some use all of it, some fail at once, most use
// a part.
func usedPart(rng *rand.Rand) float64 {
	switch x := rng.Float64(); {
	case x < .08:
		return 1
	case x < .2:
		return .001 + .01*rng.Float64()
	}
	return math.Pow(rng.Float64(), 1.5)
}

// submit spreads campaigns over a number of seconds: the jobs of one within minutes, and four times as
// many by day as by night.
func submit(rng *rand.Rand, log []backfill.Job, seconds float64) {
	mean := seconds / float64(len(log))
	t := 0.0
	for i := range log {
		last := log[i].Submit == 1
		log[i].Submit = int64(t)
		step := mean * .1 * rng.ExpFloat64()
		if last {
			step = mean * (1 + .9*campaignMean) * rng.ExpFloat64()
		}
		if hour := math.Mod(t, 86400) / 3600; hour >= 8 && hour < 20 {
			step *= .625
		} else {
			step *= 2.5
		}
		t += step
	}
}

// campaignMean is the mean number of jobs in a campaign beyond its first.
const campaignMean = .3 * 11.5
