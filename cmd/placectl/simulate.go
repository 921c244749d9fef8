package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/placectl/placectl/placer/backfill"
	"github.com/urfave/cli/v2"
)

// What would have come of a log of jobs under another policy. simulate_trace.go
// reads the log, package backfill replays it, simulate_report.go says what came
// of it.

func simulateCommand(r *runner) *cli.Command {
	return r.verb(&cli.Command{
		Name:      "simulate",
		Category:  "Asking",
		Usage:     "replay a workload trace: what jobs would have waited under a backfill policy",
		ArgsUsage: "TRACE",
		Description: "TRACE (- for standard input) is a log in the Standard Workload Format, plain or gzip. Processors are counted,\n" +
			"not placed on nodes; no database is touched. The answer has the jobs, those skipped (without processors or\n" +
			"run time, or wider than the machine), their average wait and bounded slowdown (the wait and the run over the\n" +
			"run, of 10 s at least), the longest wait, and the part of the machine used until the last end (makespan).\n" +
			"Of a run longer than its requested time, the two change places. Jobs without a requested time asked for what\n" +
			"they ran.",
		Flags: []cli.Flag{
			&cli.Int64Flag{Name: "procs", Usage: "processors of the machine: `N` (the trace's MaxProcs, else MaxNodes)"},
			&cli.StringFlag{Name: "policy", Value: backfill.EASY.String(), Usage: "`POLICY` of the queue: fcfs, easy or conservative"},
			&cli.StringFlag{Name: "compare", Usage: "a row for each of `POLICIES`, such as fcfs,easy,conservative"},
			&cli.BoolFlag{Name: "requested", Usage: "jobs take the processors they asked for, not those they were given"},
			&cli.StringFlag{Name: "out", Usage: "write when each job starts into `FILE` as CSV, - for standard output and nothing else"},
		},
		Action: r.simulate,
	}, about{
		Example: "placectl simulate KTH-SP2.swf.gz --procs 100 --policy conservative --out jobs.csv\n" +
			"placectl simulate KTH-SP2.swf.gz --compare fcfs,easy,conservative",
		Exits: []int{},
	})
}

// simulateOptions is what the command line asks for.
type simulateOptions struct {
	trace     string
	procs     int64 // 0 for what the trace says
	policies  []backfill.Policy
	compare   bool
	requested bool
	out       string // "" for none
}

func (r *runner) simulate(c *cli.Context) error {
	o, err := r.simulateOptions(c)
	if err != nil {
		return err
	}
	t, err := r.readTrace(c, o)
	if err != nil {
		return err
	}
	if t.wide > 0 {
		r.notef("skipped %s wider than the machine's %d processors", plural(t.wide, "job"), t.procs)
	}
	runs, err := r.replay(t, o.policies)
	if errors.Is(err, backfill.ErrJob) {
		return usagef(verbName(c), "%s: %w", shownFile(o.trace), err)
	}
	if err != nil {
		return err
	}
	if o.out != "" {
		if err := r.writeStarts(c, o, t, runs[0]); err != nil || o.out == "-" {
			return err
		}
	}
	return r.printSimulations(o, t, runs)
}

func (r *runner) simulateOptions(c *cli.Context) (*simulateOptions, error) {
	if err := wantArgs(c, 1, 1); err != nil {
		return nil, err
	}
	o := &simulateOptions{trace: c.Args().First(), procs: c.Int64("procs"), requested: c.Bool("requested"), out: c.String("out"), compare: c.IsSet("compare")}
	words := []string{c.String("policy")}
	flag := "policy"
	if o.compare {
		flag, words = "compare", strings.Split(c.String("compare"), ",")
	}
	for _, word := range words {
		p := slices.Index(backfill.PolicyNames(), word)
		if p < 0 {
			return nil, usagef(verbName(c), "%s: %w", dashed(flag), wordError(word, backfill.PolicyNames()))
		}
		o.policies = append(o.policies, backfill.Policy(p))
	}
	switch {
	case o.compare && c.IsSet("policy"):
		return nil, usagef(verbName(c), "--policy and --compare exclude each other")
	case o.compare && c.IsSet("out"):
		return nil, usagef(verbName(c), "--out is of one policy; name it with --policy instead of --compare")
	case c.IsSet("out") && o.out == "":
		return nil, usagef(verbName(c), "--out is empty; name a file, or - for standard output")
	case c.IsSet("procs") && (o.procs < 1 || o.procs > backfill.MaxProcs):
		return nil, usagef(verbName(c), "--procs %d: it must be from 1 to %d", o.procs, int64(backfill.MaxProcs))
	}
	return o, nil
}

// replay simulates the policies one after the other; every result is the start
// of each job.
func (r *runner) replay(t *trace, policies []backfill.Policy) ([][]int64, error) {
	const step = 256 // starts between looks at the clock and at an interrupt
	bar := r.progress("simulating: jobs", int64(len(t.jobs)*len(policies)))
	defer bar.done()
	var runs [][]int64
	for _, p := range policies {
		starts, err := backfill.Run(t.procs, t.jobs, p, func(started int) error {
			if started%step != 0 {
				return nil
			}
			bar.add(step)
			return r.ctx.Err()
		})
		if err != nil {
			return nil, err
		}
		runs = append(runs, starts)
	}
	return runs, nil
}
