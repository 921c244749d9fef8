package demo

import (
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store"
)

// Outcome is what came of the jobs with a policy.
type Outcome struct {
	Policy      string  `json:"policy"`
	AtOnce      int     `json:"at_once"`
	Later       int     `json:"after_a_wait"`
	Waiting     int     `json:"waiting"`
	MeanWait    float64 `json:"mean_wait"` // of all, up to now where it is not over
	LongestWait int64   `json:"longest_wait"`
	CPUsBusy    float64 `json:"ncpus_busy"` // a part of them
}

// columns is how many columns the six days are drawn in: three hours each.
const columns = 48

// past is what the database tells of the days that were replayed.
type past struct {
	Outcome
	data     *Data
	waits    []int64      // of the jobs that have started after one, in seconds
	finished int          // jobs
	running  int          // jobs
	letIn    int          // jobs inside a reservation
	queue    []*store.Job // those that wait, by number
	kinds    []kind
	kindOf   []int // of each node, by number
	runs     row   // jobs that ran
	waited   row   // and those that waited
}

// row is something over the days: in each column its level times seconds.
type row [columns]int64

// add adds so many from one instant to another.
func (p *past) add(r *row, start, end, n int64) {
	length := (p.data.Until - p.data.From) / columns
	for at := max(start, p.data.From); at < end; {
		col := min((at-p.data.From)/length, columns-1)
		next := min(end, p.data.From+(col+1)*length)
		if col == columns-1 {
			next = end
		}
		r[col] += n * (next - at)
		at = next
	}
}

// kind is a kind of node.
type kind struct {
	name  string
	cpus  int64 // of all of them
	taken row
}

// past reads the database.
func (p *Replay) past(d *Data) (*past, error) {
	out := &past{data: d, Outcome: Outcome{Policy: p.Policy}}
	var all int64
	for _, n := range d.Nodes {
		name := kindOf(n.Name)
		if k := len(out.kinds); k == 0 || out.kinds[k-1].name != name {
			out.kinds = append(out.kinds, kind{name: name})
		}
		last := len(out.kinds) - 1
		out.kinds[last].cpus += cpusOf(n)
		out.kindOf = append(out.kindOf, last)
		all += cpusOf(n)
	}
	err := p.DB.View(func(tx *store.Tx) error {
		set, err := tx.Settings()
		if err != nil {
			return err
		}
		out.Policy = set.Policy.String()
		return tx.EachJob(func(j *store.Job) error { return out.job(tx, j) })
	})
	var taken int64
	for i := range out.kinds {
		for _, n := range out.kinds[i].taken {
			taken += n
		}
	}
	out.CPUsBusy = float64(taken) / float64(all*(d.Until-d.From))
	out.MeanWait /= float64(len(d.Jobs))
	slices.Sort(out.waits)
	return out, err
}

// job adds a job.
func (p *past) job(tx *store.Tx, j *store.Job) error {
	submit, start, end := j.Submit.Unix(), j.Start.Unix(), j.End.Unix()
	switch j.State {
	case store.JobRunning:
		p.running++
		end = p.data.Until
	case store.JobFinished:
		p.finished++
	default:
		p.queue = append(p.queue, j)
		start, end = p.data.Until, p.data.Until
	}
	wait := start - submit
	p.MeanWait += float64(wait)
	p.LongestWait = max(p.LongestWait, wait)
	p.add(&p.waited, submit, start, 1)
	p.add(&p.runs, start, end, 1)
	switch {
	case j.State != store.JobRunning && j.State != store.JobFinished:
		p.Waiting++
		return nil
	case wait == 0:
		p.AtOnce++
	default:
		p.Later++
		p.waits = append(p.waits, wait)
	}
	return p.onNodes(tx, j, start, end)
}

// onNodes adds what a job has, or had, of its nodes.
func (p *past) onNodes(tx *store.Tx, j *store.Job, start, end int64) error {
	asked, err := tx.Asked(j)
	if err != nil {
		return err
	}
	letIn := 0
	for i, c := range j.Chunks {
		var cpus int64
		for _, w := range asked[i].Wants {
			if w.Res == index.NCPUs {
				cpus = w.Value.Num
			}
		}
		for _, on := range c.Nodes {
			p.add(&p.kinds[p.kindOf[on.Node]].taken, start, end, cpus*int64(on.Chunks))
			if on.Within != 0 {
				letIn = 1
			}
		}
	}
	p.letIn += letIn
	return nil
}

// waitTimes is how long the jobs waited that have started after a wait: half of them at
// most median.
func (p *past) waitTimes() (median, longest int64) {
	if n := len(p.waits); n > 0 {
		return p.waits[n/2], p.waits[n-1]
	}
	return 0, 0
}
