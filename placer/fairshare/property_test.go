package fairshare

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// states draws what a planner may meet: few and many classes, loads that are equal, 0 or very
// different, more and less work than workers, jobs, tasks, timers.
func states() *rapid.Generator[*State] {
	return rapid.Custom(func(t *rapid.T) *State {
		most := rapid.SampledFrom([]int{3, 30, 1000, 100_000}).Draw(t, "scale")
		s := &State{
			TotalWorkers: rapid.IntRange(0, 2*most).Draw(t, "workers"),
			Away:         rapid.SampledFrom([]int{0, 0, most / 3}).Draw(t, "away"),
			Now:          rapid.Int64Range(0, 200).Draw(t, "now"),
			Rebalance: Rebalance{
				Threshold:   rapid.IntRange(0, 40).Draw(t, "threshold"),
				MinDuration: rapid.Int64Range(0, 100).Draw(t, "duration")},
		}
		if rapid.Bool().Draw(t, "timer") {
			s.Timer = Timer{Running: true, Since: rapid.Int64Range(0, 200).Draw(t, "since")}
		}
		greatest := rapid.SampledFrom([]int{1, 3, 100, 100_000}).Draw(t, "load")
		n := rapid.OneOf(rapid.IntRange(1, 6), rapid.IntRange(1, 150)).Draw(t, "classes")
		for i := range n {
			s.Classes = append(s.Classes, drawClass(t, i, most/n+1, greatest))
		}
		s.Classes[0].Load = max(1, s.Classes[0].Load)
		s.Classes = rapid.Permutation(s.Classes).Draw(t, "order")
		return s
	})
}

func drawClass(t *rapid.T, i, most, greatest int) Class {
	c := Class{Name: fmt.Sprintf("c%03d", i), Load: rapid.IntRange(0, greatest).Draw(t, "load")}
	some := func(label string) int {
		return rapid.OneOf(rapid.Just(0), rapid.IntRange(0, 2), rapid.IntRange(0, 4*most)).Draw(t, label)
	}
	if rapid.Bool().Draw(t, "in jobs") {
		for range rapid.IntRange(1, 4).Draw(t, "jobs") {
			j := Job{Running: some("running"), Waiting: some("waiting")}
			c.Running += j.Running
			c.Waiting += j.Waiting
			c.Jobs = append(c.Jobs, j)
		}
	} else {
		c.Running, c.Waiting = some("running"), some("waiting")
	}
	if c.Running <= 50 {
		for k := range c.Running {
			c.Tasks = append(c.Tasks, Task{ID: uint64(k), Start: rapid.Int64Range(0, 5).Draw(t, "start")})
		}
	}
	return c
}

// copied returns a copy of a plan, which the Planner does not overwrite.
func copied(p *Plan) *Plan {
	out := *p
	out.Classes = slices.Clone(p.Classes)
	for i := range out.Classes {
		c := &out.Classes[i]
		c.JobStarts = slices.Clone(c.JobStarts)
		c.StopTasks = slices.Clone(c.StopTasks)
	}
	return &out
}

func mustPlan(t fataler, p *Planner, s *State) *Plan {
	t.Helper()
	plan, err := p.Plan(s)
	if err != nil {
		t.Fatalf("%v\n%+v", err, *s)
	}
	checkPlan(t, s, plan)
	return copied(plan)
}

func TestPromises(t *testing.T) {
	var p Planner
	rapid.Check(t, func(t *rapid.T) {
		s := states().Draw(t, "state")
		plan := mustPlan(t, &p, s)
		for i := range plan.Classes {
			checkStops(t, &s.Classes[i], &plan.Classes[i])
		}
		if again := mustPlan(t, new(Planner), s); !cmp.Equal(plan, again, cmpopts.EquateEmpty()) {
			t.Fatalf("another planner plans otherwise:\n%s", cmp.Diff(plan, again))
		}
	})
}

// checkStops verifies that no task newer than a stopped one keeps running.
func checkStops(t *rapid.T, in *Class, c *ClassPlan) {
	if len(in.Tasks) != in.Running {
		return
	}
	all := slices.Clone(in.Tasks)
	slices.SortFunc(all, NewestFirst)
	if !slices.Equal(c.StopTasks, all[:c.Stop]) {
		t.Fatalf("%s stops %v of %v", c.Name, c.StopTasks, all)
	}
}

func TestScalingLoadsChangesNothing(t *testing.T) {
	var p Planner
	rapid.Check(t, func(t *rapid.T) {
		s := states().Draw(t, "state")
		plan := mustPlan(t, &p, s)
		times := rapid.IntRange(2, 1_000_000).Draw(t, "times")
		for i := range s.Classes {
			s.Classes[i].Load *= times
		}
		if diff := cmp.Diff(plan, mustPlan(t, &p, s)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestOrderOfClassesChangesNothing(t *testing.T) {
	var p Planner
	byName := cmpopts.SortSlices(func(a, b ClassPlan) bool { return a.Name < b.Name })
	rapid.Check(t, func(t *rapid.T) {
		s := states().Draw(t, "state")
		plan := mustPlan(t, &p, s)
		s.Classes = rapid.Permutation(s.Classes).Draw(t, "again")
		if diff := cmp.Diff(plan, mustPlan(t, &p, s), byName); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestCeilDiv(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.Int64Range(1, MaxCount*MaxClasses).Draw(t, "c")
		a := rapid.Int64Range(0, MaxCount*MaxClasses).Draw(t, "a")
		b := rapid.Int64Range(0, c).Draw(t, "b")
		want := new(big.Int).Mul(big.NewInt(a), big.NewInt(b))
		want.Add(want, big.NewInt(c-1)).Quo(want, big.NewInt(c))
		if got := ceilDiv(a, b, c); want.Cmp(big.NewInt(got)) != 0 {
			t.Fatalf("%d, expected %d", got, want)
		}
	})
}
