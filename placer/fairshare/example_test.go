package fairshare_test

import (
	"fmt"

	"github.com/placectl/placectl/placer/fairshare"
)

// The second worked example of Scoot's scheduler: c0 and c3 use as much as they can of their
// entitlement; c1 and c4 borrow the rest.
func ExamplePlanner() {
	state := fairshare.State{
		TotalWorkers: 1000,
		Classes: []fairshare.Class{
			{Name: "c0", Load: 30, Running: 200, Waiting: 10},
			{Name: "c1", Load: 25, Running: 300, Waiting: 230},
			{Name: "c2", Load: 20},
			{Name: "c3", Load: 15, Running: 100, Waiting: 50},
			{Name: "c4", Load: 10, Running: 110, Waiting: 90},
		},
	}
	var planner fairshare.Planner
	plan, err := planner.Plan(&state)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range plan.Classes {
		fmt.Printf("%s: entitled to %d, %d loaned, starts %d\n", c.Name, c.Entitlement, c.Loaned, c.Start)
	}
	fmt.Println("idle:", plan.Idle)
	// Output:
	// c0: entitled to 300, 0 loaned, starts 10
	// c1: entitled to 250, 50 loaned, starts 157
	// c2: entitled to 200, 0 loaned, starts 0
	// c3: entitled to 150, 0 loaned, starts 50
	// c4: entitled to 100, 10 loaned, starts 73
	// idle: 0
}
