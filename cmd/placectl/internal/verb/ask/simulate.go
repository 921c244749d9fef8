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
	"github.com/placectl/placectl/cmd/placectl/internal/trends"
	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/cmd/placectl/internal/verbs"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer/backfill"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/store"
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
		May:      store.Anybody,
		Args:     []verbs.Arg{{Name: "TRACE", Kind: verbs.KindFile}},
		Description: "TRACE (- for standard input) is a log in the Standard Workload Format, plain or gzip. Processors are counted,\n" +
			"or with --nodes jobs are placed on nodes, by the same code as placectl place, each as N chunks of a cpu (and of\n" +
			"the memory asked for a processor, where nodes have some). No database is touched.\n\nLogs of MetaCentrum say behind field 18 what jobs asked\n" +
			"of nodes: that is what they get, and memory is bytes a job there. The answer has the jobs, those skipped (without processors or\n" +
			"run time, or wider than the machine), their average wait and bounded slowdown (the wait and the run over the\n" +
			"run, of 10 s at least), the longest wait, and the part of the machine used until the last end (makespan).\n" +
			"With --preempt there is how often jobs made way (preempted) and the core hours that were lost; a job waits until\n" +
			"it starts for the last time. None is stopped in its first 10 min, nor more than 3 times.\n" +
			"With --by the waits and slowdowns of each user, class, queue or size in cpus, in percentiles, behind curves over time,\n" +
			"instead. With --compare the share of jobs that start more than 4 h later than under the first policy is there\n" +
			"(later_4h, in per cent), and of relaxed how many jobs were promised a start, how many used some of the slack, and\n" +
			"how many promises were broken.\n" +
			"With --forecast each job that has to wait gets a likely and a safe start when it is submitted, learned from jobs that\n" +
			"had ended by then. The answer has the share of jobs that started by the earliest start that a job has alone (alone),\n" +
			"by their likely and by their safe start; the median errors; the share by the safe start in the worst tenth of the\n" +
			"log; the mean time to the safe start, and to the one by requested times (asked_wait); and the share by the safe\n" +
			"start where the likely wait is short, middling and long.\n" +
			"Of a run longer than its requested time, the two change places. Jobs without a requested time asked for what\n" +
			"they ran.",
		Flags: []cli.Flag{
			&cli.Int64Flag{Name: "procs", Usage: "number of processors `N` (the trace's)"},
			verbs.Choice(&cli.StringFlag{Name: "policy", Value: backfill.EASY.String(), Usage: "backfill `POLICY`"}, backfill.PolicyNames()...),
			&cli.StringFlag{Category: "nodes", Name: "slack", Usage: "with --policy relaxed: promise the first job a start at most `X` times its requested time late (1)"},
			verbs.Choice(&cli.StringFlag{Category: "nodes", Name: "durations", Value: simulate.DurationNames[simulate.AskedDurations], Usage: "plan by `DURATIONS`: asked, actual (known in advance) or learned (EASY++: the mean of the user's last two, the shortest first)"}, simulate.DurationNames...),
			&cli.BoolFlag{Name: "forecast", Usage: "show how well starts are forecast instead"},
			&cli.StringFlag{Name: "compare", Usage: "compare `POLICIES`, such as fcfs,easy,relaxed:0.5, a row each; with --by the mean waits"},
			&cli.StringFlag{Name: "nodes", Usage: "run on the nodes of `FILE`, as for node import, or lines of " + nodefile.MachineFields},
			session.UnitFlag(),
			&cli.StringFlag{Category: "nodes", Name: "node-policy", Usage: "`NODES` that a job takes first: a --policy of placectl place (firstavailable)"},
			verbs.Choice(&cli.StringFlag{Category: "class shares", Name: "shares", Usage: "cap starts by class shares; a job's requestor is its `COLUMN`: user, group, queue, partition or program (a number, or a queue's name in the log)"}, "user", "group", "queue", "partition", "program"),
			&cli.StringSliceFlag{Category: "class shares", Name: "class", Usage: "with --shares: a class, `NAME=LOAD` (those of the database)"},
			&cli.StringSliceFlag{Category: "class shares", Name: "class-map", Usage: "with --shares: requestors of a class, `NAME=REGEXP`"},
			&cli.StringSliceFlag{Category: "nodes", Name: "preempt", Usage: "with --nodes: preempt jobs by `RULE`, as for placectl preempt set, with the log's users, groups and queues"},
			&cli.BoolFlag{Category: "nodes", Name: "requested", Usage: "use the requested processors, not the allocated ones"},
			&cli.StringFlag{Category: "output", Name: "csv", Usage: "write each job's start into `FILE`, with --nodes its nodes, - for standard output alone"},
			&cli.StringFlag{Category: "output", Name: "html", Usage: "write a page as placectl report does, into `FILE`; with --nodes with the jobs of each node"},
			byFlag(),
		},
		Example: "placectl simulate KTH-SP2.swf.gz --procs 100 --policy conservative --csv jobs.csv\n" +
			"placectl simulate KTH-SP2.swf.gz --compare easy,conservative,relaxed\n" +
			"placectl simulate KTH-SP2.swf.gz --compare easy,relaxed:0.5 --by size\n" +
			"placectl simulate KTH-SP2.swf.gz --by user --html trace.html\n" +
			"placectl simulate wagap-2013.swf.gz --nodes wagap-2013.swf.machines --node-policy minresource\n" +
			"placectl simulate wagap-2013.swf.gz --shares queue --class long=1 --class short=3 --class-map long=w --class-map short=.*",
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
		of, what, err := trendsBy(c)
		if err != nil {
			return err
		}
		if o.Compare {
			return printCompared(r, what, runs, t.Compare(runs, of))
		}
		return printTrends(r, t.Series(runs[0]), what, trends.Waits(t.Trends(runs[0]), of))
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
	p := r.Printer(output.Result{Columns: []output.Column{{Name: "of"}, {Name: "name"}, {Name: "jobs", Kind: output.Integer}, {Name: "policy"},
		{Name: "mean_wait", Kind: output.Duration}, {Name: "difference", Kind: output.Duration}}})
	for _, g := range groups {
		for i, w := range g.Waits {
			p.Row(what, output.OrNil(g.Name), g.Jobs, runs[i].Rule.String(), time.Duration(w)*time.Second, time.Duration(w-g.Waits[0])*time.Second)
		}
	}
	return p.Close()
}

// knownShares returns the database's class shares.
func knownShares(r *session.Run) (s *fairshare.Settings, err error) {
	err = r.View(func(tx *store.Tx) (err error) { s, err = tx.Shares().Get(); return err })
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
	options := &simulate.Options{Name: session.ShownFile(o.Trace), Procs: o.Procs, Requested: o.Requested, Durations: o.Durations, Shares: o.Shares, Ranks: o.Ranks}
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
