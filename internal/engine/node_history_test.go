package engine

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/nodes"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"pgregory.net/rapid"
)

// onRecord returns a node without what its past does not record.
func onRecord(n *index.Node) string {
	was := *n
	was.Bucket, was.Load, was.Lessened = 0, 0, false
	return string(row.EncodeNode(&was))
}

// nodesNow returns the nodes by number.
func nodesNow(tx *Tx) (map[uint32]string, error) {
	out := make(map[uint32]string)
	return out, tx.Nodes().Each(func(n *index.Node) error { out[n.Number] = onRecord(n); return nil })
}

// nodesAt returns the nodes as they were, by number.
func nodesAt(tx *Tx, at int64) (map[uint32]string, error) {
	out, err := nodesNow(tx)
	if err != nil {
		return nil, err
	}
	was, err := nodes.NodesAt(tx.k.File, at)
	if err != nil {
		return nil, err
	}
	for number, n := range was.Changed {
		delete(out, number)
		if n != nil {
			out[number] = onRecord(n)
		}
	}
	return out, nil
}

// TestNodeHistory changes nodes at random, several at an instant and in a transaction. Then it
// reads the nodes at each instant and compares them with their state then.
func TestNodeHistory(tt *testing.T) {
	rapid.Check(tt, func(t *rapid.T) {
		db, clock := newDB(tt)
		begin := clock.t
		kept := map[int64]map[uint32]string{}
		for range rapid.IntRange(1, 6).Draw(t, "transactions") {
			clock.t += rapid.Int64Range(0, 3).Draw(t, "pass")
			err := db.Update(func(tx *Tx) error {
				for range rapid.IntRange(1, 4).Draw(t, "changes") {
					if err := changeNode(t, tx); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := db.View(func(tx *Tx) (err error) { kept[clock.t], err = nodesNow(tx); return err }); err != nil {
				t.Fatal(err)
			}
			if rapid.IntRange(0, 9).Draw(t, "reset") == 0 && clock.t > begin+1 {
				to := rapid.Int64Range(begin, clock.t-1).Draw(t, "to")
				err := db.Update(func(tx *Tx) error { _, err := tx.ResetClock(kernel.Instant(to)); return err })
				if err != nil {
					t.Fatal(err)
				}
				last := kept[clock.t]
				maps.DeleteFunc(kept, func(at int64, _ map[uint32]string) bool { return at >= to })
				clock.t, kept[to] = to, last
			}
		}
		instants := slices.Sorted(maps.Keys(kept))
		for at := instants[0]; at <= clock.t; at++ {
			i, found := slices.BinarySearch(instants, at)
			if !found {
				i--
			}
			err := db.View(func(tx *Tx) error {
				was, err := nodesAt(tx, at)
				if diff := cmp.Diff(kept[instants[i]], was); diff != "" {
					t.Errorf("at @%d (-want +got)\n%s", at, diff)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		var found []string
		if err := db.Check(func(f string) { found = append(found, f) }); err != nil || len(found) > 0 {
			t.Errorf("check: %q, %v", found, err)
		}
	})
}

// changeNode changes one node in one of the possible ways.
func changeNode(t *rapid.T, tx *Tx) error {
	name := fmt.Sprintf("n%d", rapid.IntRange(0, 4).Draw(t, "node"))
	number, there, err := tx.Nodes().Number(name)
	if err != nil {
		return err
	}
	switch what := rapid.IntRange(0, 5).Draw(t, "what"); {
	case !there || what == 0:
		n := &index.Node{Name: name, Priority: int32(rapid.IntRange(0, 2).Draw(t, "priority")),
			Features: slices.Repeat([]string{"ssd"}, rapid.IntRange(0, 1).Draw(t, "features"))}
		for _, id := range []index.ResID{index.NCPUs, index.Mem, index.NGPUs} {
			if rapid.Bool().Draw(t, "has") {
				n.Set(id, index.Value{Num: rapid.Int64Range(1, 3).Draw(t, "amount")})
			}
		}
		_, err = tx.Nodes().Put(n)
	case what == 1:
		err = tx.Nodes().Remove(number)
	case what == 2:
		err = tx.Nodes().SetLoad(number, 1)
	default:
		err = tx.Nodes().SetState(number, index.State(rapid.IntRange(0, 3).Draw(t, "state")),
			rapid.SampledFrom([]string{"", "disk"}).Draw(t, "reason"))
	}
	return err
}

// TestNodePastSmall verifies what a change of nodes costs in the file: many nodes with equal
// changes have one row, and an unchanged one has none.
func TestNodePastSmall(t *testing.T) {
	db, clock := newDB(t)
	addNodes(t, db, "n", 200, 8)
	clock.t++
	err := db.Update(func(tx *Tx) error {
		for n := range uint32(200) {
			if err := tx.Nodes().SetState(n, index.Down, "power"); err != nil {
				return err
			}
		}
		n, err := tx.Nodes().ByNumber(7)
		if err == nil {
			_, err = tx.Nodes().Put(n)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	rows, size := 0, 0
	err = db.View(func(tx *Tx) error {
		return tx.k.File.Each(row.NodePasts, nil, func(_, payload []byte) (bool, error) {
			rows, size = rows+1, size+len(payload)
			return true, nil
		})
	})
	if err != nil || rows != 2 || size > 100 {
		t.Errorf("%d rows of %d bytes for 200 nodes that are there and go down: %v", rows, size, err)
	}
}

// TestNodesAtPast runs a random life, and reads the nodes at each instant. When it later reads
// that instant, AT must give the same, and capacity the sums.
func TestNodesAtPast(tt *testing.T) {
	const columns = "number, name, queue, priority, state, reason, access, features, jobs, ncpus, mem, ngpus, " +
		"ncpus_free, mem_free, ngpus_free"
	const sums = "SELECT count(*), sum(state IN ('free', 'partly', 'busy')), coalesce(sum(ncpus), 0), " +
		"coalesce(sum(ncpus) FILTER (WHERE state IN ('free', 'partly', 'busy')), 0) FROM nodes"
	rapid.Check(tt, func(t *rapid.T) {
		db, clock := newDB(tt)
		addNodes(tt, db, "m", 2, 4)
		type moment struct {
			at          int64
			nodes, sums string
		}
		var kept []moment
		for range rapid.IntRange(1, 8).Draw(t, "transactions") {
			clock.t += rapid.Int64Range(1, 30).Draw(t, "pass")
			err := db.Update(func(tx *Tx) error {
				if rapid.Bool().Draw(t, "node") {
					if err := changeNode(t, tx); err != nil && !errors.Is(err, ErrConflict) {
						return err
					}
				}
				sel := fmt.Sprintf("%d:ncpus=%d", rapid.IntRange(1, 2).Draw(t, "chunks"),
					rapid.IntRange(1, 3).Draw(t, "ncpus"))
				r := placer.Request{Select: sel,
					Place:    rapid.SampledFrom([]string{"free", "scatter:excl", "scatter"}).Draw(t, "place"),
					Walltime: time.Duration(rapid.IntRange(5, 90).Draw(t, "walltime")) * time.Second}
				if rapid.Bool().Draw(t, "submit") {
					if _, err := tx.Jobs().Submit(Submission{Request: r}); err != nil {
						return err
					}
				}
				var running []uint64
				if err := tx.Jobs().Each(func(j *Job) error { running = append(running, j.ID); return nil },
					JobRunning); err != nil {
					return err
				}
				if len(running) > 0 {
					switch id := rapid.SampledFrom(running).Draw(t, "job"); rapid.IntRange(0, 2).Draw(t, "ends") {
					case 0:
						_, err := tx.Jobs().Release(id)
						return err
					case 1:
						_, err := tx.Jobs().Requeue(id, "again")
						if err != nil && !errors.Is(err, ErrConflict) {
							return err
						}
					}
				}
				_, err := tx.Cycle().Run(CycleSpec{})
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			kept = append(kept, moment{clock.t, answered(tt, db, "SELECT "+columns+" FROM nodes ORDER BY number"),
				answered(tt, db, sums)})
		}
		clock.t++
		for _, m := range kept {
			if got := answered(tt, db, fmt.Sprintf("SELECT %s FROM nodes AT '@%d' ORDER BY number", columns,
				m.at)); got != m.nodes {
				t.Fatalf("nodes at @%d\n%s\nwant\n%s", m.at, got, m.nodes)
			}
			if got := answered(tt, db,
				fmt.Sprintf("SELECT nodes, up, ncpus, ncpus_up FROM capacity WHERE start <= '@%d' AND until > '@%d'",
					m.at, m.at)); got != m.sums {
				t.Fatalf("capacity at @%d\n%s\nwant\n%s", m.at, got, m.sums)
			}
		}
	})
}
