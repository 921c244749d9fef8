package main

import (
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func whenCommand(r *runner) *cli.Command {
	return r.verb(&cli.Command{
		Name:      "when",
		Category:  "Placing",
		Usage:     "the earliest start of a request; changes nothing",
		ArgsUsage: "SELECT",
		Flags: append(requestFlags(),
			&cli.IntFlag{Name: "count", Value: 1, Usage: "the first `N` starts: the earliest, then each later moment at which nodes come free"}),
		Action: r.when,
	}, about{
		Example: "placectl when 16:ncpus=8 --place scatter:excl -t 4h\nplacectl when -l 2 --place excl --count 3",
		Exits:   append([]int{exitNotNow, exitNever}, readExits...),
	})
}

func (r *runner) when(c *cli.Context) error {
	q, err := r.request(c, c.Args().Slice())
	if err != nil {
		return err
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
		p := r.printer(result{Columns: []column{{Name: "start", Kind: when}, {Name: "end", Kind: when}, {Name: "wait", Kind: span},
			{Name: "nodes", Kind: list, Nodes: true}, {Name: "waits_for", Kind: list}, {Name: "set"}}})
		for _, plan := range plans {
			nodes, waits, err := planDetails(tx, plan)
			if err != nil {
				return err
			}
			p.row(plan.Start, plan.End, plan.Start-tx.Now(), nodes, waits, orNil(plan.Set))
		}
		return p.close()
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
