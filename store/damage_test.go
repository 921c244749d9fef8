package store

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/recur"
	"github.com/placectl/placectl/store/internal/file"
	"github.com/placectl/placectl/store/internal/row"
)

// lively makes a database with some of everything in it.
func lively(t testing.TB) (*DB, *clock) {
	t.Helper()
	db, clock := newDB(t)
	addNodes(t, db, "n", 8, 4)
	addNodes(t, db, "m", 4, 2)
	err := db.Update(func(tx *Tx) error {
		if err := tx.AddQueue(Queue{Name: "q"}); err != nil {
			return err
		}
		if err := tx.SetNodeState(3, index.Down, "disk"); err != nil {
			return err
		}
		_, err := tx.ReserveNodes("soon", []uint32{1, 2}, instant(tx.now+5000), instant(tx.now+6000))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, _, err := place(db, "2:ncpus=1", 1000e9); err != nil {
			t.Fatal(err)
		}
	}
	err = db.Update(func(tx *Tx) error {
		if _, err := tx.Release(2); err != nil {
			return err
		}
		if _, err := tx.ReserveNodes("later", []uint32{10, 11}, instant(tx.now+5000), instant(tx.now+6000)); err != nil {
			return err
		}
		// Nodes that are shared, and reservations that let somebody in.
		if _, err := tx.Place(placer.Request{Select: "3:ncpus=1", Walltime: time.Hour, User: "ann"}); err != nil {
			return err
		}
		for i, s := range []ReserveSpec{
			{Name: "course", Request: placer.Request{Select: "2:ncpus=1", Walltime: time.Hour}, Start: instant(tx.now + 7000), Limit: 10 * time.Minute},
			{Name: "nightly", Nodes: []uint32{0, 1}, Start: instant(tx.now + 8000), End: instant(tx.now + 9000), Repeat: recur.Repeat{Rule: "daily"}, Depth: 2},
		} {
			s.Access = placer.AccessList{{Kind: placer.AccessUser, Value: "ann", Affinity: placer.Affinity(i)}}
			if _, err := tx.AddReservation(s); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	fillQueue(t, db, clock)
	addBatch(t, db, "night", locality.Settings{Hosts: 4}, someJobs(60))
	workBatch(t, db, "night")
	keepAnswer(t, db)
	return db, clock
}

// keepAnswer leaves what a request with a key was answered.
func keepAnswer(t testing.TB, db *DB) {
	t.Helper()
	err := db.file.Update(func(r *file.Recorder) (bool, error) {
		a := row.Answer{Key: "nightly 7", Request: [32]byte{1, 2}, At: 1_000_000, Until: 4_000_000, First: 1, Jobs: 1, Text: []byte("job 1, job 1, job 1")}
		payload, err := a.Encode()
		if err != nil {
			return false, err
		}
		if err := r.Put(row.Answers, []byte(a.Key), payload); err != nil {
			return false, err
		}
		return true, r.Mark(row.AnswerDues, row.AnswerDueKey(a.Until, []byte(a.Key)))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// fillQueue leaves one job waiting, one planned, one held, and one that the clock
// has started.
func fillQueue(t testing.TB, db *DB, clock *clock) {
	t.Helper()
	one := placer.Request{Select: "1:ncpus=1", Place: "excl", Walltime: 100e9}
	err := db.Update(func(tx *Tx) error {
		for _, s := range []Submission{{Request: one, Begin: instant(tx.now + 10)}, {Request: one, Begin: instant(tx.now + 9999), Array: 2},
			{Request: one, Hold: true}, {Request: placer.Request{Select: "1:ncpus=1000"}}} {
			if _, err := tx.Submit(s); err != nil {
				return err
			}
		}
		_, err := tx.Cycle(CycleSpec{Backfill: Conservative})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	clock.t += 20
	if err := db.Update(func(*Tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
}

// findings runs Check and gathers what it says.
func findings(t *testing.T, db *DB) []string {
	t.Helper()
	var list []string
	if err := db.Check(func(f string) { list = append(list, f) }); err != nil {
		list = append(list, err.Error())
	}
	return list
}

// rewrite changes a row behind the store's back, with a right checksum and sum.
func rewrite(t *testing.T, db *DB, name row.Table, change func(key, payload []byte) []byte) {
	t.Helper()
	err := db.file.Update(func(r *file.Recorder) (bool, error) {
		c := r.Cursor(name)
		for c.Next() {
			if payload := change(bytes.Clone(c.Key), bytes.Clone(c.Payload)); payload != nil {
				return true, r.Put(name, bytes.Clone(c.Key), payload)
			}
		}
		return false, cmp.Or(c.Err, fmt.Errorf("no row of %s to change", name))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// recount changes the counters behind the store's back.
func recount(t *testing.T, db *DB, change func(*row.State)) {
	t.Helper()
	rewrite(t, db, row.Meta, func(key, payload []byte) []byte {
		var c row.State
		if string(key) != string(row.KeyState) || c.Decode(payload) != nil {
			return nil
		}
		change(&c)
		return c.Encode()
	})
}

// drop deletes a table's first row behind the store's back.
func drop(t *testing.T, db *DB, name row.Table) {
	t.Helper()
	err := db.file.Update(func(r *file.Recorder) (bool, error) {
		c := r.Cursor(name)
		if !c.Next() {
			return false, fmt.Errorf("table %s is empty", name)
		}
		return true, r.Remove(name, bytes.Clone(c.Key))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestCheckMutants makes one mistake of each kind and expects check to find it,
// and repair to mend what is derived.
func TestCheckMutants(t *testing.T) {
	type mutant struct {
		name   string
		mutate func(*testing.T, *DB)
		says   string
		mends  bool
	}
	var mutants []mutant
	for t := range row.TableCount {
		if t.Derived() {
			mutants = append(mutants, mutant{"a row of " + t.String() + " is gone", func(tt *testing.T, db *DB) { drop(tt, db, t) }, "", true})
		}
	}
	mutants = append(mutants,
		mutant{"a job's node is another", func(t *testing.T, db *DB) {
			rewrite(t, db, row.Jobs, func(key, payload []byte) []byte {
				j, err := row.DecodeJob(key, payload)
				if err != nil || j.State != JobRunning {
					return nil
				}
				j.Chunks[0].Nodes[0].Node = 11
				return row.EncodeJob(j)
			})
		}, "calendar", true},
		mutant{"two jobs on one node", func(t *testing.T, db *DB) {
			first := uint32(0)
			rewrite(t, db, row.Jobs, func(key, payload []byte) []byte {
				j, err := row.DecodeJob(key, payload)
				if err != nil || j.State != JobRunning {
					return nil
				}
				if j.ID == 1 {
					first = j.Chunks[0].Nodes[0].Node
					return nil
				}
				j.Chunks[0].Nodes[0].Node = first
				return row.EncodeJob(j)
			})
		}, "share node", false},
		mutant{"a job without a legal state", func(t *testing.T, db *DB) {
			rewrite(t, db, row.Jobs, func(_, payload []byte) []byte { payload[1] = 99; return payload })
		}, "legal state", false},
		mutant{"a job on too few nodes", func(t *testing.T, db *DB) {
			rewrite(t, db, row.Jobs, func(key, payload []byte) []byte {
				j, _ := row.DecodeJob(key, payload)
				j.Chunks[0].Nodes = j.Chunks[0].Nodes[:1]
				return row.EncodeJob(j)
			})
		}, "asked for 2", false},
		mutant{"a node in another bucket", func(t *testing.T, db *DB) {
			rewrite(t, db, row.Nodes, func(_, payload []byte) []byte { payload[2]++; return payload })
		}, "values put it into", true},
		mutant{"a node number from the future", func(t *testing.T, db *DB) {
			recount(t, db, func(c *row.State) { c.NextNode = 2 })
		}, "the next one 2", false},
		mutant{"a job number given out again", func(t *testing.T, db *DB) {
			recount(t, db, func(c *row.State) { c.NextJob = 2 })
		}, "the next job number is 2", false},
	)
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			db, _ := lively(t)
			if list := findings(t, db); len(list) > 0 {
				t.Fatalf("before: %q", list)
			}
			m.mutate(t, db)
			list := findings(t, db)
			if len(list) == 0 || !strings.Contains(strings.Join(list, "\n"), m.says) {
				t.Fatalf("check says %q, nothing of %q", list, m.says)
			}
			err := db.Repair(func(string) {})
			if m.mends != (err == nil) {
				t.Fatalf("repair: %v", err)
			}
			if left := findings(t, db); m.mends && len(left) > 0 {
				t.Fatalf("after repair: %q", left)
			}
		})
	}
}

// dump writes out what a reader sees, every row of it but the sums, which tell how often
// the file was written.
func dump(db *DB) (text string, err error) {
	var b strings.Builder
	err = db.View(func(tx *Tx) error {
		for t := range row.TableCount {
			err := tx.file.Each(t, nil, func(key, payload []byte) (bool, error) {
				if row.Counted(t, key) {
					fmt.Fprintf(&b, "%s %x %x\n", t.String(), key, payload)
				}
				return true, nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return b.String(), err
}

func dumpAll(t *testing.T, db *DB) string {
	t.Helper()
	text, err := dump(db)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
