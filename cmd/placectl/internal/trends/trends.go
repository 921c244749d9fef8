// Package trends sums up over time what jobs did: how much of a cluster was used, and how many jobs waited
// for how long. It does so for a store's history and a simulation alike. It also draws the result
// in characters. It knows no store, no file and no clock.
package trends

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"
)

// Job is what curves need to know about a job. Instants are Unix seconds.
type Job struct {
	Submit int64
	Start  int64 // 0: not started
	End    int64 // 0: not ended; now while it runs
	CPUs   int64

	User, Group, Account, Class, Queue string
}

// Point is a step of time.
type Point struct {
	At       int64   // its begin
	Used     float64 // cpus in use, mean
	Waiting  float64 // waiting jobs, mean
	Running  float64 // running jobs, mean
	Started  int     // jobs that started in this step
	MeanWait float64 // their mean wait in seconds
}

// Series is the use of a cluster, step by step.
type Series struct {
	From, Step int64
	CPUs       int64 // of the cluster, 0 if unknown
	Points     []Point
	Undated    bool // instants count from an unknown start
}

// steps are the possible lengths of a step, in seconds.
var steps = []int64{60, 300, 900, 3600, 3 * 3600, 6 * 3600, 12 * 3600, 86400, 7 * 86400, 28 * 86400}

// StepFor returns the shortest step that divides a period into at most most steps.
func StepFor(from, to int64, most int) int64 {
	for _, step := range steps {
		if (to-from+step-1)/step <= int64(most) {
			return step
		}
	}
	last := steps[len(steps)-1]
	return (to - from + int64(most)*last - 1) / (int64(most) * last) * last
}

// Over sums up jobs over a period, in steps. A job counts in each step for the part in which it waited
// or ran. The last step ends with the period.
func Over(jobs []Job, from, to, step, cpus int64) *Series {
	s := &Series{From: from, Step: step, CPUs: cpus, Points: make([]Point, max((to-from+step-1)/step, 0))}
	for i := range s.Points {
		s.Points[i].At = from + int64(i)*step
	}
	// spread adds an amount to each step, in proportion to its overlap with [a, b).
	spread := func(a, b int64, add func(p *Point, part float64)) {
		a, b = max(a, from), min(b, to)
		for i := (a - from) / step; a < b; i++ {
			end := min(b, from+(i+1)*step)
			add(&s.Points[i], float64(end-a)/float64(min(step, to-s.Points[i].At)))
			a = end
		}
	}
	for i := range jobs {
		j := &jobs[i]
		begin, end := cmp.Or(j.Start, j.End, to), cmp.Or(j.End, to)
		spread(j.Submit, begin, func(p *Point, part float64) { p.Waiting += part })
		if j.Start == 0 {
			continue
		}
		spread(j.Start, end, func(p *Point, part float64) {
			p.Used += part * float64(j.CPUs)
			p.Running += part
		})
		if at := (j.Start - from) / step; j.Start >= from && j.Start < to {
			p := &s.Points[at]
			p.Started++
			p.MeanWait += (float64(j.Start-j.Submit) - p.MeanWait) / float64(p.Started)
		}
	}
	return s
}

// AppendCSV appends the series, a line for each step, with times in UTC, or in seconds if it is undated.
func (s *Series) AppendCSV(b []byte) []byte {
	b = append(b, "time,cpus,used,running,waiting,started,mean_wait\n"...)
	for i := range s.Points {
		p := &s.Points[i]
		if s.Undated {
			b = strconv.AppendInt(b, p.At, 10)
		} else {
			b = time.Unix(p.At, 0).UTC().AppendFormat(b, time.RFC3339)
		}
		b = strconv.AppendInt(append(b, ','), s.CPUs, 10)
		for _, v := range []float64{p.Used, p.Running, p.Waiting} {
			b = strconv.AppendFloat(append(b, ','), v, 'f', 3, 64)
		}
		b = strconv.AppendInt(append(b, ','), int64(p.Started), 10)
		b = strconv.AppendFloat(append(b, ','), p.MeanWait, 'f', 1, 64)
		b = append(b, '\n')
	}
	return b
}

// Group sums up the jobs of a user, a group, an account, a class or a queue in a period: what they used, and
// the waits, in seconds, and the bounded slowdowns of those that started in it: the 50th, 90th and 99th
// percentiles, and the maximum. Percentiles are by nearest rank, so each is the value of a job.
type Group struct {
	Name      string
	Jobs      int     // that started in the period
	CoreHours float64 // of all that ran in it
	Wait      Spread
	Slowdown  Spread
}

// Spread describes a distribution by five numbers.
type Spread struct{ Mean, P50, P90, P99, Max float64 }

// shortest is the least run time, in seconds, that counts in bounded slowdowns.
const shortest = 10

// GroupNames returns the names of the groups that By knows.
func GroupNames() []string { return []string{"user", "group", "account", "class", "queue", "size"} }

// By returns the function that names a job's group. The groups are users unless what says otherwise.
func By(what string) func(*Job) string {
	switch what {
	case "group":
		return func(j *Job) string { return j.Group }
	case "account":
		return func(j *Job) string { return j.Account }
	case "class":
		return func(j *Job) string { return j.Class }
	case "queue":
		return func(j *Job) string { return j.Queue }
	case "size":
		return Size
	}
	return func(j *Job) string { return j.User }
}

// Waits sums up the jobs of a period by group, which of returns for each job. The group that used most comes
// first.
func Waits(jobs []Job, from, to int64, of func(*Job) string) []Group {
	type sums struct {
		seconds          int64
		waits, slowdowns []float64
	}
	by := make(map[string]*sums)
	for i := range jobs {
		j := &jobs[i]
		if j.Start == 0 || j.Start >= to || j.Start < from && j.End <= from {
			continue
		}
		l := by[of(j)]
		if l == nil {
			l = new(sums)
			by[of(j)] = l
		}
		l.seconds += max(min(j.End, to)-max(j.Start, from), 0) * j.CPUs
		if j.Start < from {
			continue
		}
		wait, run := float64(max(j.Start-j.Submit, 0)), float64(max(j.End-j.Start, 0))
		l.waits = append(l.waits, wait)
		l.slowdowns = append(l.slowdowns, max(1, (wait+run)/max(run, shortest)))
	}
	var all []Group
	for name, l := range by {
		hours := float64(l.seconds) / 3600
		all = append(all, Group{name, len(l.waits), hours, spreadOf(l.waits), spreadOf(l.slowdowns)})
	}
	slices.SortFunc(all, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.CoreHours, a.CoreHours), cmp.Compare(b.Jobs, a.Jobs),
			cmp.Compare(a.Name, b.Name))
	})
	return all
}

func spreadOf(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	slices.Sort(values)
	rank := func(percent int) float64 { return values[max((len(values)*percent+99)/100, 1)-1] }
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return Spread{sum / float64(len(values)), rank(50), rank(90), rank(99), values[len(values)-1]}
}

// Size returns the range of a job's number of cpus: 1, 2-4, 5-16, 17-64, and so on.
func Size(j *Job) string { return SizeOf(j.CPUs) }

// SizeOf returns the range of a number of cpus.
func SizeOf(cpus int64) string {
	if cpus <= 1 {
		return "1"
	}
	most := int64(4)
	for cpus > most && most < math.MaxInt64/4 {
		most *= 4
	}
	return strconv.FormatInt(most/4+1, 10) + "-" + strconv.FormatInt(most, 10)
}
