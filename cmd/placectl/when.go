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
			"may take the nodes first. While it is held, or waits for a job of which nobody knows the end, nobody knows: the\n" +
			"exit status is 3 then, and 4 for a job that can never run.",
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
			return usagef(verbName(c), "--job is about a job as it was submitted: no request and no --count beside it")
		}
		return r.whenJob(c)
	}
	if err := anyRequest(c, &q); err != nil {
		return err
	}
	if c.Int("count") < 1 {
		return usagef(verbName(c), "--count must be at least 1")
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
		p := r.printer(output.Result{Columns: startColumns()})
		for _, plan := range plans {
			nodes, waits, err := planDetails(tx, plan)
			if err != nil {
				return err
			}
			p.Row(plan.Start, plan.End, plan.Start-tx.Now(), nodes, waits, orNil(plan.Set))
		}
		return p.Close()
	})
}

func startColumns() []output.Column {
	return []output.Column{{Name: "start", Kind: output.Time}, {Name: "end", Kind: output.Time}, {Name: "wait", Kind: output.Duration},
		{Name: "nodes", Kind: output.List, Nodes: true}, {Name: "waits_for", Kind: output.List}, {Name: "set"}}
}

// whenJob prints the expected start of a job.
func (r *runner) whenJob(c *cli.Context) error {
	return r.view(func(tx *store.Tx) error {
		id, err := theJob(tx, c, c.String("job"))
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
		nodes, waits, err := planDetails(tx, plan)
		if err != nil {
			return err
		}
		p := r.printer(output.Result{Columns: startColumns()})
		p.Row(expected.Start, expected.End, expected.Start-tx.Now(), nodes, waits, orNil(plan.Set))
		return p.Close()
	})
}

func planDetails(tx *store.Tx, plan *placer.Plan) (nodes, waits []string, err error) {
	if nodes, err = tx.NodeNames(plan.NodeNumbers()); err != nil {
		return nil, nil, err
	}
	waits, err = tx.WaitsFor(plan)
	return nodes, waits, err
}

// orNil shows an empty word as nothing.
func orNil(s string) any {
	if s == "" {
		return nil
	}
	return s
}
