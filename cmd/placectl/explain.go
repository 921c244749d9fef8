package main

import (
	"errors"
	"strconv"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/store"
	"github.com/urfave/cli/v2"
)

func explainCommand(r *runner) *cli.Command {
	return r.verb(&cli.Command{
		Name:      "explain",
		Category:  "Placing",
		Usage:     "why a request starts now or does not, and what would help; why a job is where it is",
		ArgsUsage: "[SELECT | JOB]",
		Description: "Of a request: the verdict, and for each chunk all nodes of the cluster, counted by the first reason for\n" +
			"which they cannot serve it now, with the earliest time at which one of them could; then single changes\n" +
			"with which it would start now (or, where it never can, could run at all). It changes nothing.\n" +
			"Of a job: where it runs and why there; of a planned one, what it waits for.\n" +
			"A lone number that is a job's, without request flags, is that job; --job says so for certain, and -l 12\n" +
			"is a select. The exit status is 0 whatever the verdict.",
		Flags: append(requestFlags(),
			&cli.StringFlag{Name: "job", Usage: "the job with number `N`"},
			&cli.StringFlag{Name: "nodes", Usage: "what about these nodes: a node `LIST` such as n[01-16]"},
			&cli.IntFlag{Name: "limit", Value: 20, Usage: "of a policy that scores nodes show the first `N`; 0 for none"}),
		Action: r.explain,
	}, about{
		Example: "placectl explain 16:ncpus=8 --place scatter:excl -t 4h\n" +
			"placectl explain -l 2:ngpus=1 --queue fast --nodes g[01-04]\n" +
			"placectl explain 8:ncpus=1 --policy priority --limit 5\n" +
			"placectl explain 12 -o json",
		Exits: append([]int{exitConflict}, readExits...),
	})
}

// explaining is what is to be explained: a request, or a job.
type explaining struct {
	request placer.Request
	job     uint64 // 0 for the request
	certain bool   // the job, whether there is one or not
	ask     placer.Explain
	nodes   string
}

func (r *runner) explain(c *cli.Context) error {
	what, err := r.explaining(c)
	if err != nil {
		return err
	}
	return r.ordered(&what.request, func() error { return r.explainIt(c, what) })
}

func (r *runner) explainIt(c *cli.Context, what *explaining) (err error) {
	return r.view(func(tx *store.Tx) error {
		if what.nodes != "" {
			if what.ask.Nodes, err = tx.ResolveNodes(what.nodes); err != nil {
				return err
			}
		}
		ex, err := r.explained(tx, what)
		if err != nil {
			return err
		}
		if ex.Explanation == nil && what.nodes != "" {
			return usagef(verbName(c), "--nodes is about requests; job %d has its nodes", what.job)
		}
		return r.printExplained(tx, ex)
	})
}

// explaining reads what to explain.
func (r *runner) explaining(c *cli.Context) (*explaining, error) {
	what := new(explaining)
	var err error
	args := c.Args().Slice()
	if what.request, err = r.request(c, args); err != nil {
		return what, err
	}
	what.nodes = c.String("nodes")
	if what.ask.Rank = c.Int("limit"); what.ask.Rank < 0 {
		return what, usagef(verbName(c), "--limit must be 0 or more")
	}
	given := false
	for _, f := range requestFlags() {
		given = given || c.IsSet(f.Names()[0])
	}
	switch {
	case !c.IsSet("job"):
		if len(args) == 1 && !given {
			what.job, _ = strconv.ParseUint(args[0], 10, 64) // 0 for a select
		}
		return what, anyRequest(c, &what.request)
	case given || len(args) > 0:
		return what, usagef(verbName(c), "either --job, or a request")
	}
	what.certain = true
	if what.job, err = strconv.ParseUint(c.String("job"), 10, 64); err != nil || what.job == 0 {
		return what, usagef(verbName(c), "--job: %q is not a job number", c.String("job"))
	}
	return what, nil
}

// explained explains a job, where there is one of that number, else the request.
func (r *runner) explained(tx *store.Tx, what *explaining) (*store.Explained, error) {
	if what.job != 0 {
		if _, err := tx.Job(what.job); what.certain || !errors.Is(err, store.ErrNotFound) {
			return tx.ExplainJob(what.job, what.ask)
		}
	}
	if err := asksOrder(tx, &what.request); err != nil {
		return nil, err
	}
	if what.job != 0 {
		r.notef("there is no job %d: this is about a request for %s", what.job, plural(int(what.job), "chunk"))
	}
	return tx.Explain(what.request, what.ask)
}
