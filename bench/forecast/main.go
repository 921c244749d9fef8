// Command forecast measures, on logs of jobs, the waits under each kind of backfilling and how well
// starts are forecast. Forecasts are those that waiting jobs get when they are submitted.
//
//	go run ./bench/forecast [-every N] [-short] [-only TEXT] [LOG PROCS]
//
// Forecasts learn only from jobs that have ended, and from forecasts whose jobs have started.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/placectl/placectl/placer/backfill"
	"github.com/placectl/placectl/placer/backfill/swf"
	"github.com/placectl/placectl/placer/forecast/backtest"
)

// A workload is a log and its machine.
type workload struct {
	path  string
	procs int64
}

var workloads = []workload{
	{"placer/backfill/testdata/KTH-SP2-1996-2.strongfilter.swf.gz", 100},
	{"placer/backfill/testdata/lublin_256.reqrun.swf.gz", 256},
	{"cmd/placectl/internal/demo/data/wagap-2013.swf.gz", 2176},
}

func main() {
	every := flag.Int("every", 0, "of `N` jobs that have to wait one gets a forecast (0: so that about 3,000 do)")
	short := flag.Bool("short", false, "only the first 3,000 jobs of each log")
	only := flag.String("only", "", "only logs whose name holds this `text`")
	flag.Parse()
	list := workloads
	if flag.NArg() == 2 {
		procs, err := strconv.ParseInt(flag.Arg(1), 10, 64)
		if err != nil {
			fail(err)
		}
		list = []workload{{flag.Arg(0), procs}}
	}
	if err := schedules(list, *only, *short); err != nil {
		fail(err)
	}
	t := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "log\tpolicy\tforecasts\talone: late\terr, min\tlikely: covers\terr, min\tsafe: covers\tworst "+
		"tenth\tsafe wait, h\tby A, h\tms each\t")
	for _, w := range list {
		if !strings.Contains(w.path, *only) {
			continue
		}
		for _, p := range []backfill.Policy{backfill.EASY, backfill.Relaxed} {
			if err := w.measure(t, p, *every, *short); err != nil {
				fail(err)
			}
		}
	}
	t.Flush()
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "forecast:", err)
	os.Exit(1)
}

// measure prints the row of a policy.
func (w workload) measure(t io.Writer, p backfill.Policy, every int, short bool) error {
	log, err := w.read()
	if err != nil {
		return err
	}
	if short {
		shorten(log)
	}
	log.Policy, log.Slack, log.Every = p, backfill.DefaultSlack, every
	if every == 0 {
		log.Every = max(1, len(log.Jobs)/10000)
	}
	began := time.Now()
	_, made, err := backtest.Replay(log)
	if err != nil {
		return err
	}
	s := backtest.Sum(made)
	each := time.Since(began).Seconds() * 1000 / float64(max(1, len(made)))
	fmt.Fprintf(t, "%s\t%s\t%d\t%.2f\t%.1f\t%.2f\t%.1f\t%.2f\t%.2f\t%.1f\t%.1f\t%.2f\t\n", w.name(), p, s.Forecasts,
		s.LateAlone, s.ErrorAlone, s.Likely, s.Error, s.Safe, s.Worst, s.SafeWait, s.AskedWait, each)
	return nil
}

func (w workload) name() string { return strings.SplitN(filepath.Base(w.path), ".", 2)[0] }

// shorten keeps the first 3,000 jobs of a log.
func shorten(log *backtest.Log) {
	n := min(3000, len(log.Jobs))
	log.Jobs, log.Of = log.Jobs[:n], log.Of[:n]
}

// read reads the log.
func (w workload) read() (*backtest.Log, error) {
	f, err := os.Open(w.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in, err := swf.NewReader(f)
	if err != nil {
		return nil, err
	}
	log := &backtest.Log{Procs: w.procs}
	for {
		j, err := in.Next()
		if err == io.EOF {
			return log, nil
		}
		if err != nil {
			return nil, err
		}
		e := backfill.Entry{Submit: j.Submit, Run: j.Run, Procs: j.Procs, WantProcs: j.WantProcs, WantTime: j.WantTime}
		job, ok := e.Job(false)
		if !ok || job.Procs > w.procs {
			continue
		}
		log.Jobs = append(log.Jobs, job)
		log.Of = append(log.Of, backtest.JobOf(job, j))
	}
}
