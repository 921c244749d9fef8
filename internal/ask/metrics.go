package ask

import (
	"maps"
	"slices"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/plan"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/internal/usage"
	"github.com/placectl/placectl/placer/fairshare"
)

// Metrics holds a store's current values for a monitoring system. Counters never decrease
// while the database is the same one.
type Metrics struct {
	Format    uint32
	Nodes     []NodeCount     // of the queues that have nodes, one for each state
	Resources []ConsumableUse // of the consumables
	// of the existing queues and those that have had jobs, by name; "" for jobs without a queue
	Queues    []QueueMetrics
	Classes   []ClassMetrics // of the shares
	LastCycle time.Time      // when the last cycle began; zero if there was none
	Took      time.Duration  // duration of the last cycle
	Bytes     int64          // of the file
	FreeBytes int64          // of its free pages
}

// NodeCount is the number of nodes of a queue in a state.
type NodeCount struct {
	Queue string
	State index.NodeState
	Nodes int
}

// ConsumableUse is how much of a consumable the nodes of a queue have, up or not. Sizes are in
// bytes.
type ConsumableUse struct {
	Resource string
	Size     bool
	Queue    string
	Capacity float64
	Used     float64 // by jobs; a node that a job has whole counts fully
	Reserved float64 // by reservations that have begun, including what jobs have of them
}

// QueueMetrics counts the jobs of a queue.
type QueueMetrics struct {
	Queue     string
	Jobs      map[row.JobState]uint64 // number of jobs, by state
	Submitted uint64                  // since the database was made, including placed jobs
	Ended     map[row.JobState]uint64 // since then, by final state: finished, failed or cancelled
	// ended jobs that had started, by their waiting time, those beyond all bounds last
	Waits  []uint64
	Waited time.Duration // sum of those times
	Oldest time.Duration // how long the oldest job that waits for nodes has waited; 0 if none does
}

// ClassMetrics holds a class's target and actual share of the cluster.
type ClassMetrics struct {
	Class    string
	Entitled float64
	Used     float64
}

// Metrics counts what a monitoring system needs. It reads only nodes that are not up or are in
// an active reservation. If there are classes, it also reads running jobs, and the jobs that
// wait before the first of their queue.
func (ak Ask) Metrics() (*Metrics, error) {
	g, err := newGauges(ak.tx)
	if err != nil {
		return nil, err
	}
	m := &Metrics{Format: ak.tx.File.Format(), Bytes: ak.tx.File.Size()}
	for _, step := range []func(*Metrics) error{g.nodes, g.resources, g.jobs, g.oldest, g.classes, g.file} {
		if err := step(m); err != nil {
			return nil, err
		}
	}
	return m, g.ix.Err()
}

// gauges reads the present state from the index and the calendar.
type gauges struct {
	tx     *kernel.Tx
	ix     *index.Index
	queues map[string]*roaring.Bitmap
	names  []string // of queues that have nodes
	busy   *roaring.Bitmap
	each   *roaring.Bitmap // nodes that are examined one by one
	notUp  *roaring.Bitmap
}

func newGauges(tx *kernel.Tx) (*gauges, error) {
	ix, err := tx.Index()
	if err != nil {
		return nil, err
	}
	g := &gauges{tx: tx, ix: ix, queues: ix.NodesByQueue(), busy: roaring.New(), notUp: ix.NotUp().Clone()}
	g.names = slices.Sorted(maps.Keys(g.queues))
	for _, b := range ix.Buckets() {
		g.busy.Or(ix.Nodes(b, index.Busy))
	}
	g.each = g.notUp.Clone()
	return g, tx.Reservations().Each(func(r *row.Reservation) error {
		if r.Start <= tx.Now && r.End > tx.Now {
			g.each.AddMany(r.Nodes)
		}
		return nil
	})
}

// queueOf returns the queue of a node.
func (g *gauges) queueOf(node uint32) string { return g.names[g.queueAt(node)] }

// queueAt returns the position of a node's queue among names.
func (g *gauges) queueAt(node uint32) int {
	last := len(g.names) - 1
	for i, name := range g.names[:last] {
		if g.queues[name].Contains(node) {
			return i
		}
	}
	return last
}

func (g *gauges) nodes(m *Metrics) error {
	counts := make(map[string]*[index.NodeStates]int)
	partly := g.ix.Partly()
	for _, name := range g.names {
		counts[name] = new([index.NodeStates]int)
	}
	for _, b := range g.ix.Buckets() {
		c := counts[b.Queue]
		c[index.NodeFree] += int(b.Count[index.Free] + b.Count[index.Later])
		if busy := int(b.Count[index.Busy]); busy > 0 {
			part := int(partly.AndCardinality(g.ix.Nodes(b, index.Busy)))
			c[index.NodePartly] += part
			c[index.NodeBusy] += busy - part
		}
	}
	err := g.tx.Loaded.Nodes.NotUp(g.notUp, func(node uint32, state index.NodeState) {
		counts[g.queueOf(node)][state]++
	})
	for _, name := range g.names {
		for state, n := range counts[name] {
			m.Nodes = append(m.Nodes, NodeCount{name, index.NodeState(state), n})
		}
	}
	return err
}

// amounts holds amounts of resources, by queue.
type amounts map[index.ResID]map[string]int64

func (a amounts) add(id index.ResID, queue string, n int64) {
	if a[id] == nil {
		a[id] = make(map[string]int64)
	}
	a[id][queue] = index.Plus(a[id][queue], n)
}

// resources counts busy nodes whole, minus what shared ones have left, and examines the other
// nodes one by one.
func (g *gauges) resources(m *Metrics) error {
	used, reserved := make(amounts), make(amounts)
	left, err := g.left()
	if err != nil {
		return err
	}
	for it := g.each.Iterator(); it.HasNext(); {
		if err := g.on(it.Next(), used, reserved); err != nil {
			return err
		}
	}
	whole := roaring.AndNot(g.busy, g.each)
	for _, def := range g.ix.Defs().All() {
		if !def.Consumable {
			continue
		}
		capacity := g.ix.Amounts(def.ID, nil, g.queues)
		for queue, n := range g.ix.Amounts(def.ID, whole, g.queues) {
			used.add(def.ID, queue, n)
		}
		for _, queue := range g.names {
			if n := capacity[queue]; n > 0 {
				units := func(n int64) float64 { return def.Units(index.Value{Num: n}) }
				m.Resources = append(m.Resources, ConsumableUse{def.Name, def.Type == index.Size, queue, units(n),
					units(used[def.ID][queue] - left[def.ID][queue]), units(reserved[def.ID][queue])})
			}
		}
	}
	return g.tx.Calendar().Err()
}

// left returns the free amounts of shared nodes. All nodes may be shared, so it sums by
// numbers, not names.
func (g *gauges) left() (amounts, error) {
	sums := make([][]int64, len(g.names)) // by queue and resource
	single := g.each.IsEmpty()
	err := g.tx.Loaded.Rooms.Each(func(node uint32, room []index.Amount) {
		if !single && g.each.Contains(node) {
			return
		}
		at := g.queueAt(node)
		for _, a := range room {
			for int(a.Res) >= len(sums[at]) {
				sums[at] = append(sums[at], 0)
			}
			sums[at][a.Res] = index.Plus(sums[at][a.Res], a.Value.Num)
		}
	})
	left := make(amounts)
	for i, list := range sums {
		for id, n := range list {
			if n != 0 {
				left.add(index.ResID(id), g.names[i], n)
			}
		}
	}
	return left, err
}

// on adds the amounts taken of a node. An overdue job may be where another should have begun: together they use at
// most what the node has.
func (g *gauges) on(node uint32, used, reserved amounts) error {
	k, err := g.tx.Loaded.Nodes.Kept(node)
	if err != nil {
		return err
	}
	queue, c := g.queueOf(node), g.tx.Calendar()
	taken := make(amounts)
	for _, b := range c.At(node) {
		if !c.Live(b) {
			continue
		}
		to := taken
		if b.Claim {
			to = reserved
		}
		if b.Use != nil {
			for _, a := range b.Use.Amounts {
				to.add(index.ResID(a.Quantity), queue, a.N)
			}
			continue
		}
		for i, q := range k.Quantities {
			to.add(index.ResID(q), queue, k.Capacity[i])
		}
	}
	for i, q := range k.Quantities {
		used.add(index.ResID(q), queue, min(taken[index.ResID(q)][queue], k.Capacity[i]))
	}
	return nil
}

func (g *gauges) jobs(m *Metrics) error {
	list, err := g.tx.Loaded.Tallies.All()
	if err != nil {
		return err
	}
	queues, err := g.tx.AllQueues()
	if err != nil {
		return err
	}
	known := append(slices.Clone(g.names), "")
	for _, q := range queues {
		known = append(known, q.Name)
	}
	at := make(map[string]*usage.QueueTally, len(list))
	for _, q := range list {
		at[q.Name], known = q, append(known, q.Name)
	}
	slices.Sort(known)
	for _, name := range slices.Compact(known) {
		q := at[name]
		if q == nil {
			q = &usage.QueueTally{Name: name, Tally: new(row.Tally)}
		}
		m.Queues = append(m.Queues, queueMetrics(q))
	}
	last, err := g.tx.Loaded.Tallies.LastCycle()
	if last != nil {
		m.LastCycle, m.Took = kernel.Instant(last.Began), time.Duration(last.Took)
	}
	return err
}

func queueMetrics(q *usage.QueueTally) QueueMetrics {
	t := q.Tally
	out := QueueMetrics{Queue: q.Name, Submitted: t.Submitted, Waits: slices.Clone(t.Waits[:]),
		Waited: time.Duration(t.Waited) * time.Second,
		Jobs:   make(map[row.JobState]uint64),
		Ended: map[row.JobState]uint64{row.JobFinished: t.Finished, row.JobFailed: t.Failed,
			row.JobCancelled: t.Cancelled}}
	for _, state := range row.AllJobStates() {
		out.Jobs[state] = q.Counts[state]
	}
	return out
}

// oldest finds, for each queue, how long the oldest job that waits for nodes has waited. In
// each state that is the first job by number.
func (g *gauges) oldest(m *Metrics) error {
	for _, state := range []row.JobState{row.JobQueued, row.JobReserved, row.JobLate} {
		missing := make(map[string]*QueueMetrics)
		for i := range m.Queues {
			if q := &m.Queues[i]; q.Jobs[state] > 0 {
				missing[q.Queue] = q
			}
		}
		if err := g.oldestOf(state, missing); err != nil {
			return err
		}
	}
	return nil
}

func (g *gauges) oldestOf(state row.JobState, missing map[string]*QueueMetrics) error {
	if len(missing) == 0 {
		return nil
	}
	var v row.JobView
	rows := g.tx.File.Finder(row.Jobs)
	return g.tx.File.Each(row.JobStates, []byte{byte(state)}, func(key, _ []byte) (bool, error) {
		payload, err := rows.Find(key[1:])
		if err != nil || payload == nil {
			return true, err
		}
		if err := v.Open(key[1:], payload); err != nil {
			return false, err
		}
		if q := missing[string(v.Queue())]; q != nil {
			q.Oldest = max(q.Oldest, time.Duration(g.tx.Now-v.Submit())*time.Second)
			delete(missing, q.Queue)
		}
		return len(missing) > 0, nil
	})
}

func (g *gauges) classes(m *Metrics) error {
	s, err := g.tx.Shares()
	if err != nil || len(s.Loads) == 0 {
		return err
	}
	t, err := plan.ClassSharesOf(g.tx).Tally()
	if err != nil {
		return err
	}
	if err := g.tx.EachJob(t.Runs, row.JobRunning); err != nil {
		return err
	}
	plan, err := new(fairshare.Planner).Plan(&t.State)
	if err != nil {
		return err
	}
	workers := float64(max(1, t.State.TotalWorkers))
	for i, c := range plan.Classes {
		m.Classes = append(m.Classes, ClassMetrics{c.Name, float64(c.Entitlement) / workers,
			float64(t.State.Classes[i].Running) / workers})
	}
	return nil
}

func (g *gauges) file(m *Metrics) (err error) {
	m.FreeBytes, err = g.tx.File.FreeBytes()
	return err
}
