package demo

import (
	"slices"
	"testing"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
)

// claim is what a job or reservation takes from a node for a period.
type claim struct {
	start, end int64
	cpus, mem  int64  // everything that the node has, for a whole node
	within     uint64 // of a job: its reservation
	claim      uint64 // of a reservation: its number
	who        string
}

// checkDemo compares the jobs with each other, the reservations, the calendar and the buckets. Only the job
// rows say who ran where.
func checkDemo(t *testing.T, tx *engine.Tx) {
	t.Helper()
	stays, running := jobClaims(t, tx), 0
	err := tx.Reservations().Each(func(v *engine.Reservation) error {
		for i, n := range v.Nodes {
			node, err := tx.Nodes().ByNumber(n)
			if err != nil {
				return err
			}
			s := claim{start: v.Start.Unix(), end: v.End.Unix(), cpus: amountOf(node, index.NCPUs),
				mem: amountOf(node, index.Mem), claim: v.ID, who: v.Name}
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
		node, err := tx.Nodes().ByNumber(n)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list { // a node is fullest when something begins
			cpus, mem := takenOf(list, s.start)
			if cpus > amountOf(node, index.NCPUs) || mem > amountOf(node, index.Mem) {
				t.Errorf("%s when %s begins: %d cpus and %d kb are taken", node.Name, s.who, cpus, mem)
			}
		}
		if slices.ContainsFunc(list, func(s claim) bool {
			return s.claim == 0 && s.start <= tx.Now().Unix() && tx.Now().Unix() < s.end
		}) {
			running++
		}
	}
	buckets, err := tx.Ask().Buckets()
	if err != nil {
		t.Fatal(err)
	}
	busy := 0
	for _, b := range buckets {
		busy += b.Busy
	}
	if busy+1 != running { // no bucket counts a node that is down
		t.Errorf("%d nodes are busy by their buckets, but jobs run on %d", busy, running)
	}
}

// jobClaims reads what every job took from its nodes, and compares running jobs with the calendar.
func jobClaims(t *testing.T, tx *engine.Tx) map[uint32][]claim {
	t.Helper()
	stays, count := make(map[uint32][]claim), make(map[engine.JobState]int)
	err := tx.Jobs().Each(func(j *engine.Job) error {
		count[j.State]++
		asked, err := tx.Jobs().Asked(j)
		if err != nil {
			return err
		}
		for i, c := range j.Chunks {
			s := claim{start: j.Start.Unix(), end: j.End.Unix(), who: j.Name}
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
					t.Errorf("%s has %+v, want one chunk on a shared node", j.Name, n)
				}
				stays[n.Node] = append(stays[n.Node], s)
				planned, err := tx.Nodes().Allocations(n.Node)
				if err != nil {
					return err
				}
				on := slices.ContainsFunc(planned, func(a engine.Allocation) bool {
					return a.Job == j.ID && a.Start.Equal(j.Start) && a.Due.Equal(j.End)
				})
				if on != (j.State == engine.JobRunning || j.State == engine.JobReserved) {
					t.Errorf("%s is %v on node %d, where the calendar has %+v", j.Name, j.State, n.Node, planned)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for state, least := range map[engine.JobState]int{engine.JobRunning: 100, engine.JobFinished: 800,
		engine.JobFailed: 3,
		engine.JobQueued: 10, engine.JobReserved: 1} {
		if count[state] < least {
			t.Errorf("only %d jobs are %v", count[state], state)
		}
	}
	return stays
}

// takenOf returns what is taken from a node at an instant. Jobs in a reservation take from what it keeps.
func takenOf(list []claim, at int64) (cpus, mem int64) {
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
