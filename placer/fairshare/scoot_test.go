package fairshare

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A record is a state and what Scoot did with it; testdata/README.md describes it.
type record struct {
	Name         string
	TotalWorkers int `json:"total_workers"`
	Rebalance    struct {
		Threshold   int
		MinDuration int64 `json:"min_duration_s"`
		ExceededFor int64 `json:"exceeded_for_s"`
	}
	Classes []struct {
		Name    string
		Load    int `json:"load_pct"`
		Running int
		Waiting int
		Jobs    []struct {
			ID      string
			Running int
			Waiting int
		}
	}
	Anomaly  []string
	Outcomes []outcome
}

type outcome struct {
	ClassOrder []string `json:"class_order"`
	Rebalanced bool
	Spread     int
	Starts     int                 `json:"start_total"`
	Stops      int                 `json:"stop_total"`
	PerClass   map[string]recorded `json:"per_class"`
}

// recorded is what Scoot did with one class.
type recorded struct {
	LoadPct     int `json:"eff_load_pct"`
	Entitlement int
	Loaned      int
	Start, Stop int
	JobStarts   map[string]int `json:"job_starts"`
}

// now is when a recorded rebalancing is checked.
const now = 1_000_000

func (r *record) state(o *outcome) *State {
	s := &State{TotalWorkers: r.TotalWorkers, ClassOrder: o.ClassOrder, Now: now,
		Rebalance: Rebalance{Threshold: r.Rebalance.Threshold, MinDuration: r.Rebalance.MinDuration}}
	if r.Rebalance.ExceededFor >= 0 {
		s.Timer = Timer{Running: true, Since: now - r.Rebalance.ExceededFor}
	}
	for _, c := range r.Classes {
		class := Class{Name: c.Name, Load: c.Load, Running: c.Running, Waiting: c.Waiting}
		for _, j := range c.Jobs {
			class.Jobs = append(class.Jobs, Job{Running: j.Running, Waiting: j.Waiting})
		}
		s.Classes = append(s.Classes, class)
	}
	return s
}

// asRecorded returns a plan in the form of Scoot's records. Scoot computes the spread after
// counting its starts, so this counts them, too. Not all records say which jobs start tasks.
func (r *record) asRecorded(s *State, plan *Plan, like *outcome) outcome {
	o := outcome{ClassOrder: s.ClassOrder, Rebalanced: plan.Rebalanced, Starts: plan.Starts, Stops: plan.Stops,
		PerClass: make(map[string]recorded)}
	for i, c := range plan.Classes {
		rec := recorded{LoadPct: c.LoadPct, Entitlement: c.Entitlement, Loaned: c.Loaned, Start: c.Start, Stop: c.Stop}
		for j, n := range c.JobStarts {
			if n > 0 && like.PerClass[c.Name].JobStarts != nil {
				if rec.JobStarts == nil {
					rec.JobStarts = make(map[string]int)
				}
				rec.JobStarts[r.Classes[i].Jobs[j].ID] = n
			}
		}
		o.PerClass[c.Name] = rec
	}
	o.Spread = spreadAfter(s, plan)
	return o
}

func spreadAfter(s *State, plan *Plan) int {
	after := *s
	after.Classes = slices.Clone(s.Classes)
	for i := range after.Classes {
		after.Classes[i].Waiting -= plan.Classes[i].Start
		after.Classes[i].Jobs = nil
	}
	var p Planner
	plan, err := p.Plan(&after)
	if err != nil {
		panic(err)
	}
	return plan.Spread
}

// notScoot lists the rows without an anomaly whose numbers differ from ours, with the reason.
// Its float32 quotients make no difference in any of them.
var notScoot = map[string]string{
	"TestEmptyRequestor": "there are no workers: Scoot divides by 0 and finds a spread beyond all bounds, here " +
		"there is none",
}

func TestScoot(t *testing.T) {
	unused := make(map[string]bool)
	for name := range notScoot {
		unused[name] = true
	}
	var p Planner
	for _, r := range records(t) {
		t.Run(r.Name, func(t *testing.T) {
			for i := range r.Outcomes {
				want := &r.Outcomes[i]
				s := r.state(want)
				plan, err := p.Plan(s)
				if err != nil {
					t.Fatal(err)
				}
				checkPlan(t, s, plan)
				if len(r.Anomaly) > 0 {
					continue
				}
				diff := cmp.Diff(*want, r.asRecorded(s, plan, want))
				if why := notScoot[r.Name]; why != "" && diff != "" {
					delete(unused, r.Name)
					continue
				}
				if diff != "" {
					t.Errorf("outcome %d (-Scoot +ours):\n%s", i, diff)
				}
			}
		})
	}
	for name := range unused {
		t.Errorf("%s is listed as different, but is not", name)
	}
}

func records(t testing.TB) []record {
	t.Helper()
	var out []record
	for _, name := range []string{"scenarios.jsonl", "random.jsonl"} {
		out = append(out, readLines[record](t, name)...)
	}
	return out
}

func readLines[T any](t testing.TB, name string) []T {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var out []T
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for lines.Scan() {
		var row T
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out = append(out, row)
	}
	return out
}
