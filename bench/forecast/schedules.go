package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/placectl/placectl/placer/backfill"
)

const (
	shifts    = 5   // random logs for each log
	mostShift = 600 // each submission is later by less than this, in seconds
	fourHours = 4 * 3600
)

// schedules prints the waits under each kind of backfilling, and relaxed compared with easy. One schedule
// is one random draw. So these are the geometric means of ratios over logs whose submissions are shifted
// at random.
func schedules(list []workload, only string, short bool) error {
	t := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "log\teasy: wait, s\tslowdown\tconservative\t\trelaxed 0\t\trelaxed 1\t\tover easy: "+
		"slowdown\twait\tp99\tmax\tlater by 4 h, %\tbroken\t")
	for _, w := range list {
		if !strings.Contains(w.path, only) {
			continue
		}
		log, err := w.read()
		if err != nil {
			return err
		}
		if short {
			shorten(log)
		}
		fmt.Fprintf(t, "%s\t", w.name())
		for _, p := range []backfill.Policy{backfill.EASY, backfill.Conservative} {
			starts, err := backfill.Run(w.procs, log.Jobs, p, nil)
			if err != nil {
				return err
			}
			s := backfill.Summarise(w.procs, log.Jobs, starts)
			fmt.Fprintf(t, "%.0f\t%.1f\t", s.AvgWait, s.AvgSlowdown)
		}
		for _, slack := range []float64{0, 1} {
			starts, _, err := backfill.RunRelaxed(w.procs, log.Jobs, slack, nil)
			if err != nil {
				return err
			}
			s := backfill.Summarise(w.procs, log.Jobs, starts)
			fmt.Fprintf(t, "%.0f\t%.1f\t", s.AvgWait, s.AvgSlowdown)
		}
		var mean [5]float64
		broken := 0
		for seed := range uint64(shifts) {
			of, n, err := w.shifted(log.Jobs, seed)
			if err != nil {
				return err
			}
			broken += n
			for i, v := range of {
				mean[i] += math.Log(max(v, 1e-9)) / shifts
			}
		}
		for i := range mean {
			mean[i] = math.Exp(mean[i])
		}
		fmt.Fprintf(t, "%.2f\t%.2f\t%.2f\t%.2f\t%.1f\t%d\t\n", mean[0], mean[1], mean[2], mean[3], mean[4], broken)
	}
	return t.Flush()
}

// shifted compares relaxed with easy on a randomly shifted log: ratios of slowdowns, waits, the 99th
// percentile and the longest wait, and the percentage of jobs later by four hours.
func (w workload) shifted(jobs []backfill.Job, seed uint64) (of [5]float64, broken int, err error) {
	r := rand.New(rand.NewPCG(seed, 1))
	jobs = slices.Clone(jobs)
	for i := range jobs {
		jobs[i].Submit += r.Int64N(mostShift)
	}
	easy, err := backfill.Run(w.procs, jobs, backfill.EASY, nil)
	if err != nil {
		return of, 0, err
	}
	relaxed, promises, err := backfill.RunRelaxed(w.procs, jobs, backfill.DefaultSlack, nil)
	if err != nil {
		return of, 0, err
	}
	a, b := backfill.Summarise(w.procs, jobs, easy), backfill.Summarise(w.procs, jobs, relaxed)
	later := 0
	for i := range jobs {
		if relaxed[i] > easy[i]+fourHours {
			later++
		}
	}
	return [5]float64{b.AvgSlowdown / a.AvgSlowdown, b.AvgWait / a.AvgWait, p99(jobs, relaxed) / p99(jobs, easy),
		float64(b.MaxWait) / float64(a.MaxWait), 100 * float64(later) / float64(len(jobs))}, promises.Broken, nil
}

func p99(jobs []backfill.Job, starts []int64) float64 {
	waits := make([]int64, len(jobs))
	for i, j := range jobs {
		waits[i] = starts[i] - j.Submit
	}
	slices.Sort(waits)
	return float64(max(1, waits[len(waits)*99/100]))
}
