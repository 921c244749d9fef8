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
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/internal/text"
)

// Record is what a store knows about its jobs between two instants.
type Record struct {
	Now, From, To int64 // without a requested start, From is the first submission
	CPUs          int64 // of the cluster as it is now
	Jobs          []trends.Job
	ended         map[engine.JobState]int // jobs that ended in this time
	goesOn        bool                    // until now
	page          *report.Page            // nil if no page is wanted
	nodes         []*index.Node
	at            map[uint32]uint32 // each node's position on the page, by its number
}

// mostJobs is the greatest number of jobs on a page: those that ended last.
const mostJobs = 20_000

// ReadRecord reads a store from one instant to another, zero for as far as the store goes. With page
// it also reads the data of a page.
func ReadRecord(tx *engine.Tx, from, to time.Time, page bool) (*Record, error) {
	stats, err := tx.Ask().Stats()
	if err != nil {
		return nil, err
	}
	h := &Record{Now: tx.Now().Unix(), From: unix(from), To: unix(to), CPUs: stats.CPUs,
		ended: make(map[engine.JobState]int)}
	h.goesOn = h.To == 0 || h.To > h.Now
	if page {
		h.page = &report.Page{Now: h.Now}
	}
	if err := h.readNodes(tx); err != nil {
		return nil, err
	}
	f := Filter{Since: from, Until: to}
	if err := f.EachIn(tx, Newest, func(j *engine.Job) error { return h.add(tx, j) }); err != nil {
		return nil, err
	}
	if h.page != nil && h.goesOn {
		err = errors.Join(h.readReservations(tx), h.readQueue(tx))
	}
	h.settle()
	if h.page != nil {
		h.page.Tiles = h.tiles(stats)
	}
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
func (h *Record) readNodes(tx *engine.Tx) error {
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
func (h *Record) add(tx *engine.Tx, j *engine.Job) error {
	of := trends.Job{Submit: j.Submit.Unix(), CPUs: h.cpus(tx, j),
		User: j.User, Group: j.Group, Account: j.Account, Class: j.Class, Queue: j.Queue}
	has := j.State == engine.JobRunning || !j.State.Live() && !j.Start.IsZero() && !j.Start.After(j.End)
	if has {
		of.Start, of.End = j.Start.Unix(), j.End.Unix()
	} else if !j.State.Live() {
		of.End = j.End.Unix()
	}
	if j.State == engine.JobRunning {
		of.End = h.Now
	}
	if h.To == 0 || of.End < h.To {
		h.ended[j.State]++
	}
	h.Jobs = append(h.Jobs, of)
	if h.To != 0 && !j.Start.Before(time.Unix(h.To, 0)) {
		return nil
	}
	if h.page == nil || !has && j.State != engine.JobReserved || len(h.page.Jobs) >= mostJobs {
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
func (h *Record) cpus(tx *engine.Tx, j *engine.Job) (n int64) {
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

func (h *Record) readReservations(tx *engine.Tx) error {
	return tx.Reservations().Each(func(r *engine.Reservation) error {
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

// readQueue reads the waiting jobs, the next to start first, with their reasons.
func (h *Record) readQueue(tx *engine.Tx) error {
	look, err := tx.Ask().Outlook()
	if err != nil {
		return err
	}
	f := Filter{States: []engine.JobState{engine.JobReserved, engine.JobQueued, engine.JobLate, engine.JobHeld}}
	return f.EachIn(tx, Next, func(j *engine.Job) error {
		p, err := look.Prospect(j)
		h.page.Queue = append(h.page.Queue, report.Waiting{ID: j.ID, Name: j.Name, User: j.User,
			State: j.State.String(), Why: waitWord(p, time.UTC), Expected: unix(p.Start)})
		return err
	})
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
	h.page.From, h.page.To, h.page.Until = h.From, h.To, h.To
	if !h.goesOn {
		return
	}
	for i := range h.page.Jobs {
		if j := &h.page.Jobs[i]; j.State == engine.JobRunning.String() || j.State == engine.JobReserved.String() ||
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

// Waits sums the jobs up by group.
func (h *Record) Waits(by string) []trends.Group {
	return trends.Waits(h.Jobs, h.From, h.until(), trends.By(by))
}

// until returns the end of the time, which includes the present instant if it goes on.
func (h *Record) until() int64 {
	if h.goesOn {
		return h.Now + 1
	}
	return h.To
}

// Page returns the page. Its tables begin with the groups that by names.
func (h *Record) Page(title, by string) *report.Page {
	h.page.Title, h.page.GoesOn = title, h.goesOn
	h.page.Series = h.Series()
	h.page.Tables = report.Tables(h.Jobs, h.From, h.until(), by)
	return h.page
}

// tiles returns the numbers above a page: what was in its time, and how it is now if that goes on.
func (h *Record) tiles(s *engine.Stats) [][2]string {
	var used, waited float64
	var started int
	points := h.Series().Points
	for i := range points {
		used += points[i].Used / float64(len(points))
		waited += points[i].MeanWait * float64(points[i].Started)
		started += points[i].Started
	}
	hours := 0.0
	for _, g := range h.Waits("user") {
		hours += g.CoreHours
	}
	out := [][2]string{{text.Comma(int64(hours + 0.5)), "core hours"}}
	if h.CPUs > 0 {
		out = append(out, [2]string{fmt.Sprintf("%.0f %%", used*100/float64(h.CPUs)),
			"of " + text.Comma(h.CPUs) + " cpus used"})
	}
	out = append(out, [][2]string{{text.Comma(started), "started"},
		{string(text.AppendAbout(nil, int64(waited/float64(max(started, 1))))), "mean wait"},
		{text.Comma(h.ended[engine.JobFinished]), "finished"}, {text.Comma(h.ended[engine.JobFailed]), "failed"}}...)
	if !h.goesOn {
		return out
	}
	now := Status{Stats: s}
	down := s.ByState[engine.NodeDown] + s.ByState[engine.NodeOffline] + s.ByState[engine.NodeDrained]
	return append(out, [][2]string{{text.Comma(now.running()), "run now"},
		{text.Comma(now.waitingJobs()), "wait now"},
		{fmt.Sprintf("%d of %d", s.Nodes-down, s.Nodes), "nodes up now"}}...)
}
