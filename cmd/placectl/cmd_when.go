package main

import (
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/exit"
	"github.com/placectl/placectl/cmd/placectl/internal/jobref"
	"github.com/placectl/placectl/cmd/placectl/internal/localorder"
	"github.com/placectl/placectl/cmd/placectl/internal/nouns"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/request"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func whenVerb() *verb {
	return &verb{
		Name:     "when",
		Category: "Placing",
		Usage:    "when a request could start, or a waiting job is expected to",
		May:      store.Anybody,
		Args:     []verbs.Arg{{Name: "SELECT", Kind: verbs.KindRequest}},
		Description: "A planned job (--job) starts as planned. One without a plan starts when its begin time, what it depends on,\n" +
			"the share of its class and the plans of others let it at the earliest; jobs without a plan that are ahead of it\n" +
			"may take the nodes first. While it is held or late, or waits for a job of which nobody knows the end, nobody\n" +
			"knows: the exit status is 3 then, and 4 for a job that can never run.",
		Flags: append(request.Flags(), request.OverLimits(),
			&cli.StringFlag{Name: "job", Usage: "the start of the queued job `N`, not of a request"},
			&cli.IntFlag{Name: "count", Value: 1, Usage: "the first `N` starts: the earliest, then each later moment at which nodes come free"}),
		Access:   verbs.Reads,
		Revives:  true,
		Brief:    true,
		Statuses: []int{exit.NotNow, exit.Never, exit.Conflict},
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
	if err := request.Any(c, &q); err != nil {
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
		if err := localorder.Wanted(tx, &q); err != nil {
			return err
		}
		found, err := tx.When(q, tx.Now(), count)
		if err != nil {
			return err
		}
		starts := make([]*startView, len(found))
		for i, start := range found {
			if starts[i], err = viewStart(tx, start); err != nil {
				return err
			}
		}
		return printAll(r, startFields, starts...)
	})
}

// startView is a start as answers show it.
type startView struct {
	store.Opening
	now   time.Time
	nodes []string
	waits []store.Owner
}

var startFields = output.Fields[*startView]{
	{Name: "start", Kind: output.Time, Value: func(v *startView) any { return v.Start }},
	{Name: "end", Kind: output.Time, Value: func(v *startView) any { return v.End }},
	{Name: "wait", Kind: output.Duration, Value: func(v *startView) any { return v.Start.Sub(v.now) }},
	{Name: "nodes", Kind: output.List, Nodes: true, Value: func(v *startView) any { return v.nodes }},
	{Name: "waits_for", Kind: output.Object, Value: func(v *startView) any { return nouns.OwnersOf(v.waits) }},
	{Name: "set", Value: func(v *startView) any { return output.OrNil(v.Plan.Set) }},
}

func viewStart(tx *store.Tx, start store.Opening) (v *startView, err error) {
	v = &startView{Opening: start, now: tx.Now()}
	if v.nodes, err = tx.NodeNames(start.Plan.NodeNumbers()); err != nil {
		return nil, err
	}
	v.waits, err = tx.WaitsFor(start.Plan)
	return v, err
}

// whenJob prints the expected start of a job.
func (r *runner) whenJob(c *cli.Context) error {
	return r.view(func(tx *store.Tx) error {
		id, err := jobref.One(tx, c.String("job"))
		if err != nil {
			return err
		}
		expected, err := tx.WhenJob(id)
		if err != nil {
			return err
		}
		start, err := viewStart(tx, expected.Opening)
		if err != nil {
			return err
		}
		return printAll(r, startFields, start)
	})
}
