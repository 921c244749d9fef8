package fairshare

import (
	"fmt"
	"strings"
)

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkPlan verifies what the package promises for every plan.
func checkPlan(t fataler, s *State, plan *Plan) {
	t.Helper()
	if broken := brokenPromises(s, plan); len(broken) > 0 {
		t.Fatalf("%s\nstate %+v\nplan %+v", strings.Join(broken, "\n"), *s, *plan)
	}
}

func brokenPromises(s *State, plan *Plan) (broken []string) {
	fail := func(format string, args ...any) { broken = append(broken, fmt.Sprintf(format, args...)) }
	if len(plan.Classes) != len(s.Classes) {
		fail("%d classes in, %d out", len(s.Classes), len(plan.Classes))
		return broken
	}
	pct, entitled, starts, stops, still := 0, 0, 0, 0, 0
	for i, c := range plan.Classes {
		in := &s.Classes[i]
		pct += c.LoadPct
		entitled += c.Entitlement
		starts += c.Start
		stops += c.Stop
		still += in.Waiting - c.Start
		switch {
		case c.Name != in.Name:
			fail("class %q answered as %q", in.Name, c.Name)
		case c.Start < 0 || c.Start > in.Waiting:
			fail("%s starts %d of %d", c.Name, c.Start, in.Waiting)
		case c.Stop < 0 || c.Stop > in.Running:
			fail("%s stops %d of %d", c.Name, c.Stop, in.Running)
		case c.Stop > max(0, in.Running-c.Entitlement):
			fail("%s stops %d, and has %d of %d", c.Name, c.Stop, in.Running, c.Entitlement)
		case c.Start > 0 && c.Stop > 0:
			fail("%s starts %d and stops %d", c.Name, c.Start, c.Stop)
		case c.Loaned != max(0, in.Running-c.Entitlement):
			fail("%s has %d loaned", c.Name, c.Loaned)
		}
		fromJobs := 0
		for j, n := range c.JobStarts {
			fromJobs += n
			if n < 0 || n > in.Jobs[j].Waiting {
				fail("%s starts %d of job %d", c.Name, n, j)
			}
		}
		if len(c.JobStarts) != len(in.Jobs) || len(in.Jobs) > 0 && fromJobs != c.Start {
			fail("%s starts %d, its jobs %v", c.Name, c.Start, c.JobStarts)
		}
	}
	idle := int(s.idle())
	switch {
	case len(s.Classes) > 0 && (pct != 100 || entitled != s.TotalWorkers):
		fail("%d %% and %d workers in all", pct, entitled)
	case starts != plan.Starts || stops != plan.Stops:
		fail("starts and stops %d and %d, together %d and %d", plan.Starts, plan.Stops, starts, stops)
	case starts > idle+stops:
		fail("%d starts for %d idle and %d stopped", starts, idle, stops)
	case plan.Idle != idle+stops-starts:
		fail("%d idle, said to be %d", idle+stops-starts, plan.Idle)
	case plan.Idle > 0 && still > 0:
		fail("%d idle, %d waiting", plan.Idle, still)
	case plan.Idle > idle:
		fail("more idle workers: %d, %d before", plan.Idle, idle)
	case stops > 0 && !plan.Rebalanced:
		fail("%d stops without rebalancing", stops)
	}
	return broken
}
