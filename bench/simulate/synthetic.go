package main

import (
	"math"
	"math/rand/v2"

	"github.com/placectl/placectl/placer/backfill"
)

// The synthetic log has the size of CEA-Curie's (Parallel Workloads Archive,
// CEA-Curie-2011-2.1-cln: 80,640 processors, 295,540 jobs that can be replayed),
// which cannot be kept here. What makes such a log slow to simulate is the queue,
// so it has what makes queues: submissions by day more than by night, campaigns
// of equal jobs, requests that are round, generous and seldom used up, and a load
// that now and then exceeds the machine.
const (
	curieJobs  = 295_540
	curieProcs = 80_640
	coresANode = 16
)

// requests are the times that people ask for, in minutes.
var requests = []int64{10, 30, 60, 120, 240, 360, 720, 1440}

// synthetic makes the log of so many jobs with the load given, the processor
// time of all runs over what the machine has until the last submission.
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

// shapeOf is what the jobs of a campaign ask for.
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

// usedPart is how much of its request a job runs: some all of it, some fail at
// once, most a part.
func usedPart(rng *rand.Rand) float64 {
	switch x := rng.Float64(); {
	case x < .08:
		return 1
	case x < .2:
		return .001 + .01*rng.Float64()
	}
	return math.Pow(rng.Float64(), 1.5)
}

// submit spreads campaigns over the seconds given: the jobs of one within
// minutes, by day four times as many as by night.
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

// campaignMean is how many jobs a campaign has beyond its first.
const campaignMean = .3 * 11.5
