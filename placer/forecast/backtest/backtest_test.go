package backtest

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/placer/backfill"
	"github.com/placectl/placectl/placer/forecast"
	"pgregory.net/rapid"
)

func drawLog(t *rapid.T) *Log {
	log := &Log{Procs: rapid.Int64Range(1, 6).Draw(t, "procs"), Every: 1,
		Slack:  rapid.SampledFrom([]float64{0, 1}).Draw(t, "slack"),
		Policy: rapid.SampledFrom([]backfill.Policy{backfill.FCFS, backfill.EASY, backfill.Relaxed}).Draw(t, "policy")}
	users := rapid.SampledFrom([]int{1, 3, 20}).Draw(t, "users") // with few, the record has too few outcomes to count
	at := int64(0)
	for range rapid.IntRange(40, 120).Draw(t, "jobs") {
		at += rapid.Int64Range(0, 200).Draw(t, "later")
		asked := rapid.SampledFrom([]int64{100, 500, 2000}).Draw(t, "asked")
		log.Jobs = append(log.Jobs, backfill.Job{Submit: at, Request: asked,
			Run: rapid.Int64Range(0, asked).Draw(t, "run"), Procs: rapid.Int64Range(1, log.Procs).Draw(t, "size")})
		log.Of = append(log.Of, forecast.Job{User: strconv.Itoa(rapid.IntRange(1, users).Draw(t, "user")), Asked: asked,
			Size: 1})
	}
	return log
}

// TestKnowsNoFuture: a forecast does not depend on later events: not on later jobs, on the
// durations of jobs that have not ended, or on the starts of jobs that wait.
func TestKnowsNoFuture(t *testing.T) {
	compared := 0
	rapid.Check(t, func(t *rapid.T) {
		log := drawLog(t)
		starts, made, err := Replay(log)
		if err != nil {
			t.Fatal(err)
		}
		if len(made) == 0 {
			return
		}
		for i, m := range made {
			if m.Likely < m.Now || m.Safe < m.Likely || m.Start != starts[m.Job] {
				t.Fatalf("forecast %d: %+v", i, m)
			}
		}
		then := made[rapid.IntRange(0, len(made)-1).Draw(t, "when")].Now
		other := *log
		other.Jobs = nil
		for i, j := range log.Jobs {
			if j.Submit > then {
				break
			}
			if starts[i]+j.Run > then {
				j.Run = rapid.Int64Range(min(max(then-starts[i]+1, 0), j.Request), j.Request).Draw(t, "other run")
			}
			other.Jobs = append(other.Jobs, j)
		}
		_, again, err := Replay(&other)
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range again {
			m.Start = made[i].Start
			if compared++; !cmp.Equal(m, made[i]) {
				t.Fatalf("forecast %d depends on what happens after %d:\n%s", i, then, cmp.Diff(made[i], m))
			}
		}
	})
	if compared == 0 {
		t.Error("no forecast")
	}
}
