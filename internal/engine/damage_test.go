package engine

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/kernel"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/placer/preempt"
	"github.com/placectl/placectl/placer/recur"
	"github.com/placectl/placectl/placer/subject"
)

// lively returns a database with some of everything in it.
func lively(t testing.TB) (*DB, *clock) {
	t.Helper()
	db, clock := newDB(t)
	addNodes(t, db, "n", 8, 4)
	addNodes(t, db, "m", 4, 2)
	err := db.Update(func(tx *Tx) error {
		if err := tx.Queues().Add(Queue{Name: "q"}); err != nil {
			return err
		}
		if err := tx.Nodes().SetState(3, index.Down, "disk"); err != nil {
			return err
		}
		_, err := tx.Reservations().ReserveNodes("soon", []uint32{1, 2}, kernel.Instant(tx.k.Now+5000),
			kernel.Instant(tx.k.Now+6000))
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
		if _, err := tx.Jobs().Release(2); err != nil {
			return err
		}
		if _, err := tx.Reservations().ReserveNodes("later", []uint32{10, 11}, kernel.Instant(tx.k.Now+5000),
			kernel.Instant(tx.k.Now+6000)); err != nil {
			return err
		}
		// Shared nodes, and reservations that admit someone.
		if _, err := tx.Jobs().Place(placer.Request{Select: "3:ncpus=1", Walltime: time.Hour,
			User: "ann"}); err != nil {
			return err
		}
		for i, s := range []ReserveSpec{
			{Name: "course", Request: placer.Request{Select: "2:ncpus=1", Walltime: time.Hour},
				Start: kernel.Instant(tx.k.Now + 7000), Limit: 10 * time.Minute},
			{Name: "nightly", Nodes: []uint32{0, 1}, Start: kernel.Instant(tx.k.Now + 8000),
				End: kernel.Instant(tx.k.Now + 9000), Repeat: recur.Repeat{Rule: "daily"}, Depth: 2},
		} {
			s.Access = placer.AccessList{{Subject: subject.User.Of("ann"), Affinity: placer.Affinity(i)}}
			if _, err := tx.Reservations().Add(s); err != nil {
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
	carryPayloads(t, db)
	executeOne(t, db)
	countSome(t, db)
	return db, clock
}

// countSome makes pools that a job, a planned job and a reservation use, and an array with at
// most two jobs running at once.
func countSome(t testing.TB, db *DB) {
	t.Helper()
	err := db.Update(func(tx *Tx) error {
		for _, p := range []Pool{{Name: "fluent", Amount: 30, Outside: 7, Until: kernel.Instant(tx.k.Now + 9000)},
			{Name: "matlab", Amount: 4}} {
			if err := tx.Pools().Set(p, true); err != nil {
				return err
			}
		}
		r := placer.Request{Walltime: time.Hour, User: "ann", Pools: []placer.PoolAmount{{Pool: "matlab", Amount: 3},
			{Pool: "fluent", Amount: 2}}}
		for range 2 {
			if _, err := tx.Jobs().PlaceOrReserve(r); err != nil {
				return err
			}
		}
		r.Pools = r.Pools[1:]
		if _, err := tx.Reservations().Add(ReserveSpec{Name: "licences", Request: r,
			Start: kernel.Instant(tx.k.Now + 20_000)}); err != nil {
			return err
		}
		r.Pools = nil
		if _, err := tx.Jobs().Submit(Submission{Request: r, Array: 3, Throttle: 2}); err != nil {
			return err
		}
		if err := tx.Views().Set(SQLView{"idle", "SELECT name FROM nodes WHERE state = 'free'"}); err != nil {
			return err
		}
		if err := tx.Accounts().Set(Account{Name: "chem", Shares: 40}); err != nil {
			return err
		}
		if err := tx.Preemption().Set(&preempt.Rule{Over: subject.Key{{Kind: subject.Queue, Name: "urgent"}}, Grace: 60,
			AtMost: 2}); err != nil {
			return err
		}
		if err := tx.Roles().Add("ann", Operator); err != nil {
			return err
		}
		if err := tx.Limits().Set(Limit{Key: "user=*", Measure: "running", Max: 200},
			Limit{Key: "all", Measure: "jobs", Max: 5000}); err != nil {
			return err
		}
		return tx.Accounts().Set(Account{Name: "org", Parent: "chem", Shares: 1,
			Members: []AccountMember{{User: "ann", Shares: 2}}, Allow: []string{"user=ann"}})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// carryPayloads submits jobs with payloads: three with the same, one with another.
func carryPayloads(t testing.TB, db *DB) {
	t.Helper()
	script := &Payload{Script: "#!/bin/sh\necho $X\n", Dir: "/tmp", Umask: 0o22, Env: []string{"LANG=C", "X=1"},
		Out: "%x.%j", Compat: "pbs",
		Limits:    []ResourceLimit{{Name: "nofile", Soft: 1024, Hard: NoLimit}},
		Variables: []string{"SLURM_CPUS_PER_TASK=2"}}
	err := db.Update(func(tx *Tx) error {
		for _, s := range []Submission{{Array: 2, Payload: script}, {Payload: script},
			{Command: []string{"true"}, Payload: &Payload{Dir: "/", Append: true}}} {
			s.Request, s.Hold = placer.Request{Select: "1:ncpus=1", Walltime: time.Hour, User: "ann"}, true
			if _, err := tx.Jobs().Submit(s); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// executeOne leaves a job with an executed attempt, after a job with a failed one.
func executeOne(t testing.TB, db *DB) {
	t.Helper()
	err := db.Update(func(tx *Tx) error {
		s := Submission{Request: placer.Request{Select: "1:ncpus=1", Walltime: 3 * time.Hour, User: "ann"},
			Command: []string{"true"}, Priority: 1 << 30}
		list, err := tx.Jobs().Submit(s)
		if err != nil {
			return err
		}
		if _, err := tx.Cycle().Run(CycleSpec{Silent: true}); err != nil {
			return err
		}
		c := Claim{Job: list[0].ID, Attempt: 1, By: BySupervisor, Nonce: Nonce{1},
			Process: Process{Host: "n00", Boot: "b", PID: 17, Born: 4}}
		if _, err := tx.Attempts().Report(Result{Job: c.Job, Attempt: 1, Nonce: c.Nonce, Outcome: OutcomeUnbegun,
			Why: "killed"}); err != nil {
			return err
		}
		c.Attempt, c.Nonce = 2, Nonce{2}
		_, err = tx.Attempts().Claim(c)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// keepAnswer leaves the answer to a request with a key.
func keepAnswer(t testing.TB, db *DB) {
	t.Helper()
	err := db.file.Update(func(r *file.Recorder) (bool, error) {
		a := row.Answer{Key: "nightly 7", Request: [32]byte{1, 2}, At: 1_000_000, Until: 4_000_000, First: 1, Jobs: 1,
			Text: []byte("job 1, job 1, job 1")}
		if err := r.Put(row.Answers, []byte(a.Key), row.AnswerRow.Encode(&a)); err != nil {
			return false, err
		}
		return true, r.Mark(row.AnswerDues, row.AnswerRows.Indexes[0].Key(nil, &a))
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
		for _, s := range []Submission{{Request: one, Begin: kernel.Instant(tx.k.Now + 10)},
			{Request: one, Begin: kernel.Instant(tx.k.Now + 9999), Array: 2},
			{Request: one, Hold: true}, {Request: placer.Request{Select: "1:ncpus=1000"}}} {
			if _, err := tx.Jobs().Submit(s); err != nil {
				return err
			}
		}
		_, err := tx.Cycle().Run(CycleSpec{Backfill: Conservative})
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

// findings runs Check and returns its findings.
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
		if string(key) != string(row.KeyState) || row.StateRow.Read(&c, row.KeyState, payload) != nil {
			return nil
		}
		change(&c)
		return row.StateRow.Encode(&c)
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

// putRow writes a row behind the store's back.
func putRow(t *testing.T, db *DB, table row.Table, key, payload []byte) {
	t.Helper()
	if err := db.file.Update(func(r *file.Recorder) (bool, error) {
		return true,
			r.Put(table, key, payload)
	}); err != nil {
		t.Fatal(err)
	}
}

// addRow adds a row to a table: its last one under another key.
func addRow(t *testing.T, db *DB, table row.Table) {
	t.Helper()
	err := db.file.Update(func(r *file.Recorder) (bool, error) {
		key, err := r.Last(table)
		if err != nil {
			return false, err
		}
		key = bytes.Clone(key)
		payload, err := r.Get(table, key)
		if err != nil {
			return false, err
		}
		key[len(key)-1]++
		return true, r.Put(table, key, bytes.Clone(payload))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// spoilRow flips a bit in the first row of a table, in the file.
func spoilRow(t *testing.T, db *DB, table row.Table) {
	t.Helper()
	var stored []byte
	err := db.file.View(func(r *file.Recorder) error {
		c := r.Cursor(table)
		c.Next()
		stored = append(bytes.Clone(c.Key), row.Seal(c.Key, bytes.Clone(c.Payload))...)
		return c.Err
	})
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(db.Path())
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; ; {
		i := bytes.Index(content[at:], stored)
		if i < 0 {
			break
		}
		at += i + len(stored)
		content[at-1] ^= 1
	}
	if err := os.WriteFile(db.Path(), content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// sharedNode returns a node that jobs share.
func sharedNode(t *testing.T, db *DB) (node uint32) {
	t.Helper()
	node = index.NoNode
	err := db.View(func(tx *Tx) error {
		return tx.Jobs().Each(func(j *Job) error {
			if j.Chunks[0].Nodes[0].Shared {
				node = j.Chunks[0].Nodes[0].Node
			}
			return nil
		}, JobRunning)
	})
	if err != nil || node == index.NoNode {
		t.Fatal("no node is shared", err)
	}
	return node
}

// remedy is what repair does about an error.
type remedy int

const (
	guesses remedy = iota // it would have to guess about rows
	rebuilt
	left // as it is: what is derived is right
)

// changedJob changes the jobs that wait.
func changedJob(change func(*row.Job)) func(*testing.T, *DB) { return jobIn(JobQueued, change) }

// runningJob changes the jobs that run.
func runningJob(change func(*row.Job)) func(*testing.T, *DB) { return jobIn(JobRunning, change) }

func jobIn(state JobState, change func(*row.Job)) func(*testing.T, *DB) {
	return func(t *testing.T, db *DB) {
		rewrite(t, db, row.Jobs, func(key, payload []byte) []byte {
			j, err := row.DecodeJob(key, payload)
			if err != nil || j.State != state {
				return nil
			}
			change(j)
			return row.EncodeJob(j)
		})
	}
}

// changedNode changes node number 0.
func changedNode(change func(*index.Node)) func(*testing.T, *DB) {
	return func(t *testing.T, db *DB) {
		rewrite(t, db, row.Nodes, func(key, payload []byte) []byte {
			n, err := row.DecodeNode(key, payload)
			if err != nil || n.Number != 0 {
				return nil
			}
			change(n)
			return row.EncodeNode(n)
		})
	}
}

// TestCheckMutants makes one error of each kind, and expects check to find it and repair to
// mend what is derived.
func TestCheckMutants(t *testing.T) {
	type mutant struct {
		name   string
		mutate func(*testing.T, *DB)
		says   string
		repair remedy
	}
	var mutants []mutant
	for t := range row.TableCount {
		if t.Derived() {
			mutants = append(mutants,
				mutant{"a row of " + t.String() + " is gone", func(tt *testing.T, db *DB) { drop(tt, db, t) }, "",
					rebuilt},
				mutant{"a row of " + t.String() + " too many", func(tt *testing.T, db *DB) { addRow(tt, db, t) },
					"should not be there", rebuilt},
				mutant{"a row of " + t.String() + " does not match its checksum",
					func(tt *testing.T, db *DB) { spoilRow(tt, db, t) }, "checksum", rebuilt},
			)
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
		}, "calendar", rebuilt},
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
		}, "share node", guesses},
		mutant{"a job without a legal state", func(t *testing.T, db *DB) {
			rewrite(t, db, row.Jobs, func(_, payload []byte) []byte { payload[1] = 99; return payload })
		}, "legal state", guesses},
		mutant{"a waiting job asks for nothing", changedJob(func(j *row.Job) { j.Select = "" }), "select", guesses},
		mutant{"a waiting job has no place", changedJob(func(j *row.Job) { j.Place = "fre" }), "no place", guesses},
		mutant{"a waiting job takes no time", changedJob(func(j *row.Job) { j.Walltime = 0 }), "a walltime of 0 s",
			guesses},
		mutant{"a job with more attempts than can be", runningJob(func(j *row.Job) { j.Attempt = 1 << 40 }), "attempts",
			guesses},
		mutant{"a node has less than nothing",
			changedNode(func(n *index.Node) { n.Set(index.Mem, index.Value{Num: -4}) }), "-4", guesses},
		mutant{"a node has more than can be counted",
			changedNode(func(n *index.Node) { n.Set(index.NCPUs, index.Value{Num: index.MaxAmount + 1}) }),
			"it must be from 0", guesses},
		mutant{"a node has a resource that is not defined",
			changedNode(func(n *index.Node) { n.Set(999, index.Value{Num: 1}) }), "there is none of this number",
			guesses},
		mutant{"a node with a blank in its name", changedNode(func(n *index.Node) { n.Name = "n 0" }), "node name",
			guesses},
		mutant{"a job on too few nodes", func(t *testing.T, db *DB) {
			rewrite(t, db, row.Jobs, func(key, payload []byte) []byte {
				j, _ := row.DecodeJob(key, payload)
				j.Chunks[0].Nodes = j.Chunks[0].Nodes[:1]
				return row.EncodeJob(j)
			})
		}, "asked for 2", guesses},
		mutant{"a node in another bucket", func(t *testing.T, db *DB) {
			rewrite(t, db, row.Nodes, func(_, payload []byte) []byte { payload[2]++; return payload })
		}, "values put it into", rebuilt},
		mutant{"a node has less than jobs take of it", func(t *testing.T, db *DB) {
			shared := sharedNode(t, db)
			rewrite(t, db, row.Nodes, func(key, payload []byte) []byte {
				n, err := row.DecodeNode(key, payload)
				if err != nil || n.Number != shared {
					return nil
				}
				n.Set(index.NCPUs, index.Value{Num: 0})
				return row.EncodeNode(n)
			})
		}, "and it has 0", guesses},
		mutant{"a reservation over a job that it does not let in", func(t *testing.T, db *DB) {
			rewrite(t, db, row.Reservations, func(key, payload []byte) []byte {
				r, err := row.ReservationRow.Decode(key, payload)
				if err != nil || r.Name != "soon" {
					return nil
				}
				r.Start, r.Nodes = 1_000_100, append(r.Nodes, 4, 5, 6, 7, 8)
				slices.Sort(r.Nodes)
				r.Nodes = slices.Compact(r.Nodes)
				return row.ReservationRow.Encode(r)
			})
		}, "", guesses},
		mutant{"a reservation number given out again", func(t *testing.T, db *DB) {
			recount(t, db, func(c *row.State) { c.NextReservation = 1 })
		}, "the next one 1", guesses},
		mutant{"an event number given out again", func(t *testing.T, db *DB) {
			recount(t, db, func(c *row.State) { c.Events = 1 })
		}, "the last one was 1", rebuilt},
		mutant{"a key of a job to come", func(t *testing.T, db *DB) {
			rewrite(t, db, row.Answers, func(key, payload []byte) []byte {
				a, err := row.AnswerRow.Decode(key, payload)
				if err != nil {
					return nil
				}
				a.First = 1000
				return row.AnswerRow.Encode(a)
			})
		}, "the next job number is", guesses},
		mutant{"the files of a batch are missing", func(t *testing.T, db *DB) { drop(t, db, row.BatchFiles) },
			"are missing", guesses},
		mutant{"the row of a batch is missing", func(t *testing.T, db *DB) { drop(t, db, row.Batches) },
			"is of a batch that is not there", guesses},
		mutant{"a file of a batch is missing", func(t *testing.T, db *DB) {
			rewrite(t, db, row.BatchFiles, func(key, payload []byte) []byte {
				files, err := row.BatchFilesRow.Decode(key, payload)
				if err != nil {
					return nil
				}
				rest := (*files)[1:]
				return row.BatchFilesRow.Encode(&rest)
			})
		}, "its files", guesses},
		mutant{"a cursor past its range", func(t *testing.T, db *DB) {
			rewrite(t, db, row.BatchRanges, func(key, payload []byte) []byte {
				c, err := row.DecodeRange(key, payload)
				if err != nil {
					return nil
				}
				c.Low++
				return row.EncodeRange(c)
			})
		}, "batch night", guesses},
		mutant{"shares out of balance since tomorrow", func(t *testing.T, db *DB) {
			putRow(t, db, row.Shares, row.KeyShareState,
				row.ShareTimerRow.Encode(&fairshare.Timer{Running: true, Since: 2_000_000}))
		}, "out of balance since", left},
		mutant{"an instant far ahead", func(t *testing.T, db *DB) {
			recount(t, db, func(c *row.State) { c.AsOf += 1000 })
		}, "clock reset", left},
		mutant{"a row that cannot be decoded", func(t *testing.T, db *DB) {
			rewrite(t, db, row.Events, func(_, payload []byte) []byte { return payload[:3] })
		}, "decoded", guesses},
		mutant{"a job's checksum", func(t *testing.T, db *DB) { spoilRow(t, db, row.Jobs) }, "checksum", guesses},
		mutant{"a node number from the future", func(t *testing.T, db *DB) {
			recount(t, db, func(c *row.State) { c.NextNode = 2 })
		}, "the next one 2", guesses},
		mutant{"a job number given out again", func(t *testing.T, db *DB) {
			recount(t, db, func(c *row.State) { c.NextJob = 2 })
		}, "the next job number is 2", guesses},
		mutant{"a pool that jobs hold is gone", func(t *testing.T, db *DB) {
			err := db.file.Update(func(r *file.Recorder) (bool, error) {
				return true, r.Remove(row.Counters, []byte(row.PoolKey("matlab")))
			})
			if err != nil {
				t.Fatal(err)
			}
		}, "which there is not", guesses},
		mutant{"a job has asked for more of a pool", func(t *testing.T, db *DB) {
			rewrite(t, db, row.Jobs, func(key, payload []byte) []byte {
				j, err := row.DecodeJob(key, payload)
				if err != nil || len(j.Pools) == 0 {
					return nil
				}
				j.Pools[0].Amount++
				return row.EncodeJob(j)
			})
		}, "holdings", rebuilt},
		mutant{"what jobs carry is gone", func(t *testing.T, db *DB) { drop(t, db, row.Payloads) }, "is missing",
			guesses},
		mutant{"what jobs carry is something else", func(t *testing.T, db *DB) {
			rewrite(t, db, row.Payloads, func(key, payload []byte) []byte {
				p, _ := row.PayloadRow.Decode(key, payload)
				p.Dir = "/elsewhere"
				return row.PayloadRow.Encode(p)
			})
		}, "is something else", guesses},
		mutant{"what jobs carry is kept for more of them", func(t *testing.T, db *DB) {
			rewrite(t, db, row.Payloads, func(_, payload []byte) []byte {
				jobs, _ := row.PayloadJobs(payload)
				payload, _ = row.RecountPayload(payload, jobs+1)
				return payload
			})
		}, "and it is kept for", rebuilt},
		mutant{"an attempt that its job does not know", func(t *testing.T, db *DB) {
			rewrite(t, db, row.Attempts, func(key, payload []byte) []byte {
				a, _ := row.DecodeAttempt(key, payload)
				if a.State != row.AttemptClaimed {
					return nil
				}
				a.State = row.AttemptEnding
				return row.EncodeAttempt(a)
			})
		}, "and its job says otherwise", guesses},
		mutant{"a job that no process executes", func(t *testing.T, db *DB) {
			rewrite(t, db, row.Jobs, func(key, payload []byte) []byte {
				j, _ := row.DecodeJob(key, payload)
				if j.State != JobRunning || j.Claimed || j.ToLaunch() {
					return nil
				}
				j.Claimed = true
				return row.EncodeJob(j)
			})
		}, "and the row of its attempt does not", guesses},
		mutant{"a change of a node to come", func(t *testing.T, db *DB) {
			putRow(t, db, row.NodePasts, row.TimeKey(2_000_000, 0),
				row.NodePastRow.Encode(&row.NodePast{Nodes: []uint32{1}, Parts: row.PartState}))
		}, "nodes changed at @2000000", rebuilt},
		mutant{"a node that is there was removed", func(t *testing.T, db *DB) {
			putRow(t, db, row.NodePasts, row.TimeKey(1_000_000, 99),
				row.NodePastRow.Encode(&row.NodePast{Nodes: []uint32{1}, Parts: row.PartWhole,
					Was: index.Node{Name: "n1"}}))
		}, "otherwise than later changes say", rebuilt},
		mutant{"a change of a node is gone", func(t *testing.T, db *DB) { spoilRow(t, db, row.NodePasts) }, "checksum",
			rebuilt},
		mutant{"jobs in another order than they were submitted", func(t *testing.T, db *DB) {
			rewrite(t, db, row.Jobs, func(key, payload []byte) []byte {
				j, _ := row.DecodeJob(key, payload)
				j.Submit++
				return row.EncodeJob(j)
			})
		}, "one of a lower number", guesses},
		mutant{"what no job carries is kept", func(t *testing.T, db *DB) {
			rewrite(t, db, row.Jobs, func(key, payload []byte) []byte {
				j, _ := row.DecodeJob(key, payload)
				if j.Payload == (PayloadKey{}) || len(j.Command) == 0 {
					return nil // others carry the same
				}
				j.Payload = PayloadKey{}
				return row.EncodeJob(j)
			})
		}, "no job carries", rebuilt},
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
			dry := db.DryRepair(func(string) {})
			if now := findings(t, db); !slices.Equal(now, list) {
				t.Fatalf("after a dry run of repair check says %q, and said %q", now, list)
			}
			err := db.Repair(func(string) {})
			if (dry != nil) != (err != nil) {
				t.Fatalf("repair: %v, and in a dry run: %v", err, dry)
			}
			if (m.repair == guesses) != (err != nil) {
				t.Fatalf("repair: %v", err)
			}
			if list := findings(t, db); m.repair == rebuilt && len(list) > 0 {
				t.Fatalf("after repair: %q", list)
			}
		})
	}
}

// dump writes every row that a reader sees, except the sums, which depend on how often the
// file was written.
func dump(db *DB) (text string, err error) {
	var b strings.Builder
	err = db.View(func(tx *Tx) error {
		for t := range row.TableCount {
			err := tx.k.File.Each(t, nil, func(key, payload []byte) (bool, error) {
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
