package main

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/store"
	"github.com/placectl/placectl/timeline"
)

// demoStay is what a job or reservation has of a node for a stretch of time.
type demoStay struct {
	start, end int64
	cpus, mem  int64  // all that the node has for one that keeps it whole
	within     uint64 // of a job: the reservation that it is in
	claim      uint64 // of a reservation: its number
	who        string
}

// checkDemo holds the jobs against each other, the reservations, the calendar
// and the buckets: who ran where is told by the job rows alone.
func checkDemo(t *testing.T, tx *store.Tx, doc *demoDoc) {
	t.Helper()
	stays, running := demoJobStays(t, tx, doc), 0
	err := tx.EachReservation(func(v *store.Reservation) error {
		for i, n := range v.Nodes {
			node, err := tx.NodeByNumber(n)
			if err != nil {
				return err
			}
			s := demoStay{start: v.Start, end: v.End, cpus: amountOf(node, index.NCPUs), mem: amountOf(node, index.Mem), claim: v.ID, who: v.Name}
			if v.Uses != nil {
				s.cpus, s.mem = 0, 0
				for _, a := range v.Uses[i].Amounts {
					switch index.ResID(a.Quantity) {
					case index.NCPUs:
						s.cpus = a.N
					case index.Mem:
						s.mem = a.N
					}
				}
			}
			stays[n] = append(stays[n], s)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for n, list := range stays {
		node, err := tx.NodeByNumber(n)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list { // it is fullest when something begins
			cpus, mem := demoTaken(list, s.start)
			if cpus > amountOf(node, index.NCPUs) || mem > amountOf(node, index.Mem) {
				t.Errorf("%s when %s begins: %d cpus and %d kb are taken", node.Name, s.who, cpus, mem)
			}
		}
		row := doc.NodeList[n]
		cpus, mem := demoTaken(list, tx.Now())
		if row.Node != node.Name || row.CPUsFree != row.CPUs-cpus || row.MemFree != (amountOf(node, index.Mem)-mem)*1024 {
			t.Errorf("%+v; taken of it are %d cpus and %d kb", row, cpus, mem)
		}
		if row.Running > 0 {
			running++
		}
	}
	ix, err := tx.Index()
	if err != nil {
		t.Fatal(err)
	}
	busy, later := 0, 0
	for _, b := range ix.Buckets() {
		busy += int(b.Count[index.Busy])
		later += int(b.Count[index.Later])
	}
	if busy != running || later == 0 {
		t.Errorf("%d nodes busy, %d have jobs; %d later", busy, running, later)
	}
}

// demoJobStays reads what every job had of its nodes, and holds those that run
// against the calendar.
func demoJobStays(t *testing.T, tx *store.Tx, doc *demoDoc) map[uint32][]demoStay {
	t.Helper()
	stays, count := make(map[uint32][]demoStay), make(map[store.JobState]int)
	err := tx.EachJob(func(j *store.Job) error {
		count[j.State]++
		asked, err := tx.Asked(j)
		if err != nil {
			return err
		}
		for i, c := range j.Chunks {
			s := demoStay{start: j.Start, end: j.End, who: j.Name}
			for _, w := range asked[i].Wants {
				switch w.Res {
				case index.NCPUs:
					s.cpus = w.Value.Num
				case index.Mem:
					s.mem = w.Value.Num
				}
			}
			for _, n := range c.Nodes {
				s.within = n.Within
				if n.Chunks != 1 || !n.Shared {
					t.Errorf("%s has %+v", j.Name, n)
				}
				stays[n.Node] = append(stays[n.Node], s)
				on := slices.ContainsFunc(tx.Calendar().At(n.Node), func(b timeline.Busy) bool {
					return !b.Claim && b.Owner>>1 == j.ID && b.Start == j.Start && b.End == j.End
				})
				if on != (j.State == store.JobRunning) {
					t.Errorf("%s is %v on node %d, where the calendar has %+v", j.Name, j.State, n.Node, tx.Calendar().At(n.Node))
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := map[store.JobState]int{store.JobRunning: doc.Running, store.JobFinished: doc.Released}; !cmp.Equal(count, want) {
		t.Errorf("jobs by state: %v, want %v", count, want)
	}
	return stays
}

// demoTaken is what is taken of a node at an instant. Jobs in a reservation take
// what it keeps.
func demoTaken(list []demoStay, at int64) (cpus, mem int64) {
	type amounts struct{ cpus, mem int64 }
	kept, in := make(map[uint64]amounts), make(map[uint64]amounts)
	for _, s := range list {
		switch {
		case at < s.start || at >= s.end:
		case s.claim != 0:
			kept[s.claim] = amounts{s.cpus, s.mem}
		default:
			in[s.within] = amounts{in[s.within].cpus + s.cpus, in[s.within].mem + s.mem}
		}
	}
	for id, a := range in {
		cpus, mem = cpus+max(a.cpus, kept[id].cpus), mem+max(a.mem, kept[id].mem)
		delete(kept, id)
	}
	for _, a := range kept {
		cpus, mem = cpus+a.cpus, mem+a.mem
	}
	return cpus, mem
}

func amountOf(n *index.Node, id index.ResID) int64 {
	v, _ := n.Get(id)
	return v.Num
}
