package main

import (
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/backfill"
	"github.com/placectl/placectl/placer/backfill/swf"
)

// trace is a log that can be simulated.
type trace struct {
	procs   int64
	numbers []int64 // what the log calls the jobs
	jobs    []backfill.Job
	skipped int // entries that are no jobs to simulate
	wide    int // of these: for more processors than the machine has

	cluster *simCluster  // nil to count processors
	asks    []placer.Ask // of each job, on a cluster
	shares  *simShares   // nil for none
}

// first is when the first job is submitted.
func (t *trace) first() int64 {
	first := t.jobs[0].Submit
	for _, j := range t.jobs {
		first = min(first, j.Submit)
	}
	return first
}

// readTrace reads the log that the command line names.
func (r *runner) readTrace(o *simulateOptions) (*trace, error) {
	in, err := r.input(o.trace)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	t := &trace{procs: o.procs, shares: o.shares}
	if o.nodes != "" {
		if t.cluster, err = r.readSimCluster(o); err != nil {
			return nil, malformed(err)
		}
		t.procs = t.cluster.procs
	}
	log, err := swf.NewReader(in)
	if err == nil {
		err = r.readEntries(t, log, o.requested)
	}
	if isMalformed(err) {
		return nil, usagef("%s: %w", shownFile(o.trace), err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", shownFile(o.trace), err)
	}
	if t.procs == 0 {
		if t.procs = machineSize(log); t.procs == 0 {
			return nil, usagef("%s does not say how many processors there are (MaxProcs); name them with --procs", shownFile(o.trace))
		}
	}
	if t.cluster == nil {
		t.dropWide()
	}
	if len(t.jobs) == 0 {
		return nil, usagef("%s has no job that can be replayed; %d skipped", shownFile(o.trace), t.skipped)
	}
	return t, nil
}

// isMalformed tells what is wrong with the file's content from what went wrong
// with reading it.
func isMalformed(err error) bool {
	var line *swf.LineError
	var packed flate.CorruptInputError
	return errors.As(err, &line) || errors.As(err, &packed) || errors.Is(err, gzip.ErrHeader) ||
		errors.Is(err, gzip.ErrChecksum) || errors.Is(err, io.ErrUnexpectedEOF)
}

func (r *runner) readEntries(t *trace, log *swf.Reader, requested bool) error {
	const step = 4096 // entries between looks at the clock and at an interrupt
	bar := r.progress("reading: jobs", 0)
	defer bar.Done()
	for n := 1; ; n++ {
		j, err := log.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if n%step == 0 {
			bar.Add(step)
			if err := r.ctx.Err(); err != nil {
				return err
			}
		}
		e := backfill.Entry{Submit: j.Submit, Run: j.Run, Procs: j.Procs, WantProcs: j.WantProcs, WantTime: j.WantTime}
		job, ok := e.Job(requested)
		if !ok {
			t.skipped++
			continue
		}
		if t.cluster != nil && !t.ask(&job, j) {
			continue
		}
		if t.shares != nil {
			t.shares.take(j)
		}
		t.numbers, t.jobs = append(t.numbers, j.Number), append(t.jobs, job)
	}
}

// machineSize is how many processors the log says there are, 0 when it does not.
// MaxProcs is left out where nodes have one processor each.
func machineSize(log *swf.Reader) int64 {
	for _, label := range []string{"MaxProcs", "MaxNodes"} {
		word, _, _ := strings.Cut(log.Label(label), " ") // notes follow in some logs
		if n, err := strconv.ParseInt(word, 10, 64); err == nil && n >= 1 && n <= backfill.MaxProcs {
			return n
		}
	}
	return 0
}

// dropWide skips jobs that the machine could never run.
func (t *trace) dropWide() {
	kept := 0
	for i, j := range t.jobs {
		if j.Procs <= t.procs {
			t.jobs[kept], t.numbers[kept] = j, t.numbers[i]
			if t.shares != nil {
				t.shares.class[kept] = t.shares.class[i]
			}
			kept++
		}
	}
	t.wide = len(t.jobs) - kept
	t.skipped += t.wide
	t.jobs, t.numbers = t.jobs[:kept], t.numbers[:kept]
	if t.shares != nil {
		t.shares.class = t.shares.class[:kept]
	}
}
