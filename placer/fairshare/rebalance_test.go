package fairshare

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// due makes a state need rebalancing now.
func due(s *State) {
	s.Rebalance = Rebalance{Threshold: 1, MinDuration: 60}
	s.Timer = Timer{Running: true, Since: 40}
	s.Now = 100
}

func TestRebalance(t *testing.T) {
	for name, c := range map[string]struct {
		workers int
		rows    []want
		change  func(*State)
	}{
		"each class to its target": {100, []want{
			{"a", 83, 19, 99, 83, 83, 0, 64, 0},
			{"b", 17, 52, 181, 17, 17, 35, 0, 35},
		}, due},
		"loans are taken back and given out again": {100, []want{
			{"a", 50, 0, 10, 50, 50, 0, 10, 0},
			{"b", 30, 80, 5, 30, 30, 50, 0, 26},
			{"c", 20, 10, 90, 20, 20, 0, 26, 0},
		}, due},
		"no task stops for a worker that no class wants": {100, []want{
			{"a", 50, 0, 10, 50, 50, 0, 10, 0},
			{"b", 50, 90, 0, 50, 50, 40, 0, 0},
		}, due},
		"only for as many as are wanted": {100, []want{
			{"a", 50, 5, 10, 50, 50, 0, 10, 0},
			{"b", 50, 90, 0, 50, 50, 40, 0, 5},
		}, due},
		"a class that stops tasks does not start its own instead": {100, []want{
			{"a", 50, 0, 100, 50, 50, 0, 50, 0},
			{"b", 50, 100, 100, 50, 50, 50, 0, 50},
		}, due},
		"load 0 makes room, too": {10, []want{
			{"a", 1, 0, 6, 100, 10, 0, 6, 0},
			{"b", 0, 10, 9, 0, 0, 10, 0, 6},
		}, due},
		"not all can have their targets while workers are away": {100, []want{
			{"a", 50, 0, 90, 50, 50, 0, 21, 0},
			{"b", 30, 0, 90, 30, 30, 0, 11, 0},
			{"c", 20, 40, 90, 20, 20, 20, 0, 20},
		}, func(s *State) { due(s); s.Away = 48 }},
	} {
		t.Run(name, func(t *testing.T) {
			if plan := runTable(t, c.workers, c.rows, c.change); !plan.Rebalanced || plan.Timer != (Timer{}) {
				t.Errorf("rebalanced %v, timer %+v", plan.Rebalanced, plan.Timer)
			}
		})
	}
}

// The spread is 60: a lacks 50 points and waits, b has 10 too many; c has too little, but no
// waiting tasks.
func TestSpread(t *testing.T) {
	s := &State{TotalWorkers: 200, Classes: []Class{
		{Name: "a", Load: 50, Waiting: 1}, {Name: "b", Load: 40, Running: 100}, {Name: "c", Load: 10},
	}}
	spread := func() int { return mustPlan(t, new(Planner), s).Spread }
	if got := spread(); got != 60 {
		t.Errorf("%d, expected 60", got)
	}
	s.Classes[0].Waiting = 0
	if got := spread(); got != 10 {
		t.Errorf("no task waits: %d, expected 10", got)
	}
	s.Classes[1].Running = 101 // 50.5 %
	if got := spread(); got != 10 {
		t.Errorf("parts of a percent: %d, expected 10", got)
	}
	s.Classes = []Class{{Name: "a", Load: 1, Waiting: 1}}
	if got := spread(); got != 0 {
		t.Errorf("one class: %d, expected 0", got)
	}
}

// A spread of 50 is checked again and again, and falls below the threshold in between.
func TestTimer(t *testing.T) {
	apart := []Class{{Name: "a", Load: 50, Waiting: 100}, {Name: "b", Load: 50, Running: 50, Waiting: 100}}
	level := []Class{{Name: "a", Load: 50, Running: 50, Waiting: 100}, {Name: "b", Load: 50, Running: 50, Waiting: 100}}
	s := &State{TotalWorkers: 100, Rebalance: Rebalance{Threshold: 50, MinDuration: 60}}
	var log []string
	for _, look := range []struct {
		now     int64
		classes []Class
	}{
		{0, apart}, {30, apart}, {59, apart}, {59, level}, // just not long enough
		{60, apart}, {119, apart}, {120, apart}, // long enough
		{121, apart}, {180, apart}, {181, apart}, // from the beginning
		{200, apart}, {190, apart}, {250, apart}, // a clock that goes back
	} {
		s.Now, s.Classes = look.now, look.classes
		plan := mustPlan(t, new(Planner), s)
		s.Timer = plan.Timer
		if plan.Rebalanced {
			log = append(log, fmt.Sprint(look.now))
		}
	}
	if want := []string{"120", "181", "250"}; !slices.Equal(log, want) {
		t.Errorf("rebalanced at %v, expected %v", log, want)
	}
}

func TestTimerStep(t *testing.T) {
	on := Rebalance{Threshold: 10, MinDuration: 60}
	for _, c := range []struct {
		name   string
		timer  Timer
		rule   Rebalance
		spread int
		now    int64
		want   Timer
		due    bool
	}{
		{"off without a threshold", Timer{true, 0}, Rebalance{0, 60}, 99, 100, Timer{}, false},
		{"off without a duration", Timer{true, 0}, Rebalance{10, 0}, 99, 100, Timer{}, false},
		{"begins", Timer{}, on, 10, 100, Timer{true, 100}, false},
		{"runs", Timer{true, 100}, on, 10, 159, Timer{true, 100}, false},
		{"at the threshold, for the whole duration", Timer{true, 100}, on, 10, 160, Timer{}, true},
		{"below", Timer{true, 100}, on, 9, 160, Timer{}, false},
		{"the ends of time", Timer{true, math.MinInt64}, on, 10, math.MaxInt64, Timer{}, true},
	} {
		if got, due := c.timer.step(c.rule, c.spread, c.now); got != c.want || due != c.due {
			t.Errorf("%s: %+v %v", c.name, got, due)
		}
	}
}

func TestStopTasks(t *testing.T) {
	s := &State{TotalWorkers: 4, Classes: []Class{
		{Name: "a", Load: 75, Waiting: 9},
		{Name: "b", Load: 25, Running: 4, Tasks: []Task{{ID: 1, Start: 7}, {ID: 2, Start: 9}, {ID: 3, Start: 8},
			{ID: 4, Start: 9}}},
	}}
	due(s)
	plan := mustPlan(t, new(Planner), s)
	if want := []Task{{ID: 4, Start: 9}, {ID: 2, Start: 9}, {ID: 3, Start: 8}}; !slices.Equal(plan.Classes[1].StopTasks,
		want) {
		t.Errorf("%v, expected %v", plan.Classes[1].StopTasks, want)
	}
}
