package trends

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// drawJobs draws jobs around a period.
func drawJobs(t *rapid.T) []Job {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Job {
		j := Job{Submit: rapid.Int64Range(0, 5000).Draw(t, "submit"), CPUs: rapid.Int64Range(1, 9).Draw(t, "cpus"),
			User: rapid.SampledFrom([]string{"ann", "bob"}).Draw(t, "user")}
		if rapid.Bool().Draw(t, "started") {
			j.Start = j.Submit + 1 + rapid.Int64Range(0, 2000).Draw(t, "wait")
			j.End = j.Start + rapid.Int64Range(0, 3000).Draw(t, "run")
		} else if rapid.Bool().Draw(t, "cancelled") {
			j.End = j.Submit + 1 + rapid.Int64Range(0, 2000).Draw(t, "until")
		}
		return j
	}), 0, 12).Draw(t, "jobs")
}

// TestOverBySeconds: a series has the same values as counting each second.
func TestOverBySeconds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := drawJobs(t)
		from := rapid.Int64Range(0, 4000).Draw(t, "from")
		step := rapid.Int64Range(1, 900).Draw(t, "step")
		to := from + rapid.Int64Range(0, 4000).Draw(t, "length")
		s := Over(jobs, from, to, step, 10)
		if want := (to - from + step - 1) / step; int64(len(s.Points)) != want {
			t.Fatalf("the series has %d steps, want %d", len(s.Points), want)
		}
		for i := range s.Points {
			var used, waiting, running, waits float64
			started := 0
			for at := s.Points[i].At; at < min(s.Points[i].At+step, to); at++ {
				for _, j := range jobs {
					end := j.End
					if end == 0 {
						end = to
					}
					began := j.Start
					if began == 0 {
						began = end
					}
					switch {
					case at >= j.Submit && at < began:
						waiting++
					case j.Start != 0 && at >= j.Start && at < end:
						used += float64(j.CPUs)
						running++
					}
					if j.Start == at && j.Start != 0 {
						started++
						waits += float64(j.Start - j.Submit)
					}
				}
			}
			p, per := s.Points[i], float64(min(step, to-s.Points[i].At))
			if started > 0 {
				waits /= float64(started)
			}
			for what, pair := range map[string][2]float64{"used": {p.Used, used / per},
				"waiting": {p.Waiting, waiting / per}, "running": {p.Running, running / per},
				"started": {float64(p.Started), float64(started)}, "mean wait": {p.MeanWait, waits}} {
				if math.Abs(pair[0]-pair[1]) > 1e-6*max(1, pair[1]) {
					t.Errorf("step %d: %s is %g, want %g", i, what, pair[0], pair[1])
				}
			}
		}
	})
}

// TestWaits: the groups share what Over counts as used and started. Percentiles are values of jobs: at least that
// share is no greater, and less than that share is smaller.
func TestWaits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		jobs := drawJobs(t)
		from := rapid.Int64Range(0, 4000).Draw(t, "from")
		to := from + rapid.Int64Range(1, 4000).Draw(t, "period")
		n, hours := 0, 0.0
		for _, g := range Waits(jobs, from, to, By("user")) {
			n, hours = n+g.Jobs, hours+g.CoreHours
			if g.Jobs == 0 {
				continue
			}
			for percent, v := range map[int]float64{50: g.Wait.P50, 90: g.Wait.P90, 99: g.Wait.P99, 100: g.Wait.Max} {
				below, upTo := 0, 0
				for _, j := range jobs {
					if j.Start != 0 && j.Start >= from && j.Start < to && j.User == g.Name {
						if w := float64(j.Start - j.Submit); w < v {
							below++
						} else if w == v {
							upTo++
						}
					}
				}
				if upTo == 0 || (below+upTo)*100 < g.Jobs*percent || below*100 >= g.Jobs*percent {
					t.Errorf("%s: %g cannot be percentile %d: of %d jobs %d are below it and %d equal it", g.Name, v,
						percent, g.Jobs, below, upTo)
				}
			}
		}
		all := Over(jobs, from, to, to-from, 0).Points[0]
		if n != all.Started || math.Abs(hours-all.Used*float64(to-from)/3600) > 1e-6*max(1, hours) {
			t.Errorf("the groups have %d jobs and %g core hours, want %d and %g", n, hours, all.Started,
				all.Used*float64(to-from)/3600)
		}
	})
}

// TestPictures: pictures fit, and show what they should, for any series.
func TestPictures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := int64(1_000_000)
		to := from + rapid.Int64Range(0, 1e7).Draw(t, "length")
		step := StepFor(from, to, rapid.IntRange(1, 500).Draw(t, "most"))
		s := Over(drawJobs(t), from, to, step, rapid.Int64Range(0, 20).Draw(t, "cpus"))
		width := rapid.IntRange(60, 200).Draw(t, "width")
		for line := range strings.Lines(string(s.Plot(width, true, time.UTC))) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > width {
				t.Errorf("a line has %d columns, want at most %d: %q", n, width, line)
			}
		}
		left, right := (&Series{From: 1_795_167_000, Step: 3600, Points: make([]Point, 48)}).ends(time.UTC)
		if left != "2026-11-20 09:30" || right != "2026-11-22 09:30" {
			t.Errorf("the ends of a dated series are %s and %s", left, right)
		}
		if left, right = (&Series{From: 1, Step: 3600, Points: make([]Point, 42), Undated: true}).ends(
			time.UTC); left != "0" || right != "1d18h" {
			t.Errorf("the ends of an undated series are %s and %s", left, right)
		}
		if got := strings.Count(string(s.AppendCSV(nil)), "\n"); got != len(s.Points)+1 {
			t.Errorf("%d lines of CSV for %d steps", got, len(s.Points))
		}
	})
}
