package daily

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/report"
	"github.com/placectl/placectl/cmd/placectl/internal/trends"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/text"
	"github.com/placectl/placectl/store"
)

// Record is what a store knows about its jobs between two instants.
type Record struct {
	Now, From, To int64 // without a requested start, From is the first submission
	CPUs          int64 // of the cluster as it is now
	Jobs          []trends.Job
	page          *report.Page // nil if no page is wanted
	nodes         []*index.Node
	at            map[uint32]uint32 // each node's position on the page, by its number
}

// mostJobs is the greatest number of jobs on a page: those that ended last.
const mostJobs = 20_000

// ReadRecord reads a store from one instant to another, zero for as far as the store goes. With page
// it also reads the data of a page.
func ReadRecord(tx *store.Tx, from, to time.Time, page bool) (*Record, error) {
	stats, err := tx.Ask().Stats()
	if err != nil {
		return nil, err
	}
	h := &Record{Now: tx.Now().Unix(), From: unix(from), To: unix(to), CPUs: stats.CPUs}
	if page {
		h.page = &report.Page{Now: h.Now}
	}
	if err := h.readNodes(tx); err != nil {
		return nil, err
	}
	f := Filter{Since: from, Until: to}
	if err := f.EachIn(tx, Newest, func(j *store.Job) error { return h.add(tx, j) }); err != nil {
		return nil, err
	}
	if h.page != nil {
		err = errors.Join(h.readReservations(tx), h.readQueue(tx))
		h.page.Tiles = tiles(stats)
	}
	h.settle()
	return h, err
}

// unix returns an instant in Unix seconds, 0 for none.
func unix(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

// readNodes reads the nodes: their cpus and their positions on a page.
func (h *Record) readNodes(tx *store.Tx) error {
	h.at = make(map[uint32]uint32)
	return tx.Nodes().Scan(func(n *index.Node) error {
		if h.page != nil {
			h.at[n.Number] = uint32(len(h.page.Nodes))
			h.page.Nodes = append(h.page.Nodes, report.Node{Name: n.Name, Up: n.State == index.Up})
		}
		for int(n.Number) >= len(h.nodes) {
			h.nodes = append(h.nodes, nil)
		}
		of := *n
		h.nodes[n.Number] = &of
		return nil
	})
}

// add adds a job.
func (h *Record) add(tx *store.Tx, j *store.Job) error {
	of := trends.Job{Submit: j.Submit.Unix(), User: j.User, Class: j.Class, Queue: j.Queue, CPUs: h.cpus(tx, j)}
	has := j.State == store.JobRunning || !j.State.Live() && !j.Start.IsZero() && !j.Start.After(j.End)
	if has {
		of.Start, of.End = j.Start.Unix(), j.End.Unix()
	} else if !j.State.Live() {
		of.End = j.End.Unix()
	}
	if j.State == store.JobRunning {
		of.End = h.Now
	}
	h.Jobs = append(h.Jobs, of)
	if h.page == nil || !has && j.State != store.JobReserved || len(h.page.Jobs) >= mostJobs {
		return nil
	}
	var on []uint32
	for _, n := range j.AllNodes() {
		if at, ok := h.at[n]; ok {
			on = append(on, at)
		}
	}
	slices.Sort(on)
	h.page.Jobs = append(h.page.Jobs, report.Job{ID: j.ID, Name: j.Name, User: j.User, Queue: j.Queue,
		State:  j.State.String(),
		Submit: of.Submit, Start: j.Start.Unix(), End: max(j.End.Unix(), j.Start.Unix()), CPUs: of.CPUs, Exit: j.Exit,
		Nodes: on})
	return nil
}

// cpus returns how many cpus a job has or had: what it requested on shared nodes, and all cpus of
// whole nodes. What can no longer be determined counts as 0.
func (h *Record) cpus(tx *store.Tx, j *store.Job) (n int64) {
	all := func(node uint32) int64 {
		if int(node) < len(h.nodes) && h.nodes[node] != nil {
			if v, ok := h.nodes[node].Get(index.NCPUs); ok {
				return v.Num
			}
		}
		return 0
	}
	asked, err := tx.Jobs().Asked(j)
	for i, c := range j.Chunks {
		for _, on := range c.Nodes {
			if !on.Shared {
				n += all(on.Node)
				continue
			}
			if err == nil && i < len(asked) {
				for _, w := range asked[i].Wants {
					if w.Res == index.NCPUs {
						n += w.Value.Num * int64(on.Chunks)
					}
				}
			}
		}
	}
	for _, node := range j.Along {
		n += all(node)
	}
	return n
}

// reserved is a page's word for a reservation, which stands for a job's state.
const reserved = "reservation"

func (h *Record) readReservations(tx *store.Tx) error {
	return tx.Reservations().Each(func(r *store.Reservation) error {
		if r.End.Unix() < cmp.Or(h.From, h.Now) {
			return nil
		}
		var on []uint32
		for _, n := range r.Nodes {
			if at, ok := h.at[n]; ok {
				on = append(on, at)
			}
		}
		slices.Sort(on)
		h.page.Jobs = append(h.page.Jobs, report.Job{Name: r.Name, State: reserved, Start: r.Start.Unix(),
			End: r.End.Unix(), Nodes: on})
		return nil
	})
}

// readQueue reads the waiting jobs, with their reasons.
func (h *Record) readQueue(tx *store.Tx) error {
	live, err := ReadQueue(tx, time.UTC)
	for _, w := range live {
		h.page.Queue = append(h.page.Queue, report.Waiting{ID: w.Job.ID, Name: w.Job.Name, User: w.Job.User,
			State: w.Job.State.String(), Why: w.Why, Expected: unix(w.Expected)})
	}
	return err
}

// settle chooses the period if none was requested. On a large cluster it drops the nodes on which
// there is nothing.
func (h *Record) settle() {
	if h.From == 0 {
		h.From = h.Now - 3600
		for i := range h.Jobs {
			h.From = min(h.From, h.Jobs[i].Submit)
		}
	}
	if h.To == 0 {
		h.To = h.Now
	}
	if h.page == nil {
		return
	}
	h.page.From, h.page.To = h.From, h.To
	for i := range h.page.Jobs {
		if j := &h.page.Jobs[i]; j.State == store.JobRunning.String() || j.State == store.JobReserved.String() ||
			j.State == reserved {
			h.page.To = max(h.page.To, j.End)
		}
	}
	dropIdle(h.page)
}

// mostNodes is the greatest number of nodes on a page that also shows idle ones.
const mostNodes = 2000

func dropIdle(p *report.Page) {
	if len(p.Nodes) <= mostNodes {
		return
	}
	to := make([]int32, len(p.Nodes))
	for i := range p.Jobs {
		for _, n := range p.Jobs[i].Nodes {
			to[n] = 1
		}
	}
	var kept []report.Node
	for n := range to {
		if to[n] != 0 {
			to[n], kept = int32(len(kept)), append(kept, p.Nodes[n])
		}
	}
	for i := range p.Jobs {
		for k, n := range p.Jobs[i].Nodes {
			p.Jobs[i].Nodes[k] = uint32(to[n])
		}
	}
	p.Nodes = kept
}

// mostSteps is the greatest number of steps in a series: a month of hours.
const mostSteps = 31 * 24

// Series returns the use of the cluster over time, by the hour if that is not too long.
func (h *Record) Series() *trends.Series {
	to := min(h.To, h.Now)
	return trends.Over(h.Jobs, h.From, to, max(trends.StepFor(h.From, to, mostSteps), 3600), h.CPUs)
}

// Page returns the page.
func (h *Record) Page(title string) *report.Page {
	h.page.Title = title
	h.page.Series = h.Series()
	h.page.Waits = trends.Waits(h.Jobs, func(j *trends.Job) string { return j.User })
	return h.page
}

// tiles returns the numbers above a page.
func tiles(s *store.Stats) [][2]string {
	jobs := func(states ...store.JobState) (n int) {
		for _, state := range states {
			n += s.Jobs[state]
		}
		return n
	}
	share := "0 %"
	if s.CPUs > 0 {
		share = fmt.Sprintf("%d %%", s.CPUsTaken*100/s.CPUs)
	}
	return [][2]string{{fmt.Sprint(s.Nodes), "nodes"},
		{fmt.Sprint(s.ByState[store.NodeDown] + s.ByState[store.NodeOffline] + s.ByState[store.NodeDrained]), "not up"},
		{share, fmt.Sprintf("of %d cpus taken", s.CPUs)}, {fmt.Sprint(jobs(store.JobRunning)), "running"},
		{fmt.Sprint(jobs(store.JobHeld, store.JobQueued, store.JobReserved, store.JobLate)), "waiting"},
		{fmt.Sprint(jobs(store.JobFinished)), "finished"}, {fmt.Sprint(jobs(store.JobFailed)), "failed"},
		{text.FormatSize(s.Bytes), "database"}}
}
