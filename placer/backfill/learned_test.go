package backfill

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestLearned: a job that is predicted to be short starts ahead of the head, judging by the
// last two jobs of its user that had ended. A job that outlives its prediction delays the
// head.
func TestLearned(t *testing.T) {
	t.Parallel()
	jobs := []Job{
		{Submit: 0, Run: 10, Request: 100, Procs: 1},
		{Submit: 0, Run: 90, Request: 100, Procs: 1},    // ann's jobs run for 50 s on average
		{Submit: 100, Run: 60, Request: 60, Procs: 1},   // until 160
		{Submit: 101, Run: 50, Request: 50, Procs: 2},   // the head, planned for 160
		{Submit: 102, Run: 100, Request: 500, Procs: 1}, // ann's: predicted to end at 152, and at 160 to end at 220
		// bob's: of his jobs fewer than two have ended, so it would end at 230
		{Submit: 103, Run: 70, Request: 70, Procs: 1},
	}
	starts, err := RunLearned(2, jobs, []string{"ann", "ann", "bob", "bob", "ann", "bob"}, nil)
	if want := []int64{0, 0, 100, 202, 102, 252}; err != nil || !slices.Equal(starts, want) {
		t.Errorf("jobs start at %v (%v), want %v", starts, err, want)
	}
	starts, err = Run(2, jobs, EASY, nil)
	if want := []int64{0, 0, 100, 160, 210, 210}; err != nil || !slices.Equal(starts, want) {
		t.Errorf("under easy jobs start at %v (%v), want %v", starts, err, want)
	}
	jobs = []Job{{Run: 100, Request: 100, Procs: 1}, {Run: 50, Request: 50, Procs: 1},
		{Submit: 1, Run: 10, Request: 10, Procs: 2},
		{Submit: 2, Run: 45, Request: 45, Procs: 1}, {Submit: 3, Run: 30, Request: 30, Procs: 1}}
	starts, err = RunLearned(2, jobs, []string{"a", "b", "c", "d", "e"}, nil)
	if want := []int64{0, 0, 100, 110, 50}; err != nil || !slices.Equal(starts, want) {
		t.Errorf("jobs start at %v (%v), want %v: the shortest go first", starts, err, want)
	}
	if _, err := RunLearned(2, jobs, nil, nil); err == nil {
		t.Error("jobs without users are accepted")
	}
}

// TestLearnedIsEASY: if nothing is learned, and all jobs ask for the same time, it is EASY.
func TestLearnedIsEASY(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		procs := rapid.Int64Range(1, 8).Draw(t, "procs")
		jobs := make([]Job, rapid.IntRange(1, 30).Draw(t, "jobs"))
		users := make([]string, len(jobs))
		for i := range jobs {
			jobs[i] = Job{Submit: rapid.Int64Range(0, 200).Draw(t, "submit"),
				Run: rapid.Int64Range(1, 50).Draw(t, "run"), Request: 50, Procs: rapid.Int64Range(1, procs).Draw(t,
					"width")}
			users[i] = fmt.Sprint(i)
		}
		got, err := RunLearned(procs, jobs, users, nil)
		if err != nil {
			t.Fatal(err)
		}
		want, err := Run(procs, jobs, EASY, nil)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("jobs start at %v, under easy at %v (%v)", got, want, err)
		}
	})
}
