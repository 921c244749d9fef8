package backfill

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// someJobs start differently under every policy, on ten processors. Two processors are free
// for the third and the last job beside the head, the second. But the last would delay the
// fourth, which needs the whole machine, and has a plan under conservative alone.
var someJobs = []Job{
	{Submit: 0, Run: 100, Request: 100, Procs: 6},
	{Submit: 1, Run: 100, Request: 100, Procs: 8},
	{Submit: 2, Run: 200, Request: 200, Procs: 1},
	{Submit: 3, Run: 50, Request: 50, Procs: 10},
	{Submit: 4, Run: 300, Request: 300, Procs: 1},
}

func TestRun(t *testing.T) {
	for p, want := range map[Policy][]int64{
		FCFS:         {0, 100, 100, 300, 350},
		EASY:         {0, 100, 2, 304, 4},
		Conservative: {0, 100, 2, 202, 252},
		Relaxed:      {0, 100, 2, 304, 4},
	} {
		starts, err := Run(10, someJobs, p, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, starts); diff != "" {
			t.Errorf("%s (-want +got):\n%s", p, diff)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	good := Job{Submit: 0, Run: 1, Request: 1, Procs: 1}
	for name, change := range map[string]func(*Job){
		"no processors": func(j *Job) { j.Procs = 0 },
		"too wide":      func(j *Job) { j.Procs = 11 },
		"no request":    func(j *Job) { j.Run, j.Request = 0, 0 },
		"too long":      func(j *Job) { j.Run = 2 },
		"negative":      func(j *Job) { j.Run = -1 },
		"too late":      func(j *Job) { j.Submit = math.MaxInt64 },
		"too early":     func(j *Job) { j.Submit = math.MinInt64 },
		"endless":       func(j *Job) { j.Request = math.MaxInt64 },
	} {
		j := good
		change(&j)
		if _, err := Run(10, []Job{good, j}, EASY, nil); !errors.Is(err, ErrJob) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Run(0, nil, EASY, nil); err == nil {
		t.Error("a machine without processors")
	}
	if _, err := Run(1, []Job{good}, 9, nil); err == nil {
		t.Error("a policy that is none")
	}
}

// Nothing overflows at the limits of time.
func TestRunFarOff(t *testing.T) {
	jobs := []Job{{Submit: -latest, Run: 1, Request: latest / 4, Procs: 2},
		{Submit: latest, Run: latest / 4, Request: latest / 4, Procs: 2},
		{Submit: latest, Run: 1, Request: 1, Procs: 1}}
	for p := FCFS; p <= Conservative; p++ {
		starts, err := Run(2, jobs, p, nil)
		if diff := cmp.Diff([]int64{-latest, latest, latest + latest/4}, starts); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", p, err, diff)
		}
	}
}

func TestProgress(t *testing.T) {
	stop := errors.New("stop")
	seen := 0
	_, err := Run(10, someJobs, EASY, func(started int) error {
		seen = started
		if started == 2 {
			return stop
		}
		return nil
	})
	if err != stop || seen != 2 {
		t.Errorf("stopped after %d: %v", seen, err)
	}
}

func TestEntry(t *testing.T) {
	for _, c := range []struct {
		e         Entry
		requested bool
		want      Job
		ok        bool
	}{
		{Entry{5, 60, 4, 8, 100}, false, Job{5, 60, 100, 4}, true},
		{Entry{5, 60, 4, 8, 100}, true, Job{5, 60, 100, 8}, true},
		{Entry{5, 60, -1, 8, 100}, false, Job{5, 60, 100, 8}, true},
		{Entry{5, 60, 4, -1, 100}, true, Job{5, 60, 100, 4}, true},
		{Entry{5, 120, 4, 8, 100}, false, Job{5, 100, 120, 4}, true}, // longer than asked for
		{Entry{5, 60, 4, 8, -1}, false, Job{5, 60, 60, 4}, true},     // nothing asked for
		{Entry{5, 0, 4, 8, 0}, false, Job{5, 0, 1, 4}, true},
		{Entry{5, -1, 4, 8, 100}, false, Job{}, false},
		{Entry{5, 60, 0, -1, 100}, false, Job{}, false},
	} {
		if got, ok := c.e.Job(c.requested); ok != c.ok || ok && got != c.want {
			t.Errorf("%+v: %+v %v, want %+v %v", c.e, got, ok, c.want, c.ok)
		}
	}
}

func TestSummarise(t *testing.T) {
	got := Summarise(10, []Job{{Submit: 10, Run: 0, Request: 5, Procs: 4},
		{Submit: 20, Run: 40, Request: 50, Procs: 5}}, []int64{40, 20})
	want := Summary{Jobs: 2, AvgWait: 15, AvgSlowdown: 2, MaxWait: 30, Utilisation: .4, Makespan: 50}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := Summarise(10, nil, nil); got != (Summary{}) {
		t.Errorf("of nothing: %+v", got)
	}
}
