package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/query"
	"github.com/placectl/placectl/store/internal/row"
	"github.com/placectl/placectl/timeline"
)

// call is what a method of Tx is called with: rows are those of an earlier
// transaction.
type call struct {
	args   []any
	writes bool
}

// calls has plausible arguments for every method of Tx.
func calls(t *testing.T, db *DB) map[string]call {
	t.Helper()
	var job *Job
	var node *index.Node
	var plan *placer.Plan
	ask := placer.Request{Select: "2:ncpus=1", Place: "scatter", Walltime: time.Hour, User: "ann"}
	var array []*Job
	var executed uint64
	err := db.Update(func(tx *Tx) (err error) {
		array, err = tx.Submit(Submission{Request: ask, Array: 2, Payload: &Payload{Dir: "/", Script: "#!/bin/sh\n"}})
		if err != nil {
			return err
		}
		ending, err := tx.Place(placer.Request{Select: "1:ncpus=1", Walltime: time.Hour, User: "ann"})
		if err != nil {
			return err
		}
		executed = ending.ID
		_, err = tx.Claim(Claim{Job: executed, Attempt: 1, By: BySupervisor, Nonce: Nonce{9}, Process: Process{Host: "n00", PID: 8}})
		if err == nil {
			_, err = tx.Cancel(executed, "test")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(func(tx *Tx) (err error) {
		if job, err = tx.Job(4); err != nil {
			return err
		}
		if node, err = tx.Node("n00"); err != nil {
			return err
		}
		plans, err := tx.When(ask, time.Time{}, 1)
		if err == nil {
			plan = plans[0].Plan
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	statement, err := query.Parse("SELECT name FROM nodes ORDER BY name")
	if err != nil {
		t.Fatal(err)
	}
	reads := func(args ...any) call { return call{args: args} }
	writes := func(args ...any) call { return call{args, true} }
	later := time.Unix(1_000_000+4_000_000, 0)
	return map[string]call{
		"Ask": reads(ask), "Policy": reads(ask), "Route": reads(ask), "Candidates": reads(ask), "When": reads(ask, time.Time{}, 2), "WhenJob": reads(uint64(6)), "Outlook": reads(), "Forecasts": reads(), "FreshForecasts": reads(), "Suppose": reads(func(*Tx) error { return nil }),
		"Explain": reads(ask, placer.Explain{}), "ExplainJob": reads(uint64(2), placer.Explain{}),
		"Place": writes(ask), "PlaceAt": writes(ask, later), "PlaceOrReserve": writes(ask), "Submit": writes(Submission{Request: ask}),
		"Job": reads(uint64(4)), "EachJob": reads(func(*Job) error { return nil }), "Asked": reads(job), "ExecVNode": reads(job),
		"ArrayJobs": reads(array[0].ID), "Payload": reads(array[0].ID), "Signed": reads(array[0].ID), "Sign": writes(uint64(3), Signer(nil)), "HoldUnsigned": writes(uint64(4), 1), "BeforeClaim": reads(uint64(4), 1), "SetCommand": writes(uint64(4), []string{"true"}),
		"LaunchEnded": writes(uint64(4), error(nil), 3), "Finish": writes(uint64(4), 0, ""), "Cancel": writes(uint64(4), ""), "Hold": writes(uint64(6), ""),
		"Unhold": writes(uint64(3)), "Requeue": writes(uint64(4), ""), "RequeueHeld": writes(uint64(4), ""), "Retry": writes([]uint64{4}, Signer(nil)), "Signal": writes(uint64(4), 10), "Signalled": writes(uint64(4), 1, Nonce{1}, 1), "JobsNamed": reads("NAME"), "Unreached": writes(uint64(4), 1, "no route"), "Release": writes(uint64(4)), "Extend": writes(uint64(4), 7000*time.Second),
		"Cycle": writes(CycleSpec{}), "NodeNames": reads([]uint32{1, 2}), "Owner": reads(timeline.Busy{Owner: row.JobOwner(4)}),
		"NodeNumber": reads("n00"), "NodeByNumber": reads(uint32(0)), "Node": reads("n00"), "EachNode": reads(func(*index.Node) error { return nil }),
		"ScanNodes":  reads(func(*index.Node) error { return nil }),
		"Preemption": reads(), "ResolveNodes": reads("n[00-03]"), "PutNode": writes(&index.Node{Name: "n00"}), "SetNodeState": writes(uint32(0), index.Down, "test"),
		"SetLoad": writes(uint32(0), 1.5), "RemoveNode": writes(uint32(39)), "Left": reads(node), "Occupancy": reads(node), "Allocations": reads(uint32(3)), "Buckets": reads(), "Used": reads(node),
		"Usage": reads(), "Pools": reads(), "Accounts": reads(), "Views": reads(), "Limits": reads(), "Queues": reads(), "Queue": reads("q"), "AddQueue": writes(Queue{Name: "p"}),
		"SetQueue": writes(Queue{Name: "q", Policy: "tetris"}), "RemoveQueue": writes("q"), "Reservation": reads("r1"),
		"EachReservation": reads(func(*Reservation) error { return nil }), "ReserveNodes": writes("new", []uint32{38}, later, later.Add(time.Minute)),
		"Reserve": writes("new", ask, later), "AddReservation": writes(ReserveSpec{Name: "new", Nodes: []uint32{38}, Start: later, End: later.Add(time.Minute)}),
		"Unreserve": writes("r1"), "Standing": reads("s0"), "EachStanding": reads(func(*Standing) error { return nil }), "Occurrences": reads("s0"),
		"Resources": reads(), "AddResource": writes(index.Def{Name: "shape", Type: index.String}), "RemoveResource": writes("lic"),
		"PlacementSets": reads("", []string{"color"}), "WaitsFor": reads(plan), "Settings": reads(), "Pending": reads(), "Startable": reads(), "NextChange": reads(), "LastCycleTook": reads(), "Overdue": reads(), "AllSettings": reads(),
		"Configure": writes("signature", "ncpus"), "ShareState": reads(), "Shares": reads(), "SetShares": writes(&fairshare.Settings{Loads: []fairshare.ClassLoad{{Class: "a", Load: 100}}}),
		"ShareTimer": reads(), "SetShareTimer": writes(fairshare.Timer{Running: true, Since: 5}), "ClassOf": reads("ann"),
		"Alter": writes(array[0].ID, Alteration{}), "Stats": reads(), "Metrics": reads(), "Writable": reads(), "Now": reads(), "Host": reads("h1"), "EachEvent": reads(uint64(0), func(*Event) (bool, error) { return true, nil }),
		"RecordedEvents": reads(), "Query": reads(context.Background(), statement[0], Query{}), "QueryTables": reads(),
		"EachBatch": reads(func(*Batch) error { return nil }), "Batch": reads("work0"), "RemoveBatch": writes("work0"), "MakeBatch": writes("more", locality.Settings{}),
		"EachBatchRange": reads("work0", func(*locality.Cursor) error { return nil }), "EachBatchHost": reads("work0", func(*locality.Host, *locality.Member) error { return nil }),
		"BatchPlaces": reads("work0"), "EachBatchJob": reads("work0", func(int, *locality.Job, *locality.Task) error { return nil }),
		"BatchNext": writes("work0", "h9", "", locality.Want{}), "BatchDone": writes("work0", "h1", []int{0}), "BatchFail": writes("work0", "h1", []int{0}),
		"Once": writes(&Once{Key: "k"}, func() error { return nil }), "ResetClock": writes(time.Unix(1, 0)), "Amend": writes("k", []byte("answer")),
		"DrainDevices": writes(uint32(0), "ngpus", []string{"0"}, "ecc"), "Detected": writes("n1", []devices.Held(nil)), "ResumeDevices": writes(uint32(0), "ngpus", []string{"0"}),
		"SplitNode": writes(uint32(0)), "JoinNode": writes("n00"),
		"CutDevices": writes(uint32(0), "ngpus", []string{"0"}, 2, "gslices"), "HeldBy": reads(job), "Devices": reads(job), "Moved": reads(), "DevicesOfNode": reads(node), "DevicesOn": reads(job, uint32(0)),
		"Claim":         writes(Claim{Job: 4, Attempt: 1, By: BySupervisor, Nonce: Nonce{1}, Process: Process{Host: "n00", PID: 7}}),
		"Report":        writes(Result{Job: 4, Attempt: 1, Nonce: Nonce{1}, Outcome: OutcomeUnbegun}),
		"FinishAttempt": writes(Finished{Job: 4, Attempt: 1}), "GiveBack": writes(executed), "Lose": writes(uint32(0), "test"), "Attend": writes(uint64(4), Attendant{Nonce: Nonce{5}, Process: Process{Host: "n00"}}), "AttendedOn": reads("n00"), "LaunchBy": writes(LaunchWork), "Hook": reads(), "Hosts": reads(),
		"Attempt": reads(uint64(4), 0), "EachAttempt": reads(uint64(0), func(*Attempt) error { return nil }),
		"Unclaimed": reads(func(*Job) error { return nil }), "ClaimedOn": reads("n00", func(*Job, *Attempt) error { return nil }), "HostOf": reads(job), "Identity": reads(),
		"BatchExpire": writes("work0"), "BatchRecompute": writes("work0"),
	}
}

// make calls a method and returns what it answers, and its error.
func (c call) make(tx *Tx, name string) (answer string, err error) {
	m := reflect.ValueOf(tx).MethodByName(name)
	in := make([]reflect.Value, len(c.args))
	for i, a := range c.args {
		if in[i] = reflect.ValueOf(a); a == nil {
			in[i] = reflect.Zero(m.Type().In(i))
		}
	}
	for _, out := range m.Call(in) {
		v := out.Interface()
		if e, failed := v.(error); failed {
			err = e
			continue
		}
		switch v := v.(type) {
		case *index.Index, *timeline.Calendar, *index.Defs, *Rows:
			continue // large, and handed out to be asked
		case map[string][]query.Column:
			for _, table := range slices.Sorted(maps.Keys(v)) {
				for _, c := range v[table] {
					answer += table + "." + c.Name + " "
				}
			}
		default:
			text, failed := json.Marshal(v)
			if failed != nil {
				return "", failed
			}
			answer += string(text) + " "
		}
	}
	return answer, err
}

// TestEveryMethodInAFreshView calls every method of a transaction in one that has
// read nothing yet. It answers as in one that has read everything, or, where it would
// change something, says ErrReadOnly and has changed nothing.
func TestEveryMethodInAFreshView(t *testing.T) {
	t.Parallel()
	db, clock := fullDB(t)
	clock.t += 50_000 // plans have begun meanwhile, without a write
	all := calls(t, db)
	warm := func(tx *Tx) {
		for name, c := range all {
			if !c.writes {
				_, _ = c.make(tx, name)
			}
		}
	}
	digest := func(tx *Tx) map[string]string {
		out := make(map[string]string)
		for name, c := range all {
			if !c.writes {
				answer, err := c.make(tx, name)
				out[name] = fmt.Sprint(answer, err)
			}
		}
		return out
	}
	var fresh map[string]string
	view := func(what string, fn func(*Tx)) {
		t.Helper()
		defer func() {
			if p := recover(); p != nil {
				t.Errorf("%s: %v", what, p)
			}
		}()
		if err := db.View(func(tx *Tx) error { fn(tx); return nil }); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	view("all", func(tx *Tx) { fresh = digest(tx) })
	typ := reflect.TypeFor[*Tx]()
	for name := range all {
		if _, ok := typ.MethodByName(name); !ok {
			t.Fatalf("there is a case for %s, and no such method", name)
		}
	}
	for i := range typ.NumMethod() {
		name := typ.Method(i).Name
		c, ok := all[name]
		if !ok {
			t.Errorf("%s has no case", name)
			continue
		}
		view(name, func(tx *Tx) {
			answer, err := c.make(tx, name)
			switch {
			case c.writes && !errors.Is(err, ErrReadOnly):
				t.Errorf("%s in a View: %v", name, err)
			case c.writes:
				if diff := cmp.Diff(fresh, digest(tx)); diff != "" {
					t.Errorf("%s, though refused, changes what is read after it:\n%s", name, diff)
				}
			case err != nil:
				t.Errorf("%s: %v", name, err)
			default:
				view(name+" in a warm View", func(tx *Tx) {
					warm(tx)
					if again, err := c.make(tx, name); again != answer || err != nil {
						t.Errorf("%s answers in a View that has read all %v, %s\nand in a fresh one %s", name, err, again, answer)
					}
				})
			}
		})
	}
}
