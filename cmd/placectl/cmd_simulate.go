package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/nodefile"
	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/backfill"
	"github.com/placectl/placectl/placer/cluster"
	"github.com/urfave/cli/v2"
)

// What would have come of a log of jobs under another policy. simulate_trace.go
// reads the log, package backfill replays it, simulate_report.go says what came
// of it.

func simulateVerb() *verb {
	return &verb{
		Name:     "simulate",
		Category: "Asking",
		Usage:    "replay a workload trace: what jobs would have waited under a backfill policy",
		Args:     []verbs.Arg{{Name: "TRACE", Kind: verbs.KindFile}},
		Description: "TRACE (- for standard input) is a log in the Standard Workload Format, plain or gzip. Processors are counted,\n" +
			"or with --nodes jobs are placed on nodes, by the same code as placectl place, each as N chunks of a cpu (and of\n" +
			"the memory asked for a processor, where nodes have some). Logs of MetaCentrum say behind field 18 what jobs asked\n" +
			"of nodes: that is what they get, and memory is bytes a job there. No database is touched. The answer has the jobs, those skipped (without processors or\n" +
			"run time, or wider than the machine), their average wait and bounded slowdown (the wait and the run over the\n" +
			"run, of 10 s at least), the longest wait, and the part of the machine used until the last end (makespan).\n" +
			"Of a run longer than its requested time, the two change places. Jobs without a requested time asked for what\n" +
			"they ran.",
		Flags: []cli.Flag{
			&cli.Int64Flag{Name: "procs", Usage: "processors of the machine: `N` (the trace's MaxProcs, else MaxNodes)"},
			&cli.StringFlag{Name: "policy", Value: backfill.EASY.String(), Usage: "`POLICY` of the queue: fcfs, easy or conservative"},
			&cli.StringFlag{Name: "compare", Usage: "a row for each of `POLICIES`, such as fcfs,easy,conservative"},
			&cli.StringFlag{Name: "nodes", Usage: "place jobs on the nodes of `FILE`: as placectl node import reads it, or lines of " + nodefile.MachineFields},
			unitFlag(),
			&cli.StringFlag{Name: "node-policy", Usage: "which of the `NODES` that could serve a job it gets: as --policy of placectl place (firstavailable)"},
			&cli.StringFlag{Name: "shares", Usage: "class shares cap what starts; a job's requestor is its `COLUMN`: user, group, queue, partition or program (a number; a queue by its name where the log has one)"},
			&cli.StringSliceFlag{Name: "class", Usage: "with --shares: a class, `NAME=LOAD`; without any, those of the database"},
			&cli.StringSliceFlag{Name: "class-map", Usage: "with --shares: requestors of a class, `NAME=REGEXP`"},
			&cli.StringFlag{Name: "gantt", Usage: "draw what ran on which node into `FILE` as SVG"},
			&cli.BoolFlag{Name: "requested", Usage: "jobs take the processors they asked for, not those they were given"},
			&cli.StringFlag{Name: "out", Usage: "write when each job starts into `FILE` as CSV, - for standard output and nothing else"},
		},
		Example: "placectl simulate KTH-SP2.swf.gz --procs 100 --policy conservative --out jobs.csv\n" +
			"placectl simulate KTH-SP2.swf.gz --compare fcfs,easy,conservative\n" +
			"placectl simulate wagap-2013.swf.gz --nodes wagap-2013.swf.machines --node-policy minresource\n" +
			"placectl simulate wagap-2013.swf.gz --shares queue --class long=1 --class short=3 --class-map long=w --class-map short=.*",
		Exclusive: []string{"policy compare", "procs nodes"},
		Access:    verbs.Reads,
		Alone:     true,
		Run:       (*runner).simulate,
	}
}

// simulateOptions is what the command line asks for.
type simulateOptions struct {
	trace     string
	procs     int64 // 0 for what the trace says
	policies  []backfill.Policy
	compare   bool
	requested bool
	out       string // "" for none

	nodes      string          // the file, "" to count processors
	units      *nodefile.Units // of the file
	nodePolicy placer.Policy
	gantt      string // "" for none

	shares *simShares // nil for none
}

func (r *runner) simulate(c *cli.Context) error {
	o, err := r.simulateOptions(c)
	if err != nil {
		return err
	}
	t, err := r.readTrace(o)
	if err != nil {
		return err
	}
	r.noteSkipped(t)
	runs, err := r.replay(t, o.policies)
	if errors.Is(err, backfill.ErrJob) {
		return usagef("%s: %w", shownFile(o.trace), err)
	}
	if err != nil {
		return err
	}
	if o.out != "" {
		if err := r.writeStarts(o, t, runs[0]); err != nil || o.out == "-" {
			return err
		}
	}
	if o.gantt != "" {
		if err := r.writeSimGantt(o, t, runs[0]); err != nil || o.gantt == "-" {
			return err
		}
	}
	return r.printSimulations(o, t, runs)
}

func (r *runner) simulateOptions(c *cli.Context) (*simulateOptions, error) {
	o := &simulateOptions{trace: c.Args().First(), procs: c.Int64("procs"), requested: c.Bool("requested"), out: c.String("out"), compare: c.IsSet("compare"), nodes: c.String("nodes"), gantt: c.String("gantt")}
	words := []string{c.String("policy")}
	flag := "policy"
	if o.compare {
		flag, words = "compare", strings.Split(c.String("compare"), ",")
	}
	for _, word := range words {
		p := slices.Index(backfill.PolicyNames(), word)
		if p < 0 {
			return nil, usagef("%s: %w", verbs.Dashed(flag), spell.NotOneOf(word, backfill.PolicyNames()))
		}
		o.policies = append(o.policies, backfill.Policy(p))
	}
	switch {
	case o.compare && c.IsSet("out"):
		return nil, usagef("--out is of one policy; name it with --policy instead of --compare")
	case o.compare && c.IsSet("gantt"):
		return nil, usagef("--gantt is of one policy; name it with --policy instead of --compare")
	case c.IsSet("out") && o.out == "":
		return nil, usagef("--out is empty; name a file, or - for standard output")
	case c.IsSet("procs") && (o.procs < 1 || o.procs > backfill.MaxProcs):
		return nil, usagef("--procs %d: it must be from 1 to %d", o.procs, int64(backfill.MaxProcs))
	}
	if err := o.readNodeFlags(c); err != nil {
		return nil, err
	}
	return o, r.readShares(c, o)
}

// replay simulates the policies one after the other.
func (r *runner) replay(t *trace, policies []backfill.Policy) ([]*simulated, error) {
	const step = 256 // starts between looks at the clock and at an interrupt
	bar := r.progress("simulating: jobs", int64(len(t.jobs)*len(policies)))
	defer bar.Done()
	var runs []*simulated
	for _, p := range policies {
		run, err := t.simulate(p, func(started int) error {
			if started%step != 0 {
				return nil
			}
			bar.Add(step)
			return r.ctx.Err()
		})
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// simulated is what came of a policy.
type simulated struct {
	policy backfill.Policy
	starts []int64              // of each job
	placed []*cluster.Placement // of each job, nil where processors were counted
}

func (t *trace) simulate(p backfill.Policy, progress func(int) error) (run *simulated, err error) {
	run = &simulated{policy: p}
	if t.cluster != nil {
		return run, t.onNodes(run, progress)
	}
	if t.shares != nil {
		run.starts, err = backfill.RunShared(t.procs, t.shares.gate(t), t.jobs, p, progress)
	} else {
		run.starts, err = backfill.Run(t.procs, t.jobs, p, progress)
	}
	return run, err
}

// onNodes simulates on a cluster that is empty at first.
func (t *trace) onNodes(run *simulated, progress func(int) error) error {
	c, err := t.cluster.empty(t.first())
	if err != nil {
		return err
	}
	run.placed = make([]*cluster.Placement, len(t.jobs))
	log := &cluster.Log{Jobs: t.jobs, Asks: t.asks, Policy: run.policy, Progress: progress,
		Placed: func(p *cluster.Placement) { run.placed[p.Owner] = p }}
	if t.shares != nil {
		log.Gate = t.shares.gate(t)
	}
	run.starts, err = cluster.Replay(c, log)
	return err
}
