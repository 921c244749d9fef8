package demo

import (
	"cmp"
	"slices"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store"
)

// Outcome is what came of the jobs with one way of placing them.
type Outcome struct {
	Policy      string  `json:"policy"`
	Whole       bool    `json:"whole_nodes"`
	AtOnce      int     `json:"at_once"`
	Later       int     `json:"after_a_wait"`
	Waiting     int     `json:"waiting"`
	MeanWait    float64 `json:"mean_wait"` // of all, up to now where it is not over
	LongestWait int64   `json:"longest_wait"`
	CPUsBusy    float64 `json:"ncpus_busy"` // a part of them
	NodesUsed   float64 `json:"nodes_used"` // a part of them
	JobsPerNode float64 `json:"jobs_per_node"`
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
	shared   int          // jobs that had another on one of their nodes
	letIn    int          // jobs inside a reservation
	most     int          // jobs that were on one node at once
	queue    []*store.Job // those that wait, by number
	kinds    []kind
	nodes    []nodePast // by number
	runs     row        // jobs that ran
	waited   row        // and those that waited
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
	nodes []int // their numbers
	cpus  int64 // of all of them
	taken row
}

// nodePast is a node, what jobs have of it now, and when they had some.
type nodePast struct {
	kind, jobs  int
	cpus, taken int64
	stays       []stay
}

// stay is a job's time on a node.
type stay struct {
	job        uint64
	start, end int64
}

// past reads the database.
func (p *Replay) past(d *Data) (*past, error) {
	out := &past{data: d, nodes: make([]nodePast, len(d.Nodes)), Outcome: Outcome{Policy: p.Policy, Whole: p.Whole}}
	for i, n := range d.Nodes {
		name := kindOf(n.Name)
		if k := len(out.kinds); k == 0 || out.kinds[k-1].name != name {
			out.kinds = append(out.kinds, kind{name: name})
		}
		k := &out.kinds[len(out.kinds)-1]
		k.nodes = append(k.nodes, i)
		k.cpus += cpusOf(n)
		out.nodes[i] = nodePast{kind: len(out.kinds) - 1, cpus: cpusOf(n)}
	}
	err := p.DB.View(func(tx *store.Tx) error {
		set, err := tx.Settings()
		if err != nil {
			return err
		}
		out.Policy = set.Policy.String()
		return tx.EachJob(func(j *store.Job) error { return out.job(tx, j) })
	})
	out.sum()
	return out, err
}

// job adds a job.
func (p *past) job(tx *store.Tx, j *store.Job) error {
	start, end := j.Start, j.End
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
	wait := start - j.Submit
	p.MeanWait += float64(wait)
	p.LongestWait = max(p.LongestWait, wait)
	p.add(&p.waited, j.Submit, start, 1)
	switch {
	case !slices.Contains([]store.JobState{store.JobRunning, store.JobFinished}, j.State):
		p.Waiting++
		return nil
	case wait == 0:
		p.AtOnce++
	default:
		p.Later++
		p.waits = append(p.waits, wait)
	}
	p.add(&p.runs, start, end, 1)
	return p.onNodes(tx, j, stay{j.ID, start, end})
}

// onNodes adds what a job has, or had, of its nodes.
func (p *past) onNodes(tx *store.Tx, j *store.Job, s stay) error {
	asked, err := tx.Asked(j)
	if err != nil {
		return err
	}
	letIn := false
	for i, c := range j.Chunks {
		var cpus int64
		for _, w := range asked[i].Wants {
			if w.Res == index.NCPUs {
				cpus = w.Value.Num
			}
		}
		for _, on := range c.Nodes {
			n := &p.nodes[on.Node]
			taken := cpus * int64(on.Chunks)
			p.add(&p.kinds[n.kind].taken, s.start, s.end, taken)
			n.stays = append(n.stays, s)
			letIn = letIn || on.Within != 0
			if j.State == store.JobRunning {
				n.taken += taken
				n.jobs++
			}
		}
	}
	if letIn {
		p.letIn++
	}
	return nil
}

// sum sums up what was added.
func (p *past) sum() {
	days := p.data.Until - p.data.From
	var visits, used, cpus, all int64
	met := make(map[uint64]bool)
	for i := range p.nodes {
		v, u, most := p.nodes[i].sweep(met)
		visits, used, p.most = visits+v, used+u, max(p.most, most)
	}
	for i := range p.kinds {
		all += p.kinds[i].cpus
		for _, n := range p.kinds[i].taken {
			cpus += n
		}
	}
	p.shared = len(met)
	p.MeanWait /= float64(max(len(p.data.Jobs), 1))
	p.CPUsBusy, p.NodesUsed, p.JobsPerNode = part(cpus, all*days), part(used, int64(len(p.nodes))*days), part(visits, used)
	slices.Sort(p.waits)
}

// sweep finds for how long jobs were on a node, each counted, for how long any was,
// and how many were at once. Jobs that met another there are noted.
func (n *nodePast) sweep(met map[uint64]bool) (visits, used int64, most int) {
	slices.SortFunc(n.stays, func(a, b stay) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.job, b.job)) })
	var on []stay
	reach := int64(0)
	for _, s := range n.stays {
		on = slices.DeleteFunc(on, func(o stay) bool { return o.end <= s.start })
		for _, o := range on {
			met[o.job], met[s.job] = true, true
		}
		on = append(on, s)
		most = max(most, len(on))
		visits += s.end - s.start
		used += max(0, s.end-max(s.start, reach))
		reach = max(reach, s.end)
	}
	return visits, used, most
}

func part(some, all int64) float64 { return float64(some) / float64(max(all, 1)) }

// medianWait is of the jobs that have started after a wait.
func (p *past) medianWait() int64 {
	if len(p.waits) == 0 {
		return 0
	}
	return p.waits[len(p.waits)/2]
}

// longestOver is of the same.
func (p *past) longestOver() int64 {
	if len(p.waits) == 0 {
		return 0
	}
	return p.waits[len(p.waits)-1]
}
