package main

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/placectl/placectl/cmd/placectl/internal/spell"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store"
)

// demoReport is what the database looks like after the replay, in the shape that
// -o json prints.
type demoReport struct {
	DB string // "" when it was not kept
	d  *demoReplay

	Buckets      []demoBucket
	Nodes        []demoNode // in declared order
	Policies     []demoPolicy
	Running      []demoRun  // those that end next first
	Waiting      []demoWait // first come first
	Reservations []demoReservation
	Next         []demoHint
}

func newDemoReport(path string, d *demoReplay) *demoReport {
	return &demoReport{DB: path, d: d, Policies: []demoPolicy{}, Running: []demoRun{}, Waiting: []demoWait{}}
}

// demoTime is Unix seconds, written to JSON as all times are.
type demoTime int64

func (t demoTime) MarshalJSON() ([]byte, error) {
	return append(spell.AppendRFC3339([]byte{'"'}, int64(t)), '"'), nil
}

type demoBucket struct {
	Nodes     []string `json:"nodes"`
	Signature string   `json:"signature"`
	Priority  int32    `json:"priority"`
	Total     int      `json:"total"`
	Free      int      `json:"free"`
	Later     int      `json:"later"`
	Busy      int      `json:"busy"`
}

// demoNode is a node: what is on it now, and what was over the six days.
type demoNode struct {
	Node      string `json:"node"`
	Jobs      int    `json:"jobs"`
	MostJobs  int    `json:"most_jobs"` // at once
	CPUTime   int64  `json:"cpu_time"`  // cpus that jobs had, times seconds
	Running   int    `json:"running"`
	CPUs      int64  `json:"ncpus"`
	CPUsTaken int64  `json:"ncpus_taken"` // now
	CPUsFree  int64  `json:"ncpus_free"`  // neither taken nor reserved now
	MemFree   int64  `json:"mem_free"`
}

type demoRun struct {
	Job     string   `json:"job"`
	Name    string   `json:"name"`
	User    string   `json:"user"`
	Request string   `json:"request"` // as recorded
	Select  string   `json:"select"`
	Start   demoTime `json:"start"`
	End     demoTime `json:"end"`
	Nodes   []string `json:"nodes"`
}

// demoWait is waiting jobs that ask for the same.
type demoWait struct {
	Request  string   `json:"request"`
	Walltime int64    `json:"walltime"`
	Jobs     int      `json:"jobs"`
	Submit   demoTime `json:"submit"` // of the first
	Start    demoTime `json:"start"`
	WaitsFor []string `json:"waits_for"`
}

type demoReservation struct {
	Name  string            `json:"name"`
	State string            `json:"state"`
	Start demoTime          `json:"start"`
	End   demoTime          `json:"end"`
	Nodes []string          `json:"nodes"`
	Takes []reservedAmounts `json:"takes"`  // null for whole nodes
	Allow string            `json:"access"` // "" for nobody
}

// demoPolicy is what came of the same requests placed in one of several ways.
type demoPolicy struct {
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

// look reads the report from the database.
func (rep *demoReport) look(tx *store.Tx) error {
	for _, read := range []func(*store.Tx) error{rep.buckets, rep.jobs, rep.nodes, rep.waits, rep.policy, rep.reservations} {
		if err := read(tx); err != nil {
			return err
		}
	}
	rep.hints()
	return nil
}

func (rep *demoReport) buckets(tx *store.Tx) error {
	ix, err := tx.Index()
	if err != nil {
		return err
	}
	for _, b := range ix.Buckets() {
		var numbers []uint32
		for _, class := range []index.Class{index.Free, index.Later, index.Busy} {
			numbers = append(numbers, ix.Nodes(b, class).ToArray()...)
		}
		slices.Sort(numbers)
		names, err := tx.NodeNames(numbers)
		if err != nil {
			return err
		}
		rep.Buckets = append(rep.Buckets, demoBucket{names, ix.Describe(b), b.Priority, b.Up(),
			int(b.Count[index.Free]), int(b.Count[index.Later]), int(b.Count[index.Busy])})
	}
	return ix.Err()
}

// jobs sums up all jobs by node, and finds those that run.
func (rep *demoReport) jobs(tx *store.Tx) error {
	rep.Nodes = make([]demoNode, len(rep.d.data.Nodes))
	asked := make(map[uint64]string)
	for _, e := range rep.d.running {
		asked[e.job] = e.what.Asked
	}
	err := tx.EachJob(func(j *store.Job) error {
		takes, err := demoTakings(tx, j)
		if err != nil {
			return err
		}
		for _, t := range takes {
			n := &rep.Nodes[t.node]
			n.Jobs++
			n.CPUTime += t.cpus * (min(j.End, tx.Now()) - j.Start)
			if j.State == store.JobRunning {
				n.Running++
				n.CPUsTaken += t.cpus
			}
		}
		if j.State != store.JobRunning {
			return nil
		}
		names, err := tx.NodeNames(j.NodeNumbers())
		rep.Running = append(rep.Running, demoRun{strconv.FormatUint(j.ID, 10), j.Name, j.User, asked[j.ID], j.Select, demoTime(j.Start), demoTime(j.End), names})
		return err
	})
	slices.SortStableFunc(rep.Running, func(a, b demoRun) int { return cmp.Compare(a.End, b.End) })
	return err
}

// nodes reads what is free of each node.
func (rep *demoReport) nodes(tx *store.Tx) error {
	return tx.EachNode(func(n *index.Node) error {
		row := &rep.Nodes[n.Number]
		row.Node, row.MostJobs, row.CPUs = n.Name, rep.d.history.most[n.Number], cpusOf(n)
		mem, _ := n.Get(index.Mem)
		row.CPUsFree, row.MemFree = row.CPUs, mem.Num*1024
		o, err := tx.Occupancy(n)
		if err != nil {
			return err
		}
		if o.State == store.NodePartly || o.State == store.NodeBusy {
			row.CPUsFree, row.MemFree = 0, 0
			for _, left := range o.Left {
				switch left.Res {
				case index.NCPUs:
					row.CPUsFree = left.Value.Num
				case index.Mem:
					row.MemFree = left.Value.Num * 1024
				}
			}
		}
		return nil
	})
}

// policy begins the comparison with the replay that is kept.
func (rep *demoReport) policy(tx *store.Tx) error {
	set, err := tx.Settings()
	if err != nil {
		return err
	}
	rep.d.how.Policy = set.Policy.String()
	rep.compare([]*demoReplay{rep.d})
	return nil
}

// compare adds replays to the comparison.
func (rep *demoReport) compare(replays []*demoReplay) {
	for _, d := range replays {
		waited, _, _ := d.stats.waits()
		rep.Policies = append(rep.Policies, demoPolicy{firstOf(d.how.Policy, rep.d.how.Policy), d.how.Whole, d.stats.Placed - waited, waited,
			len(d.waiting), d.stats.MeanWait, d.stats.Longest, d.history.cpusPart(), d.history.nodesPart(), d.history.jobsPerNode()})
	}
}

// waits asks when each waiting job could start, and puts together those that
// look the same.
func (rep *demoReport) waits(tx *store.Tx) error {
	for _, j := range rep.d.waiting {
		plans, err := tx.When(j.Request, tx.Now(), 1)
		if err != nil {
			return err
		}
		ends, err := tx.WaitsFor(plans[0])
		if err != nil {
			return err
		}
		wall, start := int64(j.Request.Walltime/time.Second), demoTime(plans[0].Start)
		i := slices.IndexFunc(rep.Waiting, func(w demoWait) bool {
			return w.Request == j.Asked && w.Walltime == wall && w.Start == start
		})
		if i < 0 {
			i = len(rep.Waiting)
			rep.Waiting = append(rep.Waiting, demoWait{Request: j.Asked, Walltime: wall, Submit: demoTime(j.Submit), Start: start, WaitsFor: ends})
		}
		rep.Waiting[i].Jobs++
	}
	return nil
}

func (rep *demoReport) reservations(tx *store.Tx) error {
	err := tx.EachReservation(func(v *store.Reservation) error {
		names, err := tx.NodeNames(v.Nodes)
		if err != nil {
			return err
		}
		takes, err := amountsKept(tx, v, names)
		row := demoReservation{v.Name, v.State(tx.Now()), demoTime(v.Start), demoTime(v.End), names, nil, v.Access.String()}
		row.Takes, _ = takes.([]reservedAmounts)
		rep.Reservations = append(rep.Reservations, row)
		return err
	})
	slices.SortStableFunc(rep.Reservations, func(a, b demoReservation) int { return cmp.Compare(a.Start, b.Start) })
	return err
}
