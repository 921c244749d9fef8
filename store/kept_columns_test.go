package store

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
)

// keptQuestions read whole columns: those that a handle keeps, and some that it must not.
var keptQuestions = []string{
	"SELECT count(*), sum(load), min(name) FROM nodes WHERE load > 2.5 AND load <= 6",
	"SELECT queue, access, sum(load), avg(ncpus), count(*), max(load) FROM nodes GROUP BY queue, access",
	"SELECT name, load FROM nodes WHERE name <> 'n3' ORDER BY load DESC LIMIT 3",
	"SELECT name, load FROM nodes ORDER BY load LIMIT 4 OFFSET 1",
	"SELECT state, sum(ncpus_free), sum(jobs) FROM nodes GROUP BY state",
	"SELECT name, mem FROM nodes WHERE mem IS NULL OR features LIKE '%x%' ORDER BY number",
	"SELECT n.queue, count(*), sum(a.ncpus), max(a.start) FROM allocations a JOIN nodes n ON a.node = n.name GROUP BY n.queue",
	"SELECT a.node, a.start, n.load FROM allocations a JOIN nodes n ON a.node = n.name AND n.load < 5 ORDER BY 2, 1",
	"SELECT node, count(*), sum(ncpus) FROM allocations WHERE start BETWEEN 1000000 AND 1003000 GROUP BY node",
	"SELECT number, rank() OVER (PARTITION BY queue ORDER BY load) FROM nodes ORDER BY 1",
	"SELECT count(*) FROM allocations WHERE chunk IS NOT NULL AND job IN (1, 2, 5)",
}

// TestKeptColumns: what a handle keeps of tables is never older than the file, whoever
// changes it, and never tells another answer than rows do.
func TestKeptColumns(t *testing.T) {
	db, c := newDB(t)
	addNodes(t, db, "n", 8, 8)
	rng := rand.New(rand.NewPCG(5, 5))
	other := reopened(t, db)
	used := 0
	for range 40 {
		by := []*DB{db, other, nil}[rng.IntN(3)] // without a change time alone passes
		if by == nil {
			c.t += 1200
		} else if err := by.Update(func(tx *Tx) error { return changeSome(tx, rng, c) }); err != nil {
			t.Fatal(err)
		}
		c.t += int64(rng.IntN(300))
		for _, text := range keptQuestions {
			once := reopened(t, db)
			want := ask(t, once, text)
			if err := once.Close(); err != nil || once.columns.Tables() != 0 {
				t.Fatalf("%v; %d tables are kept for who asks once", err, once.columns.Tables())
			}
			for range 2 {
				if got := ask(t, db, text); got != want {
					t.Fatalf("%s:\n%s\nfrom rows:\n%s", text, got, want)
				}
			}
		}
		used = max(used, db.columns.Tables())
	}
	if used != 2 {
		t.Errorf("columns of %d tables were kept, not of nodes and allocations", used)
	}
}

// reopened is another handle on the same file.
func reopened(t *testing.T, db *DB) *DB {
	t.Helper()
	again, err := Open(db.Path(), &db.opt)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// changeSome changes nodes, or jobs.
func changeSome(tx *Tx, rng *rand.Rand, c *clock) error {
	var nodes []*index.Node
	err := tx.EachNode(func(n *index.Node) error { nodes = append(nodes, n); return nil })
	if err != nil {
		return err
	}
	n := nodes[rng.IntN(len(nodes))]
	switch rng.IntN(6) {
	case 0, 1:
		return tx.SetLoad(n.Number, float64(rng.IntN(20))/2)
	case 2:
		added := &index.Node{Name: "n" + string(rune('A'+rng.IntN(26))), Queue: "", Features: []string{"x"}, Load: rng.Float64()}
		added.Set(index.NCPUs, index.Value{Num: 4})
		added.Set(index.Mem, index.Value{Num: 1 << 20})
		_, err := tx.PutNode(added)
		return err
	case 3:
		var running []*Job
		err := tx.EachJob(func(j *Job) error { running = append(running, j); return nil }, JobRunning, JobReserved)
		if err != nil || len(running) == 0 {
			return err
		}
		_, err = tx.Release(running[rng.IntN(len(running))].ID)
		return err
	case 4:
		if n.Name[0] == 'n' && len(n.Name) == 2 && n.Name[1] >= 'A' {
			tx.RemoveNode(n.Number) //nolint:errcheck // it may be in use
		}
		return nil
	}
	_, err = tx.PlaceAt(placer.Request{Select: "2:ncpus=1+1:ncpus=2", Walltime: time.Hour}, instant(c.t+int64(rng.IntN(3))*1200))
	if err != nil { // there is no room
		return nil //nolint:nilerr // another change comes
	}
	return nil
}

// TestKeptColumnsTogether: several ask one handle at a time, and get what one by itself gets.
func TestKeptColumnsTogether(t *testing.T) {
	db, _ := newDB(t)
	addNodes(t, db, "n", 50, 8)
	want := make([]string, len(keptQuestions))
	for i, text := range keptQuestions {
		want[i] = ask(t, reopened(t, db), text)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i, text := range keptQuestions {
				if got := ask(t, db, text); got != want[i] {
					t.Errorf("%s:\n%s\nby itself:\n%s", text, got, want[i])
				}
			}
		})
	}
	all.Wait()
}
