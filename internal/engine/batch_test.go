package engine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/locality"
)

// someJobs returns jobs for tests: two or three for each file, some of them wanted twice.
func someJobs(n int) []locality.Job {
	r := rand.New(rand.NewPCG(1, 2))
	jobs := make([]locality.Job, n)
	for i := range jobs {
		jobs[i] = locality.Job{A: i / 3, B: i/3 + r.IntN(3), Credit: 1 + r.Int64N(2*locality.Micro),
			Quorum: 1 + r.IntN(2)}
	}
	return jobs
}

// addBatch makes a batch of those jobs.
func addBatch(t testing.TB, db *DB, name string, s locality.Settings, jobs []locality.Job) {
	t.Helper()
	err := db.Update(func(tx *Tx) error {
		m, err := tx.Batches().Make(name, s)
		if err != nil {
			return err
		}
		for i := range jobs[len(jobs)-1].A + 10 {
			if err := m.AddFile(BatchFile{Name: fmt.Sprint("f", i), Size: int64(i)}); err != nil {
				return err
			}
		}
		for _, j := range jobs {
			if err := m.AddJob(j); err != nil {
				return err
			}
		}
		_, err = m.Finish()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// workBatch leaves a batch with jobs of every kind: done, with hosts, returned, and failed.
func workBatch(t testing.TB, db *DB, name string) {
	t.Helper()
	err := db.Update(func(tx *Tx) error {
		for _, host := range []string{"h1", "h2", "h3"} {
			g, err := tx.Batches().Next(name, host, "user-of-"+host, locality.Want{Jobs: 4})
			if err != nil {
				return err
			}
			if _, err := tx.Batches().Done(name, host, []int{g.Jobs[0].Job}); err != nil {
				return err
			}
			for _, j := range g.Jobs[1:min(2, len(g.Jobs))] {
				if _, err := tx.Batches().Fail(name, host, []int{j.Job}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestBatchEqualsMemory runs the same operations on a file and in memory.
func TestBatchEqualsMemory(t *testing.T) {
	for _, policy := range locality.Policies() {
		t.Run(policy.Name, func(t *testing.T) {
			db, clock := newDB(t)
			jobs := someJobs(400)
			s := locality.Settings{Policy: policy.Name, Team: 2, Hosts: 6, MaxErrors: 1, Lease: 900, Cushion: 3}
			addBatch(t, db, "b", s, jobs)
			rows := locality.NewMemory()
			m, err := locality.NewMaker("b", s, jobs[len(jobs)-1].A+10, rows.Keep)
			if err != nil {
				t.Fatal(err)
			}
			for _, j := range jobs {
				if err := m.Add(j); err != nil {
					t.Fatal(err)
				}
			}
			b, err := m.Finish(rows, clock.t)
			if err != nil {
				t.Fatal(err)
			}
			r := seeded(t)
			known := map[string]*locality.Host{}
			hands := map[string][]int{}
			for step := range 600 {
				clock.t += r.Int64N(60)
				name := fmt.Sprint("h", r.IntN(6))
				if known[name] == nil {
					known[name] = &locality.Host{Number: uint32(len(known)), Name: name}
					if err := rows.PutHost(known[name]); err != nil {
						t.Fatal(err)
					}
				}
				op, err := locality.Begin(rows, b, clock.t)
				if err != nil {
					t.Fatal(err)
				}
				h, _ := rows.Host(known[name].Number)
				var have, want any
				var haveErr, wantErr error
				if held := hands[name]; len(held) > 0 && r.IntN(3) > 0 {
					fail := r.IntN(6) == 0
					var got []locality.Report
					err := db.Update(func(tx *Tx) error {
						answer := tx.Batches().Done
						if fail {
							answer = tx.Batches().Fail
						}
						got, haveErr = answer("b", name, held[:1])
						return nil
					})
					if err != nil {
						t.Fatal(err)
					}
					answer := op.Done
					if fail {
						answer = op.Fail
					}
					var rep locality.Report
					rep, wantErr = answer(h, held[0])
					hands[name] = held[1:]
					if wantErr == nil {
						have, want = got, []locality.Report{rep}
					}
				} else {
					var got *BatchGrant
					if err := db.Update(func(tx *Tx) error {
						got, haveErr = tx.Batches().Next("b", name, "", locality.Want{Jobs: 1 + step%4})
						return nil
					}); err != nil {
						t.Fatal(err)
					}
					if _, err := op.Expire(); err != nil {
						t.Fatal(err)
					}
					h, _ = rows.Host(known[name].Number)
					var g locality.Grant
					g, wantErr = op.Next(h, locality.Want{Jobs: 1 + step%4})
					have, want = got.Jobs, g.Jobs
					for _, j := range g.Jobs {
						hands[name] = append(hands[name], j.Job)
					}
				}
				if (haveErr == nil) != (wantErr == nil) || !errors.Is(wantErr, locality.ErrNotHeld) == errors.Is(
					haveErr, ErrConflict) {
					t.Fatalf("step %d: the file says %v, memory %v", step, haveErr, wantErr)
				}
				if diff := cmp.Diff(want, have); diff != "" {
					t.Fatalf("step %d (-memory +file)\n%s", step, diff)
				}
			}
			if list := findings(t, db); len(list) > 0 {
				t.Errorf("%q", list)
			}
		})
	}
}

// TestBatchMutants makes one error of each kind in the rows of a batch, and expects check to
// find it.
func TestBatchMutants(t *testing.T) {
	cursor := func(change func(*locality.Cursor)) func(*testing.T, *DB) {
		return func(t *testing.T, db *DB) {
			rewrite(t, db, row.BatchRanges, func(key, payload []byte) []byte {
				c, err := row.DecodeRange(key, payload)
				if err != nil {
					t.Fatal(err)
				}
				change(c)
				return row.EncodeRange(c)
			})
		}
	}
	member := func(change func(*locality.Member)) func(*testing.T, *DB) {
		return func(t *testing.T, db *DB) {
			rewrite(t, db, row.BatchHosts, func(key, payload []byte) []byte {
				m, err := row.MemberRow.Decode(key, payload)
				if err != nil {
					t.Fatal(err)
				}
				change(m)
				return row.MemberRow.Encode(m)
			})
		}
	}
	batch := func(change func(*row.Batch)) func(*testing.T, *DB) {
		return func(t *testing.T, db *DB) {
			rewrite(t, db, row.Batches, func(key, payload []byte) []byte {
				b, err := row.BatchRow.Decode(key, payload)
				if err != nil {
					t.Fatal(err)
				}
				change(b)
				return row.BatchRow.Encode(b)
			})
		}
	}
	for _, m := range []struct {
		name   string
		mutate func(*testing.T, *DB)
		says   string
	}{
		{"a range ends early", cursor(func(c *locality.Cursor) { c.Last-- }), "range"},
		{"a range runs into the next", cursor(func(c *locality.Cursor) { c.Last++ }), "a range, where one begins"},
		{"a cursor has passed what is unfinished", cursor(func(c *locality.Cursor) { c.Unfinished += 2 }),
			"is not finished"},
		{"the first ungenerated is before the first unfinished",
			cursor(func(c *locality.Cursor) { c.Generated = c.First - 1 }), "generated up to"},
		{"a credit is off by a millionth", cursor(func(c *locality.Cursor) { c.Open++ }), "open credit"},
		{"a team is faster than its hosts", cursor(func(c *locality.Cursor) { c.Ends[0].Rate++ }), "open credit"},
		{"a host less in a team", member(func(m *locality.Member) { m.Placed = false }), "the jobs and hosts say"},
		{"a host forgets what it holds", member(func(m *locality.Member) { m.Live = nil }), "does not know"},
		{"a batch has done a job more", batch(func(b *row.Batch) { b.Done++ }), "jobs are done"},
		{"a batch has less left", batch(func(b *row.Batch) { b.Remaining-- }), "remains"},
		{"an instance is live and expired", func(t *testing.T, db *DB) {
			rewrite(t, db, row.BatchTasks, func(key, payload []byte) []byte {
				b, err := row.BatchTasksRow.Decode(key, payload)
				if err != nil {
					t.Fatal(err)
				}
				for i := range b.Tasks {
					for k := range b.Tasks[i].Instances {
						if x := &b.Tasks[i].Instances[k]; x.State == locality.Live {
							x.State = locality.Expired
							return row.BatchTasksRow.Encode(b)
						}
					}
				}
				return nil
			})
		}, "in hands"},
		{"a host's number is missing", func(t *testing.T, db *DB) { drop(t, db, row.Hosts) }, "host_names"},
	} {
		t.Run(m.name, func(t *testing.T) {
			db, _ := newDB(t)
			addBatch(t, db, "b", locality.Settings{Policy: "cursors", Hosts: 10}, someJobs(90))
			workBatch(t, db, "b")
			if list := findings(t, db); len(list) > 0 {
				t.Fatalf("before: %q", list)
			}
			m.mutate(t, db)
			if list := strings.Join(findings(t, db), "\n"); !strings.Contains(list, m.says) {
				t.Errorf("check says %q, not %q", list, m.says)
			}
		})
	}
}

// TestBadWant: a host cannot want less than nothing.
func TestBadWant(t *testing.T) {
	db, _ := newDB(t)
	for _, w := range []locality.Want{{Jobs: -1}, {Seconds: -1}, {Jobs: 1, Lease: -1}} {
		err := db.Update(func(tx *Tx) error { _, err := tx.Batches().Next("b", "h", "", w); return err })
		if !errors.Is(err, ErrInvalid) {
			t.Errorf("%+v: %v", w, err)
		}
	}
}

// TestRemoveBatch leaves nothing of a batch and everything of the others.
func TestRemoveBatch(t *testing.T) {
	db, _ := newDB(t)
	for _, name := range []string{"a", "b", "c"} {
		addBatch(t, db, name, locality.Settings{}, someJobs(200))
		workBatch(t, db, name)
	}
	if err := db.Update(func(tx *Tx) error {
		_, err := tx.Batches().Remove("b")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if list := findings(t, db); len(list) > 0 {
		t.Errorf("%q", list)
	}
	for _, name := range []string{"a", "c"} {
		workBatch(t, db, name)
	}
	if err := db.View(func(tx *Tx) error {
		_, err := tx.Batches().Get("b")
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("%v", err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
