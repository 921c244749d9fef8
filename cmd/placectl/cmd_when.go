package main

import (
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func whenVerb() *verb {
	return &verb{
		Name:     "when",
		Category: "Placing",
		Usage:    "the earliest start of a request, or the expected one of a job that waits; changes nothing",
		Args:     []arg{{Name: "SELECT", Kind: kindRequest}},
		Description: "A planned job (--job) starts as planned. One without a plan starts when its begin time, what it depends on,\n" +
			"the share of its class and the plans of others let it at the earliest; jobs without a plan that are ahead of it\n" +
			"may take the nodes first. While it is held or late, or waits for a job of which nobody knows the end, nobody\n" +
			"knows: the exit status is 3 then, and 4 for a job that can never run.",
		Flags: append(requestFlags(),
			&cli.StringFlag{Name: "job", Usage: "the start of the queued job `N`, not of a request"},
			&cli.IntFlag{Name: "count", Value: 1, Usage: "the first `N` starts: the earliest, then each later moment at which nodes come free"}),
		Access:   reads,
		Statuses: []int{exitNotNow, exitNever, exitConflict},
		Example:  "placectl when 16:ncpus=8 --place scatter:excl -t 4h\nplacectl when -l 2 --place excl --count 3\nplacectl when --job 12",
		Run:      (*runner).when,
	}
}

func (r *runner) when(c *cli.Context) error {
	q, err := r.request(c, c.Args().Slice())
	if err != nil {
		return err
	}
	if c.IsSet("job") {
		if c.IsSet("count") || givesRequest(c) {
			return usagef("--job is about a job as it was submitted: no request and no --count beside it")
		}
		return r.whenJob(c)
	}
	if err := anyRequest(c, &q); err != nil {
		return err
	}
	if c.Int("count") < 1 {
		return usagef("--count must be at least 1")
	}
	return r.ordered(&q, func() error { return r.printStarts(q, c.Int("count")) })
}

// printStarts prints the first starts of a request.
func (r *runner) printStarts(q placer.Request, count int) error {
	return r.view(func(tx *store.Tx) error {
		if err := asksOrder(tx, &q); err != nil {
			return err
		}
		plans, err := tx.When(q, tx.Now(), count)
		if err != nil {
			return err
		}
		starts := make([]*startView, len(plans))
		for i, plan := range plans {
			if starts[i], err = viewStart(tx, plan.Start, plan.End, plan); err != nil {
				return err
			}
		}
		return printAll(r, startFields, starts...)
	})
}

// startView is a start as answers show it.
type startView struct {
	start, end, now int64
	plan            *placer.Plan
	nodes, waits    []string
}

var startFields = output.Fields[*startView]{
	{Name: "start", Kind: output.Time, Value: func(v *startView) any { return v.start }},
	{Name: "end", Kind: output.Time, Value: func(v *startView) any { return v.end }},
	{Name: "wait", Kind: output.Duration, Value: func(v *startView) any { return v.start - v.now }},
	{Name: "nodes", Kind: output.List, Nodes: true, Value: func(v *startView) any { return v.nodes }},
	{Name: "waits_for", Kind: output.List, Value: func(v *startView) any { return v.waits }},
	{Name: "set", Value: func(v *startView) any { return orNil(v.plan.Set) }},
}

// viewStart is a start by a plan.
func viewStart(tx *store.Tx, start, end int64, plan *placer.Plan) (v *startView, err error) {
	v = &startView{start: start, end: end, now: tx.Now().Unix(), plan: plan}
	if v.nodes, err = tx.NodeNames(plan.NodeNumbers()); err != nil {
		return nil, err
	}
	v.waits, err = tx.WaitsFor(plan)
	return v, err
}

// whenJob prints the expected start of a job.
func (r *runner) whenJob(c *cli.Context) error {
	return r.view(func(tx *store.Tx) error {
		id, err := theJob(tx, c.String("job"))
		if err != nil {
			return err
		}
		job, expected, err := tx.WhenJob(id)
		if err != nil {
			return err
		}
		plan := expected.Plan
		if plan == nil {
			plan = job.Plan()
		}
		start, err := viewStart(tx, expected.Start, expected.End, plan)
		if err != nil {
			return err
		}
		return printAll(r, startFields, start)
	})
}

// orNil shows an empty word as nothing.
func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}
