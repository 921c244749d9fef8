package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
)

// failing is a test, or a check of package rapid.
type failing interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// metricsByHand counts what Metrics counts, by reading every node and every job.
func metricsByHand(t failing, tx *Tx) *Metrics {
	t.Helper()
	defs, err := tx.Config().Resources()
	if err != nil {
		t.Fatal(err)
	}
	m := new(Metrics)
	nodes := make(map[string]*[NodeStates]int)
	use := make(map[[2]string]*ConsumableUse)
	err = tx.Nodes().Each(func(n *index.Node) error {
		o, err := tx.Nodes().Occupancy(n)
		if err != nil {
			return err
		}
		if nodes[n.Queue] == nil {
			nodes[n.Queue] = new([NodeStates]int)
		}
		state := o.State
		nodes[n.Queue][state]++
		list := tx.k.Calendar().At(n.Number)
		for _, a := range n.Res {
			def, _ := defs.Get(a.Res)
			if !def.Consumable || a.Value.Num == 0 {
				continue
			}
			key := [2]string{def.Name, n.Queue}
			if use[key] == nil {
				use[key] = &ConsumableUse{Resource: def.Name, Size: def.Type == index.Size, Queue: n.Queue}
			}
			u := use[key]
			u.Capacity += def.Units(a.Value)
			used := int64(0)
			for _, b := range list {
				if !tx.k.Calendar().Live(b) {
					continue
				}
				taken := a.Value.Num
				if b.Use != nil {
					taken = 0
					for _, x := range b.Use.Amounts {
						if index.ResID(x.Quantity) == a.Res {
							taken += x.N
						}
					}
				}
				if b.Claim {
					u.Reserved += def.Units(index.Value{Num: taken})
				} else {
					used += taken
				}
			}
			// an overdue job is still where another should begin
			u.Used += def.Units(index.Value{Num: min(used, a.Value.Num)})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, queue := range slices.Sorted(maps.Keys(nodes)) {
		for state, n := range nodes[queue] {
			m.Nodes = append(m.Nodes, NodeCount{Queue: queue, State: NodeState(state), Nodes: n})
		}
	}
	for _, def := range defs.All() {
		for _, queue := range slices.Sorted(maps.Keys(nodes)) {
			if u := use[[2]string{def.Name, queue}]; u != nil {
				m.Resources = append(m.Resources, *u)
			}
		}
	}
	m.Queues = queuesByHand(t, tx, slices.Collect(maps.Keys(nodes)))
	return m
}

func queuesByHand(t failing, tx *Tx, names []string) (out []QueueMetrics) {
	t.Helper()
	queues, err := tx.Queues().All()
	if err != nil {
		t.Fatal(err)
	}
	names = append(names, "")
	for _, q := range queues {
		names = append(names, q.Name)
	}
	jobs := make(map[string]map[JobState]uint64)
	oldest := make(map[string]time.Duration)
	err = tx.Jobs().Each(func(j *Job) error {
		if jobs[j.Queue] == nil {
			jobs[j.Queue] = make(map[JobState]uint64)
			names = append(names, j.Queue)
		}
		jobs[j.Queue][j.State]++
		if j.State == JobQueued || j.State == JobReserved || j.State == JobLate {
			oldest[j.Queue] = max(oldest[j.Queue], tx.Now().Sub(j.Submit))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		q := QueueMetrics{Queue: name, Jobs: make(map[JobState]uint64), Oldest: oldest[name]}
		for _, state := range JobStates() {
			q.Jobs[state] = jobs[name][state]
		}
		out = append(out, q)
	}
	return out
}

// metricsAgree compares metrics, and verifies that no counter has decreased.
func metricsAgree(t failing, db *DB, before *Metrics) *Metrics {
	t.Helper()
	var got *Metrics
	err := db.View(func(tx *Tx) (err error) {
		if got, err = tx.Ask().Metrics(); err != nil {
			return err
		}
		want := metricsByHand(t, tx)
		ignore := cmp.Options{cmpopts.IgnoreFields(Metrics{}, "Format", "Classes", "LastCycle", "Took", "Bytes",
			"FreeBytes"),
			cmpopts.IgnoreFields(QueueMetrics{}, "Submitted", "Ended", "Waits", "Waited"), cmpopts.EquateEmpty()}
		if diff := cmp.Diff(want, got, ignore); diff != "" {
			t.Fatalf("(-by hand +metrics)\n%s", diff)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if before == nil {
		return got
	}
	was, is := totals(before), totals(got)
	for name, n := range was {
		if is[name] < n {
			t.Fatalf("%s was %d, and is %d", name, n, is[name])
		}
	}
	return got
}

// totals returns the counters.
func totals(m *Metrics) map[string]uint64 {
	out := make(map[string]uint64)
	for _, q := range m.Queues {
		out["submitted "+q.Queue] = q.Submitted
		out["waited "+q.Queue] = uint64(q.Waited)
		for state, n := range q.Ended {
			out[fmt.Sprint(state, " ", q.Queue)] = n
		}
		for i, n := range q.Waits {
			out[fmt.Sprint("waits ", i, " ", q.Queue)] = n
		}
	}
	return out
}

// TestMetrics: gauges match the rows at every instant of a database's life, and counters keep
// their values when jobs are removed.
func TestMetrics(t *testing.T) {
	db, clock := lively(t)
	before := metricsAgree(t, db, nil)
	for range 12 {
		clock.t += 1000
		before = metricsAgree(t, db, before)
		if err := db.Update(func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{}); return err }); err != nil {
			t.Fatal(err)
		}
		before = metricsAgree(t, db, before)
	}
	err := db.Update(func(tx *Tx) error {
		return tx.Jobs().Each(func(j *Job) error {
			if !j.State.Live() {
				return nil
			}
			_, err := tx.Jobs().Cancel(j.ID, "")
			return err
		}, JobQueued, JobHeld)
	})
	if err != nil {
		t.Fatal(err)
	}
	clock.t += 1000
	before = metricsAgree(t, db, before)
	kept := totals(before)
	archived, err := db.Archive(strings.TrimSuffix(db.Path(), ".db")+"-old.jsonl", clock.now(), nil)
	if err != nil || archived.Jobs == 0 {
		t.Fatal(archived, err)
	}
	after := metricsAgree(t, db, before)
	if diff := cmp.Diff(kept, totals(after)); diff != "" {
		t.Errorf("archived %d jobs (-before +after)\n%s", archived.Jobs, diff)
	}
	if list := findings(t, db); len(list) > 0 {
		t.Error(list)
	}
}

// TestWaits: a wait counts when its job has ended, in the first bucket that it fits.
func TestWaits(t *testing.T) {
	db, clock := newDB(t)
	addNodes(t, db, "n", 1, 1)
	ask := placer.Request{Select: "1:ncpus=1", Walltime: time.Hour}
	must := func(fn func(tx *Tx) error) {
		t.Helper()
		if err := db.Update(fn); err != nil {
			t.Fatal(err)
		}
	}
	cycle := func(tx *Tx) error { _, err := tx.Cycle().Run(CycleSpec{}); return err }
	must(func(tx *Tx) error { _, err := tx.Jobs().Submit(Submission{Request: ask, Array: 4}); return err })
	want := make([]uint64, len(WaitBounds)+1)
	var waited int64
	for i, wait := range []int64{1, 9, 51, 100_000} {
		clock.t += wait
		waited += clock.t - 1_000_000
		must(cycle)
		must(func(tx *Tx) error { _, err := tx.Jobs().Finish(uint64(i+2), i%2, ""); return err })
		want[[]int{0, 1, 3, 7}[i]]++
	}
	must(func(tx *Tx) error { _, err := tx.Jobs().Submit(Submission{Request: ask}); return err })
	must(func(tx *Tx) error { _, err := tx.Jobs().Cancel(6, ""); return err }) // it never started
	m := metricsAgree(t, db, nil)
	q := m.Queues[0]
	if diff := cmp.Diff(want, q.Waits); diff != "" || q.Waited != time.Duration(waited)*time.Second {
		t.Errorf("(-want +got)\n%swaited %v, want %d s", diff, q.Waited, waited)
	}
	if diff := cmp.Diff(map[JobState]uint64{JobFinished: 2, JobFailed: 2, JobCancelled: 1}, q.Ended); diff != "" ||
		q.Submitted != 5 {
		t.Errorf("(-want +got)\n%s, %d submitted", diff, q.Submitted)
	}
}

// BenchmarkMetrics reads the metrics of 100,000 nodes in four queues, all shared by jobs.
func BenchmarkMetrics(b *testing.B) {
	const nodes = 100_000
	db, _ := newDB(b)
	mustUpdate(b, db, func(tx *Tx) error {
		for _, name := range []string{"a", "b", "c"} {
			if err := tx.Queues().Add(Queue{Name: name}); err != nil {
				return err
			}
		}
		queues := []string{"", "a", "b", "c"}
		for i := range nodes {
			n := &index.Node{Name: fmt.Sprintf("n%06d", i), Queue: queues[i%4]}
			n.Set(index.NCPUs, index.Value{Num: 8})
			n.Set(index.Mem, index.Value{Num: 16 << 20})
			if _, err := tx.Nodes().Put(n); err != nil {
				return err
			}
		}
		for _, q := range queues {
			if _, err := tx.Jobs().Place(placer.Request{Select: fmt.Sprint(nodes/4, ":ncpus=1"), Place: "scatter",
				Queue: q, Walltime: time.Hour}); err != nil {
				return err
			}
		}
		return nil
	})
	for b.Loop() {
		if err := db.View(func(tx *Tx) error { _, err := tx.Ask().Metrics(); return err }); err != nil {
			b.Fatal(err)
		}
	}
}
