package daily

import (
	"cmp"
	"container/heap"
	"slices"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/nouns"
	"github.com/placectl/placectl/cmd/placectl/internal/output"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/store"
)

// Ended are the states of jobs that have ended.
func Ended() (states []store.JobState) {
	for _, s := range store.JobStates() {
		if !s.Live() {
			states = append(states, s)
		}
	}
	return states
}

// Past is a job that has ended, and what it took: of all its attempts together, but for the
// memory, which is the most that any of them had.
type Past struct {
	*store.Job
	Nodes []string
	Wait  any // until it started, nil where it never did
	Ran   any // from then on
	CPU   any // processor time, nil where nobody has counted
	Mem   any // bytes
	Times int // how many attempts there were
	ended string
}

// past reads what a job took.
func past(tx *store.Tx, j *store.Job, zone *time.Location) (*Past, error) {
	nodes, err := tx.NodeNames(j.AllNodes())
	if err != nil {
		return nil, err
	}
	p := &Past{Job: j, Nodes: nodes, ended: text.BriefTime(j.End, tx.Now(), zone)}
	if !j.Start.IsZero() && !j.Start.After(j.End) {
		p.Wait, p.Ran = max(j.Start.Sub(j.Submit), 0), j.End.Sub(j.Start)
	}
	var cpu time.Duration
	var mem int64
	err = tx.EachAttempt(j.ID, func(a *store.Attempt) error {
		p.Times++
		cpu += a.Use.CPUUser + a.Use.CPUSystem
		mem = max(mem, cmp.Or(a.Use.MemPeak, a.Use.MaxRSS))
		return nil
	})
	if cpu > 0 {
		p.CPU = cpu
	}
	if mem > 0 {
		p.Mem = mem
	}
	return p, err
}

// exit is how it ended, in as few words as are true.
func (p *Past) exit() any {
	if !p.HasExit() {
		return nil
	}
	return p.Exit
}

// pastFields are all that answers show of jobs that have ended.
var pastFields = output.Fields[*Past]{
	{Name: "job", Value: func(p *Past) any { return nouns.JobID(p.Job) }},
	{Name: "name", Least: 5, Value: func(p *Past) any { return output.OrNil(p.Name) }},
	{Name: "user", Least: 5, Value: func(p *Past) any { return output.OrNil(p.User) }},
	{Name: "queue", Value: func(p *Past) any { return output.OrNil(p.Queue) }},
	{Name: "class", Value: func(p *Past) any { return output.OrNil(p.Class) }},
	{Name: "account", Value: func(p *Past) any { return output.OrNil(p.Account) }},
	{Name: "state", Value: func(p *Past) any { return p.State.String() }},
	{Name: "ended", Value: func(p *Past) any { return p.ended }},
	{Name: "submit", Kind: output.Time, Value: func(p *Past) any { return p.Submit }},
	{Name: "start", Kind: output.Time, Value: func(p *Past) any { return output.OrNil(p.Start) }},
	{Name: "end", Kind: output.Time, Value: func(p *Past) any { return p.End }},
	{Name: "wait", Kind: output.Duration, Value: func(p *Past) any { return p.Wait }},
	{Name: "ran", Kind: output.Duration, Value: func(p *Past) any { return p.Ran }},
	{Name: "waited", Kind: output.Duration, Value: func(p *Past) any { return roughly(p.Wait) }},
	{Name: "took", Kind: output.Duration, Value: func(p *Past) any { return roughly(p.Ran) }},
	{Name: "of", Kind: output.Duration, Value: func(p *Past) any { return roughly(p.Walltime) }},
	{Name: "walltime", Kind: output.Duration, Value: func(p *Past) any { return p.Walltime }},
	{Name: "cpu", Kind: output.Duration, Value: func(p *Past) any { return p.CPU }},
	{Name: "mem", Kind: output.Size, Value: func(p *Past) any { return p.Mem }},
	{Name: "exit", Kind: output.Integer, Value: func(p *Past) any { return p.exit() }},
	{Name: "attempts", Kind: output.Integer, Value: func(p *Past) any { return p.Times }},
	{Name: "nodes", Kind: output.List, Nodes: true, Least: 5, Value: func(p *Past) any { return p.Nodes }},
	{Name: "reason", Kind: output.Prose, Value: func(p *Past) any { return output.OrNil(p.Why()) }},
}

// What a list of them has: for people, and for programs.
const (
	pastLine   = "job name user state ended waited took of cpu mem exit"
	pastRecord = "job name user queue class account state submit start end wait ran walltime cpu mem exit attempts nodes reason"
)

// roughly is a duration without what people do not look at: the seconds of hours, and the
// minutes of days.
func roughly(v any) any {
	d, ok := v.(time.Duration)
	switch {
	case ok && d >= 24*time.Hour:
		return d.Round(time.Hour)
	case ok && d >= time.Hour:
		return d.Round(time.Minute)
	}
	return v
}

// Latest finds the jobs that ended last, at most so many (0: all), the last of them first.
func (f Filter) Latest(tx *store.Tx, most int) ([]*store.Job, error) {
	if len(f.States) == 0 {
		f.States = Ended()
	}
	var h latest
	err := f.Each(tx, func(j *store.Job) error {
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
	slices.SortFunc(h, func(a, b *store.Job) int { return -compareEnds(a, b) })
	return h, err
}

// PrintHistory prints the jobs that ended last, brief for people.
func PrintHistory(begin func(output.Result) *output.Printer, tx *store.Tx, zone *time.Location, f *Filter, most int, brief bool) error {
	jobs, err := f.Latest(tx, most)
	if err != nil {
		return err
	}
	fields := pastFields.Pick(pastRecord)
	if brief {
		fields = pastFields.Pick(pastLine)
	}
	p := begin(output.Result{Columns: fields.Columns()})
	for _, j := range jobs {
		of, err := past(tx, j, zone)
		if err != nil {
			return err
		}
		if err := fields.Print(p, of); err != nil {
			return err
		}
	}
	return p.Close()
}

// latest is a heap whose first job ended first.
type latest []*store.Job

func compareEnds(a, b *store.Job) int { return cmp.Or(a.End.Compare(b.End), cmp.Compare(a.ID, b.ID)) }
func endsBefore(a, b *store.Job) bool { return compareEnds(a, b) < 0 }

func (h latest) Len() int           { return len(h) }
func (h latest) Less(i, k int) bool { return endsBefore(h[i], h[k]) }
func (h latest) Swap(i, k int)      { h[i], h[k] = h[k], h[i] }
func (h *latest) Push(x any)        { *h = append(*h, x.(*store.Job)) }
func (h *latest) Pop() any          { panic("placectl: nothing is taken out of a list of the latest") }
