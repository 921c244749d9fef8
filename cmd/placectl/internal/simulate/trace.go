// Package simulate replays a log of jobs under other policies. It reads the log, and optionally nodes
// and class shares for its jobs. Package placer/backfill or placer/cluster runs them, and simulate sums
// up the result as rows, as CSV and as a drawing. It touches no database.
package simulate

import (
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/placectl/placectl/cmd/placectl/internal/usage"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/backfill"
	"github.com/placectl/placectl/placer/backfill/swf"
	"github.com/placectl/placectl/placer/forecast"
	"github.com/placectl/placectl/placer/forecast/backtest"
	"github.com/placectl/placectl/placer/preempt"
)

// Options say how to read a log.
type Options struct {
	Name      string         // of the log, for messages
	Procs     int64          // of the machine; 0 for the log's number
	Durations Durations      // the durations that plans assume
	Requested bool           // jobs take the processors that they requested
	Cluster   *Cluster       // nil to count processors
	Shares    *Shares        // nil for none
	Ranks     *preempt.Ranks // ranks for preemption, on a cluster; nil: none
	// Progress is called with the number of further entries read. Its error ends the reading.
	Progress func(entries int64) error
}

// Trace is a log that can be simulated.
type Trace struct {
	name    string // for messages
	procs   int64
	numbers []int64 // the log's job numbers
	origins []origin
	jobs    []backfill.Job
	of      []forecast.Job // the same jobs, for forecasting durations
	began   int64          // start of the log in Unix seconds, 0 if unknown
	skipped int            // entries that are not simulated
	wide    int            // those that need more processors than the machine has

	cluster *Cluster     // nil to count processors
	asks    []placer.Ask // one for each job, on a cluster
	shares  *Shares      // nil for none
	planned Durations    // the durations that plans assume
	ranks   *preempt.Ranks
}

// first returns when the first job is submitted.
func (t *Trace) first() int64 {
	first := t.jobs[0].Submit
	for _, j := range t.jobs {
		first = min(first, j.Submit)
	}
	return first
}

// Read reads a log, plain or gzip. It fails with a usage.Error if the log is malformed, or has no job
// to replay.
func Read(in io.Reader, o *Options) (*Trace, error) {
	t := &Trace{name: o.Name, procs: o.Procs, cluster: o.Cluster, shares: o.Shares, ranks: o.Ranks,
		planned: o.Durations}
	if t.cluster != nil {
		t.procs = t.cluster.procs
	}
	log, err := swf.NewReader(in)
	if err == nil {
		err = t.readEntries(log, o)
	}
	if isMalformed(err) {
		return nil, usage.Errorf("%s: %w", o.Name, err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Name, err)
	}
	t.began = max(number(log.Label("UnixStartTime")), 0)
	if t.procs == 0 {
		if t.procs = machineSize(log); t.procs == 0 {
			return nil, usage.Errorf("%s does not give the number of processors (MaxProcs): add --procs", o.Name)
		}
	}
	if t.cluster == nil {
		t.dropWide()
	}
	if len(t.jobs) == 0 {
		return nil, usage.Errorf("%s has no jobs to replay; %d skipped", o.Name, t.skipped)
	}
	return t, nil
}

// Skipped says which jobs are not in the simulation, and why. note gets what all users should know,
// detail the rest.
func (t *Trace) Skipped(note, detail func(format string, args ...any)) {
	if t.wide > 0 {
		note("skipped %s wider than the machine's %d processors", text.Plural(t.wide, "job"), t.procs)
	}
	if t.cluster == nil {
		return
	}
	unfit, most := 0, ""
	for _, why := range slices.Sorted(maps.Keys(t.cluster.unfit)) {
		n := t.cluster.unfit[why]
		detail("%s: %s", text.Plural(n, "job"), why)
		if unfit += n; most == "" || n > t.cluster.unfit[most] {
			most = why
		}
	}
	if unfit > 0 {
		note("skipped %s that the nodes can never serve, such as (-v lists all): %s", text.Plural(unfit, "job"), most)
	}
	if n := t.cluster.avoided; n > 0 {
		note("%s asked to be kept off some nodes (^), which is left out", text.Plural(n, "job"))
	}
}

// isMalformed reports whether reading failed because of the file's content.
func isMalformed(err error) bool {
	var line *swf.LineError
	var packed flate.CorruptInputError
	return errors.As(err, &line) || errors.As(err, &packed) || errors.Is(err, gzip.ErrHeader) ||
		errors.Is(err, gzip.ErrChecksum) || errors.Is(err, io.ErrUnexpectedEOF)
}

func (t *Trace) readEntries(log *swf.Reader, o *Options) error {
	const step = 4096 // entries between looks at the clock and at an interrupt
	for n := 1; ; n++ {
		j, err := log.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if n%step == 0 {
			if err := o.Progress(step); err != nil {
				return err
			}
		}
		e := backfill.Entry{Submit: j.Submit, Run: j.Run, Procs: j.Procs, WantProcs: j.WantProcs, WantTime: j.WantTime}
		job, ok := e.Job(o.Requested)
		if !ok {
			t.skipped++
			continue
		}
		if o.Durations == ActualDurations {
			job.Request = max(1, job.Run)
		}
		if t.cluster != nil && !t.ask(&job, j) {
			continue
		}
		if t.shares != nil {
			t.shares.take(j)
		}
		t.numbers, t.jobs, t.origins = append(t.numbers, j.Number), append(t.jobs, job), append(t.origins, originOf(j))
		t.of = append(t.of, backtest.JobOf(job, j))
	}
}

// machineSize returns the log's number of processors, 0 if it is missing. Logs of one-processor nodes
// omit MaxProcs.
func machineSize(log *swf.Reader) int64 {
	for _, label := range []string{"MaxProcs", "MaxNodes"} {
		if n := number(log.Label(label)); n >= 1 && n <= backfill.MaxProcs {
			return n
		}
	}
	return 0
}

// number parses the number at the beginning of a label, 0 if there is none. In some logs notes follow.
func number(label string) int64 {
	word, _, _ := strings.Cut(label, " ")
	n, err := strconv.ParseInt(word, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// decade tells instants of a log that count from its start from those in Unix seconds.
const decade = 10 * 365 * 86400

// move returns what to add to the log's instants. They become Unix seconds if the log says when it
// began. No job is submitted at 0, because a start at 0 means that it has not started.
func (t *Trace) move() int64 {
	first := t.first()
	if t.began > 0 && first < decade {
		return t.began
	}
	return max(1-first, 0)
}

// isDated reports whether the jobs' times of submission are known.
func (t *Trace) isDated() bool { return t.first()+t.move() >= decade }

// dropWide skips jobs that the machine could never run.
func (t *Trace) dropWide() {
	kept := 0
	for i, j := range t.jobs {
		if j.Procs <= t.procs {
			t.jobs[kept], t.numbers[kept], t.origins[kept], t.of[kept] = j, t.numbers[i], t.origins[i], t.of[i]
			if t.shares != nil {
				t.shares.class[kept] = t.shares.class[i]
			}
			kept++
		}
	}
	t.wide = len(t.jobs) - kept
	t.skipped += t.wide
	t.jobs, t.numbers, t.origins, t.of = t.jobs[:kept], t.numbers[:kept], t.origins[:kept], t.of[:kept]
	if t.shares != nil {
		t.shares.class = t.shares.class[:kept]
	}
}
