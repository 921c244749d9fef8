package daily

import (
	"cmp"
	"container/heap"
	"slices"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/listing"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
)

// Ended returns the states of jobs that have ended.
func Ended() (states []engine.JobState) {
	for _, s := range engine.JobStates() {
		if !s.Live() {
			states = append(states, s)
		}
	}
	return states
}

// Past is an ended job and what it used. Times are the sums over all its attempts, memory is the
// maximum.
type Past struct {
	*engine.Job
	Wait  any // time until it started, nil if it never did
	Ran   any // time from then on
	CPU   any // processor time, nil if not measured
	Mem   any // bytes
	ended string
}

// past reads what a job used.
func past(tx *engine.Tx, j *engine.Job, zone *time.Location) (*Past, error) {
	p := &Past{Job: j, ended: text.BriefTime(j.End, tx.Now(), zone)}
	if !j.Start.IsZero() && !j.Start.After(j.End) {
		p.Wait, p.Ran = max(j.Start.Sub(j.Submit), 0), j.End.Sub(j.Start)
	}
	var cpu time.Duration
	var mem int64
	err := tx.Attempts().Each(j.ID, func(a *engine.Attempt) error {
		cpu += a.Use.CPUUser + a.Use.CPUSystem
		mem = max(mem, cmp.Or(a.Use.MemPeak, a.Use.MaxRSS))
		return nil
	})
	p.CPU, p.Mem = output.OrNil(cpu), output.OrNil(mem)
	return p, err
}

// exit says how the job ended, as briefly as possible.
func (p *Past) exit() any {
	if !p.HasExit() {
		return nil
	}
	return p.Exit
}

// reason says why the job did not finish, unless its exit status says all.
func (p *Past) reason() any {
	if p.State == engine.JobFinished || p.Reason.Cause.String() == "exited" {
		return nil
	}
	return output.OrNil(p.Reason.String())
}

// pastLine are the columns of an ended job for people.
var pastLine = output.Fields[*Past]{
	{Name: "job", Value: func(p *Past) any { return p.ID }},
	{Name: "name", Least: 5, Value: func(p *Past) any { return output.OrNil(p.Name) }},
	{Name: "user", Least: 5, Value: func(p *Past) any { return output.OrNil(p.User) }},
	{Name: "state", Value: func(p *Past) any { return p.State.String() }},
	{Name: "ended", Value: func(p *Past) any { return p.ended }},
	{Name: "waited", Kind: output.Duration, Value: func(p *Past) any { return p.Wait }},
	{Name: "took", Kind: output.Duration, Value: func(p *Past) any { return p.Ran }},
	{Name: "of", Kind: output.Duration, Value: func(p *Past) any { return p.Walltime }},
	{Name: "cpu", Kind: output.Duration, Value: func(p *Past) any { return p.CPU }},
	{Name: "mem", Kind: output.Size, Value: func(p *Past) any { return p.Mem }},
	{Name: "exit", Kind: output.Integer, Value: func(p *Past) any { return p.exit() }},
	{Name: "reason", Sparse: true, Value: func(p *Past) any { return p.reason() }},
}

// Latest returns the jobs that ended last, the latest first, at most most of them (0: all).
func (f Filter) Latest(tx *engine.Tx, most int) ([]*engine.Job, error) {
	if len(f.States) == 0 {
		f.States = Ended()
	}
	var h latest
	err := f.Each(tx, func(j *engine.Job) error {
		switch {
		case j.State.Live():
		case most > 0 && len(h) == most && !endsBefore(h[0], j):
		case most > 0 && len(h) == most:
			h[0] = j
			heap.Fix(&h, 0)
		default:
			heap.Push(&h, j)
		}
		return nil
	})
	slices.SortFunc(h, func(a, b *engine.Job) int { return -compareEnds(a, b) })
	return h, err
}

// pastRecord names the attributes that programs get of ended jobs.
const pastRecord = "job name user queue class account state submit start end wait run walltime cpu_time mem_peak " +
	"exit attempt nodes reason reason_code array index backfilled"

// PrintHistory prints the jobs that ended last: a line each for people, otherwise records.
func PrintHistory(begin func(output.Result) *output.Printer, tx *engine.Tx, zone *time.Location, f *Filter, most int,
	brief bool) error {
	jobs, err := f.Latest(tx, most)
	if err != nil {
		return err
	}
	if !brief {
		p := listing.PrintJobs(begin, tx, false, pastRecord)
		for _, j := range jobs {
			p.Print(j)
		}
		return p.Close()
	}
	p := begin(output.Result{Columns: pastLine.Columns()})
	for _, j := range jobs {
		of, err := past(tx, j, zone)
		if err != nil {
			return err
		}
		if err := pastLine.Print(p, of); err != nil {
			return err
		}
	}
	return p.Close()
}

// latest is a heap with the job that ended first at its top.
type latest []*engine.Job

func compareEnds(a, b *engine.Job) int { return cmp.Or(a.End.Compare(b.End), cmp.Compare(a.ID, b.ID)) }
func endsBefore(a, b *engine.Job) bool { return compareEnds(a, b) < 0 }

func (h latest) Len() int           { return len(h) }
func (h latest) Less(i, k int) bool { return endsBefore(h[i], h[k]) }
func (h latest) Swap(i, k int)      { h[i], h[k] = h[k], h[i] }
func (h *latest) Push(x any)        { *h = append(*h, x.(*engine.Job)) }
func (h *latest) Pop() any          { panic("placectl: nothing is taken out of a list of the latest") }
