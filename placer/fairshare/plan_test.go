package fairshare

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// want is a class of a table: the input and the expected result.
type want struct {
	name                               string
	load, running, waiting             int
	pct, entitled, loaned, start, stop int
}

func runTable(t *testing.T, workers int, rows []want, change func(*State)) *Plan {
	t.Helper()
	s := &State{TotalWorkers: workers}
	for _, r := range rows {
		s.Classes = append(s.Classes, Class{Name: r.name, Load: r.load, Running: r.running, Waiting: r.waiting})
	}
	if change != nil {
		change(s)
	}
	plan, err := new(Planner).Plan(s)
	if err != nil {
		t.Fatal(err)
	}
	checkPlan(t, s, plan)
	for i, c := range plan.Classes {
		r := rows[i]
		got := want{r.name, r.load, r.running, r.waiting, c.LoadPct, c.Entitlement, c.Loaned, c.Start, c.Stop}
		if got != r {
			t.Errorf("got  %+v\nwant %+v", got, r)
		}
	}
	return plan
}

// The two worked examples of Scoot's scheduler/server/README.md, with the columns
// load %, running, waiting, entitlement, loaned and start.
func TestWorkedExamples(t *testing.T) {
	t.Run("two rounds of entitlement", func(t *testing.T) {
		runTable(t, 1000, []want{
			{"c0", 30, 200, 290, 30, 300, 0, 94, 0},
			{"c1", 25, 300, 230, 25, 250, 50, 0, 0},
			{"c2", 20, 0, 150, 20, 200, 0, 150, 0},
			{"c3", 15, 100, 150, 15, 150, 0, 46, 0},
			{"c4", 10, 110, 90, 10, 100, 10, 0, 0},
			{"c5", 0, 0, 328, 0, 0, 0, 0, 0},
		}, nil)
	})
	t.Run("entitlement and loans", func(t *testing.T) {
		runTable(t, 1000, []want{
			{"c0", 30, 200, 10, 30, 300, 0, 10, 0},
			{"c1", 25, 300, 230, 25, 250, 50, 157, 0},
			{"c2", 20, 0, 0, 20, 200, 0, 0, 0},
			{"c3", 15, 100, 50, 15, 150, 0, 50, 0},
			{"c4", 10, 110, 90, 10, 100, 10, 73, 0},
		}, nil)
	})
}

func TestAllot(t *testing.T) {
	for name, c := range map[string]struct {
		workers int
		rows    []want
		change  func(*State)
	}{
		"a class of load 0 gets what the others leave": {10, []want{
			{"a", 1, 0, 4, 100, 10, 0, 4, 0},
			{"b", 0, 0, 9, 0, 0, 0, 6, 0},
		}, nil},
		"and nothing before": {10, []want{
			{"a", 1, 0, 40, 100, 10, 0, 10, 0},
			{"b", 0, 0, 9, 0, 0, 0, 0, 0},
		}, nil},
		"a load too small for a percentage comes before load 0": {10, []want{
			{"a", 999, 0, 2, 100, 10, 0, 2, 0},
			{"b", 1, 0, 5, 0, 0, 0, 5, 0},
			{"c", 0, 0, 9, 0, 0, 0, 3, 0},
		}, nil},
		"several of load 0 share evenly": {10, []want{
			{"a", 1, 0, 0, 100, 10, 0, 0, 0},
			{"b", 0, 0, 9, 0, 0, 0, 5, 0},
			{"c", 0, 0, 9, 0, 0, 0, 5, 0},
		}, nil},
		"everybody has his part of the loans: by load": {20, []want{
			{"a", 40, 0, 0, 40, 8, 0, 0, 0},
			{"b", 20, 6, 3, 20, 4, 2, 1, 0},
			{"c", 20, 6, 3, 20, 4, 2, 1, 0},
			{"d", 20, 6, 3, 20, 4, 2, 0, 0},
		}, nil},
		"the first class takes the remainder": {100, []want{
			{"a", 1, 0, 0, 34, 34, 0, 0, 0},
			{"b", 1, 0, 0, 33, 33, 0, 0, 0},
			{"c", 1, 0, 0, 33, 33, 0, 0, 0},
		}, nil},
		"which is the one named first": {100, []want{
			{"a", 1, 0, 0, 33, 33, 0, 0, 0},
			{"b", 1, 0, 0, 33, 33, 0, 0, 0},
			{"c", 1, 0, 0, 34, 34, 0, 0, 0},
		}, func(s *State) { s.ClassOrder = []string{"c"} }},
		"of one name: the one that is given first": {3, []want{
			{"a", 1, 0, 0, 50, 2, 0, 0, 0},
			{"a", 1, 0, 0, 50, 1, 0, 0, 0},
		}, nil},
		"workers that are away start nothing": {10, []want{
			{"a", 1, 0, 20, 100, 10, 0, 7, 0},
		}, func(s *State) { s.Away = 3 }},
		"more running than workers": {10, []want{
			{"a", 1, 15, 20, 100, 10, 5, 0, 0},
		}, nil},
		"no workers": {0, []want{{"a", 1, 0, 20, 100, 0, 0, 0, 0}}, nil},
		"nothing":    {0, nil, nil},
	} {
		t.Run(name, func(t *testing.T) { runTable(t, c.workers, c.rows, c.change) })
	}
}

// With more classes than percents the first is entitled to everything, and all get something.
func TestManyClasses(t *testing.T) {
	s := &State{TotalWorkers: 200}
	for i := range 200 {
		s.Classes = append(s.Classes, Class{Name: fmt.Sprintf("c%03d", i), Load: 1, Waiting: 2})
	}
	s.Classes[0].Waiting = 0
	plan := mustPlan(t, new(Planner), s)
	if first := plan.Classes[0]; first.LoadPct != 100 || first.Entitlement != 200 {
		t.Errorf("%+v", first)
	}
	for _, c := range plan.Classes[1:] {
		if c.Start < 1 {
			t.Errorf("%+v", c)
		}
	}
}

// Numbers at their limits do not overflow an int64.
func TestLimits(t *testing.T) {
	s := &State{TotalWorkers: MaxCount}
	for i := range MaxClasses {
		s.Classes = append(s.Classes, Class{Name: string(rune('a' + i)), Load: MaxCount, Waiting: MaxCount,
			Running: i % 2 * MaxCount})
	}
	plan, err := new(Planner).Plan(s)
	if err != nil {
		t.Fatal(err)
	}
	checkPlan(t, s, plan)
	for i := range s.Classes {
		s.Classes[i].Running = 0
	}
	if plan, err = new(Planner).Plan(s); err != nil {
		t.Fatal(err)
	}
	checkPlan(t, s, plan)
}

func TestImpossibleStates(t *testing.T) {
	one := func(c Class) State { return State{TotalWorkers: 1, Classes: []Class{c}} }
	for why, s := range map[string]State{
		"-1 workers":             {TotalWorkers: -1},
		"-2 away":                {Away: -2},
		"1099511627777 workers":  {TotalWorkers: MaxCount + 1},
		"4097 classes":           {Classes: make([]Class, MaxClasses+1)},
		"no class has a load":    one(Class{Name: "a"}),
		`"a": load -1`:           one(Class{Name: "a", Load: -1}),
		"-1 running":             one(Class{Name: "a", Load: 1, Running: -1}),
		"-1 waiting":             one(Class{Name: "a", Load: 1, Waiting: -1}),
		"more than the class's":  one(Class{Load: 1, Waiting: 3, Jobs: []Job{{0, 2}, {0, 2}}}),
		"1 of 3 waiting tasks":   one(Class{Load: 1, Waiting: 3, Jobs: []Job{{0, 2}}}),
		"job 1: 0 running, -2":   one(Class{Load: 1, Jobs: []Job{{0, -2}, {0, 2}}}),
		"threshold of 201":       {Rebalance: Rebalance{Threshold: 201}},
		"minimum duration of -1": {Rebalance: Rebalance{MinDuration: -1}},
	} {
		_, err := new(Planner).Plan(&s)
		var typed *StateError
		if !errors.Is(err, ErrState) || !errors.As(err, &typed) || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", why, err)
		}
	}
}

// Planning does not change a State.
func TestStateIsLeftAlone(t *testing.T) {
	s := &State{TotalWorkers: 10, ClassOrder: []string{"b"}, Now: 100,
		Rebalance: Rebalance{10, 1}, Timer: Timer{Running: true},
		Classes: []Class{
			{Name: "a", Load: 1, Waiting: 4, Jobs: []Job{{0, 1}, {0, 3}}},
			{Name: "b", Load: 2, Running: 9, Tasks: []Task{{1, 5, 0}, {2, 3, 0}, {3, 7, 0}}},
		}}
	before := *s
	before.Classes = slices.Clone(s.Classes)
	for i := range before.Classes {
		before.Classes[i].Jobs = slices.Clone(s.Classes[i].Jobs)
		before.Classes[i].Tasks = slices.Clone(s.Classes[i].Tasks)
	}
	if _, err := new(Planner).Plan(s); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&before, s); diff != "" {
		t.Error(diff)
	}
}
