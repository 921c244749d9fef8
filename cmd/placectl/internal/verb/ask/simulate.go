package ask

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/nodefile"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/cmd/placectl/internal/session"
	"github.com/placectl/placectl/cmd/placectl/internal/simulate"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer/backfill"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/urfave/cli/v2"
)

// How would a log of jobs have run under another policy? Package simulate reads the log, replays
// it, and sums up the result.

// Simulate declares the verb simulate.
func Simulate() *session.Verb {
	return &session.Verb{
		Name:     "simulate",
		Category: "Asking",
		Usage:    "replay a workload trace under other policies",
		May:      engine.Anybody,
		Args:     []verbs.Arg{{Name: "TRACE", Kind: verbs.KindFile}},
		Description: "TRACE is a log in the Standard Workload Format, plain or gzip (- for standard input). Only " +
			"processors count; --nodes places jobs on nodes, a chunk for each processor. A run longer than " +
			"requested is swapped with the requested time; without one, a job asked for its run time. Fields after " +
			"18 are read as MetaCentrum writes them. No database is touched.\n\n" +
			"A row has:\n\n" +
			"  jobs, skipped           replayed; left out, without processors or run time, or too wide\n" +
			"  avg_wait, max_wait      mean and longest wait, until the last start\n" +
			"  avg_slowdown            mean of wait plus run over run, of 10 s at least\n" +
			"  utilisation, makespan   share of the machine used until the last end; when that is\n" +
			"  preempted, lost         with --preempt: preemptions, core hours lost; never in a job's\n" +
			"                          first 10 min, nor more than 3 times\n" +
			"  later_4h                with --compare: per cent that start 4 h later than under the first\n" +
			"  promised, slack_used,   with relaxed: jobs promised a start, those that used some slack,\n" +
			"  broken                  and broken promises\n\n" +
			"With --forecast, a row about the starts foretold to jobs that wait at submission:\n\n" +
			"  alone, likely, safe     share that starts by its earliest start alone, likely, safe start\n" +
			"  alone_error, ..._error  median error of these\n" +
			"  safe_worst              safe, in the worst tenth of the log\n" +
			"  safe_wait, asked_wait   mean time to the safe start, and to that by requested times\n" +
			"  safe_short, _middle,    safe, for short, middling and long likely waits\n" +
			"  _long\n\n" +
			"--by shows curves over time, then percentiles of waits and slowdowns by user, class, queue or size.",
		Flags: []cli.Flag{
			&cli.Int64Flag{Name: "procs", Usage: "number of processors `N` (the trace's)"},
			verbs.Choice(&cli.StringFlag{Name: "policy", Value: backfill.EASY.String(), Usage: "backfill `POLICY`"},
				backfill.PolicyNames()...),
			&cli.StringFlag{Category: "nodes", Name: "slack", Usage: "with --policy relaxed: promise the first job a " +
				"start at most `X` times its requested time late (1)"},
			verbs.Choice(&cli.StringFlag{Category: "nodes", Name: "durations",
				Value: simulate.DurationNames[simulate.AskedDurations],
				Usage: "plan by `DURATIONS`: asked, or actual (known in advance)"},
				simulate.DurationNames...),
			&cli.BoolFlag{Name: "forecast", Usage: "show how well starts are forecast instead"},
			&cli.StringFlag{Name: "compare",
				Usage: "compare `POLICIES`, such as fcfs,easy,relaxed:0.5, a row each; with --by the mean waits"},
			&cli.StringFlag{Name: "nodes", Usage: "run on the nodes of `FILE`, as for node import, or lines of " +
				nodefile.MachineFields},
			session.UnitFlag(),
			&cli.StringFlag{Category: "nodes", Name: "node-policy",
				Usage: "`NODES` that a job takes first: a --policy of placectl place (firstavailable)"},
			verbs.Choice(&cli.StringFlag{Category: "class shares", Name: "shares",
				Usage: "cap starts by class shares; a job's requestor is its `COLUMN`: user, group, queue, partition " +
					"or program (a number, or a queue's name in the log)"}, "user", "group", "queue", "partition",
				"program"),
			&cli.StringSliceFlag{Category: "class shares", Name: "class",
				Usage: "with --shares: a class, `NAME=LOAD` (those of the database)"},
			&cli.StringSliceFlag{Category: "class shares", Name: "class-map",
				Usage: "with --shares: requestors of a class, `NAME=REGEXP`"},
			&cli.StringSliceFlag{Category: "nodes", Name: "preempt", Usage: "with --nodes: preempt jobs by `RULE`, " +
				"as for placectl preempt set, with the log's users, groups and queues"},
			&cli.BoolFlag{Category: "nodes", Name: "requested",
				Usage: "use the requested processors, not the allocated ones"},
			&cli.StringFlag{Category: "output", Name: "csv",
				Usage: "write each job's start into `FILE`, with --nodes its nodes, - for standard output alone"},
			&cli.StringFlag{Category: "output", Name: "html", Usage: "write a page into `FILE`, as placectl report " +
				"does; with --nodes it has the jobs of each node"},
			byFlag(),
		},
		Example: "placectl simulate KTH-SP2.swf.gz --procs 100 --policy conservative --csv jobs.csv\n" +
			"placectl simulate KTH-SP2.swf.gz --compare easy,conservative,relaxed\n" +
			"placectl simulate KTH-SP2.swf.gz --compare easy,relaxed:0.5 --by size\n" +
			"placectl simulate KTH-SP2.swf.gz --by user --html trace.html\n" +
			"placectl simulate wagap-2013.swf.gz --nodes wagap-2013.swf.machines --node-policy minresource\n" +
			"placectl simulate wagap-2013.swf.gz --shares queue --class long=1 --class short=3 --class-map long=w " +
			"--class-map short=.*",
		Exclusive: []string{"policy compare", "procs nodes"},
		Access:    verbs.Reads,
		Alone:     true,
		Run:       runSimulation,
	}
}

func runSimulation(r *session.Run, c *cli.Context) error {
	o, err := simulate.ReadFlags(c, c.Args().First(), func() (*fairshare.Settings, error) { return knownShares(r) })
	if err != nil {
		return err
	}
	t, err := readTrace(r, o)
	if err != nil {
		return err
	}
	t.Skipped(r.Notef, r.Debugf)
	if o.Forecast {
		return forecastTrace(r, t, o)
	}
	runs, err := replay(r, t, o.Policies)
	if errors.Is(err, backfill.ErrJob) {
		return usage.Errorf("%s: %w", session.ShownFile(o.Trace), err)
	}
	if err != nil {
		return err
	}
	for _, f := range []struct {
		flag, path string
		content    func() []byte
	}{
		{"csv", o.CSV, func() []byte { return t.AppendStarts(nil, runs[0]) }},
		{"html", o.HTML, func() []byte { page, _ := t.Page(runs[0]).HTML(); return page }},
	} {
		if f.path == "" {
			continue
		}
		if err := notTrace("--"+f.flag, f.path, o.Trace); err != nil {
			return usage.Errorf("%w", err)
		}
		if err := r.WriteFile(f.flag, f.path, f.content()); err != nil || f.path == "-" {
			return err
		}
	}
	if c.IsSet("by") {
		what, err := trendsBy(c)
		if err != nil {
			return err
		}
		if o.Compare {
			return printCompared(r, what, runs, t.Compare(runs, what))
		}
		return printTrends(r, t.Series(runs[0]), what, t.Waits(runs[0], what))
	}
	p := r.Printer(t.Result(o.Policies, !o.Compare))
	for i := range runs {
		p.Row(t.Row(runs, i, !o.Compare)...)
	}
	return p.Close()
}

// forecastTrace reports how well starts are forecast under each policy.
func forecastTrace(r *session.Run, t *simulate.Trace, o *simulate.Asked) error {
	bar := r.Progress("simulating: jobs", int64(t.Jobs()*len(o.Policies)))
	defer bar.Done()
	p := r.Printer(simulate.ForecastResult)
	for _, rule := range o.Policies {
		row, err := t.Forecast(rule, replayed(r, bar))
		if errors.Is(err, backfill.ErrJob) {
			return usage.Errorf("%s: %w", session.ShownFile(o.Trace), err)
		}
		if err != nil {
			return err
		}
		p.Row(row...)
	}
	return p.Close()
}

// printCompared prints the mean waits under several policies, and their difference from those
// under the first.
func printCompared(r *session.Run, what string, runs []*simulate.Run, groups []simulate.Compared) error {
	p := r.Printer(
		output.Result{Columns: []output.Column{{Name: "of"}, {Name: "name"}, {Name: "jobs", Kind: output.Integer},
			{Name: "policy"},
			{Name: "mean_wait", Kind: output.Duration}, {Name: "difference", Kind: output.Duration}}})
	for _, g := range groups {
		for i, w := range g.Waits {
			p.Row(what, output.OrNil(g.Name), g.Jobs, runs[i].Rule.String(), time.Duration(w)*time.Second,
				time.Duration(w-g.Waits[0])*time.Second)
		}
	}
	return p.Close()
}

// knownShares returns the database's class shares.
func knownShares(r *session.Run) (s *fairshare.Settings, err error) {
	err = r.View(func(tx *engine.Tx) (err error) { s, err = tx.Shares().Get(); return err })
	if err == nil && len(s.Loads) == 0 {
		err = usage.Errorf("--shares: %s has no classes; name them with --class NAME=LOAD", r.DB)
	}
	return s, err
}

// readTrace reads the log that the command line names, and its nodes.
func readTrace(r *session.Run, o *simulate.Asked) (*simulate.Trace, error) {
	in, err := r.Input(o.Trace)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	options := &simulate.Options{Name: session.ShownFile(o.Trace), Procs: o.Procs, Requested: o.Requested,
		Durations: o.Durations, Shares: o.Shares, Ranks: o.Ranks}
	if o.Nodes != "" {
		text, err := r.ReadText(o.Nodes)
		if err != nil {
			return nil, err
		}
		if options.Cluster, err = simulate.ReadCluster(text, o.NodePolicy, o.Units); err != nil {
			return nil, session.Malformed(err)
		}
	}
	bar := r.Progress("reading: jobs", 0)
	defer bar.Done()
	options.Progress = func(entries int64) error {
		bar.Add(entries)
		return r.Ctx.Err()
	}
	return simulate.Read(in, options)
}

// replay simulates the policies one after the other.
func replay(r *session.Run, t *simulate.Trace, policies []simulate.Rule) ([]*simulate.Run, error) {
	bar := r.Progress("simulating: jobs", int64(t.Jobs()*len(policies)))
	defer bar.Done()
	var runs []*simulate.Run
	for _, p := range policies {
		run, err := t.Run(p, replayed(r, bar))
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	return runs, nil
}

// replayed returns a function that advances a bar by the jobs that have started, and checks for an
// interrupt.
func replayed(r *session.Run, bar *output.Progress) func(started int) error {
	const step = 256 // starts between looks at the clock and at an interrupt
	return func(started int) error {
		if started%step != 0 {
			return nil
		}
		bar.Add(step)
		return r.Ctx.Err()
	}
}

// notTrace refuses to overwrite the log that was read.
func notTrace(flag, path, trace string) error {
	from, err := os.Stat(trace)
	if err != nil {
		return nil
	}
	if to, err := os.Stat(path); err == nil && os.SameFile(from, to) && to.Mode().IsRegular() {
		return fmt.Errorf("%s %s would overwrite the trace", flag, text.Quoted(path))
	}
	return nil
}
