package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/index/devices"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/locality"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/query"
	"github.com/placectl/placectl/query/tables"
	"github.com/placectl/placectl/timeline"
)

// call holds the arguments for a method of Tx, or of a topic of it; rows come from an earlier
// transaction.
type call struct {
	args   []any
	writes bool
}

// calls returns plausible arguments for every method of Tx.
func calls(t *testing.T, db *DB) map[string]call {
	t.Helper()
	var job *Job
	var node *index.Node
	var plan *placer.Plan
	ask := placer.Request{Select: "2:ncpus=1", Place: "scatter", Walltime: time.Hour, User: "ann"}
	var array []*Job
	var executed uint64
	err := db.Update(func(tx *Tx) (err error) {
		array, err = tx.Jobs().Submit(
			Submission{Request: ask, Array: 2, Payload: &Payload{Dir: "/", Script: "#!/bin/sh\n"}})
		if err != nil {
			return err
		}
		ending, err := tx.Jobs().Place(placer.Request{Select: "1:ncpus=1", Walltime: time.Hour, User: "ann"})
		if err != nil {
			return err
		}
		executed = ending.ID
		_, err = tx.Attempts().Claim(Claim{Job: executed, Attempt: 1, By: BySupervisor, Nonce: Nonce{9},
			Process: Process{Host: "n00", PID: 8}})
		if err == nil {
			_, err = tx.Jobs().Cancel(executed, "test")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = db.View(func(tx *Tx) (err error) {
		if job, err = tx.Jobs().Get(4); err != nil {
			return err
		}
		if node, err = tx.Nodes().Get("n00"); err != nil {
			return err
		}
		plans, err := tx.Ask().When(ask, time.Time{}, 1)
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
		"Roles": reads(), "Priorities": reads(),
		"Cycle.Play": writes(PlaySpec{}), "Cycle.MayStop": reads(uint64(4)), "Cycle.WouldStop": writes(uint64(4)),
		"Nodes.Beginning": reads("n", 3),
		"Ask.Ask":         reads(ask), "Ask.Policy": reads(ask), "Ask.Route": reads(ask), "Ask.Candidates": reads(ask),
		"Ask.When": reads(ask, time.Time{}, 2), "Ask.WhenJob": reads(uint64(6)), "Ask.Outlook": reads(),
		"Cycle.Forecasts": reads(), "Cycle.FreshForecasts": reads(), "Suppose": reads(func(*Tx) error { return nil }),
		"Ask.Explain": reads(ask, placer.Explain{}), "Ask.ExplainJob": reads(uint64(2), placer.Explain{}),
		"Jobs.Place": writes(ask), "Jobs.PlaceAt": writes(ask, later), "Jobs.PlaceOrReserve": writes(ask),
		"Jobs.Submit": writes(Submission{Request: ask}),
		"Jobs.Get":    reads(uint64(4)), "Jobs.Each": reads(func(*Job) error { return nil }), "Jobs.Asked": reads(job),
		"Jobs.ExecVNode": reads(job),
		"Jobs.Array":     reads(array[0].Array), "Jobs.IsArray": reads(array[0].Array), "Jobs.Next": reads(),
		"Jobs.JobOrArray": reads(array[0].Array), "Jobs.Counterparts": reads([]uint64{array[0].Array}),
		"Jobs.Payload": reads(array[0].ID), "Jobs.Signed": reads(array[0].ID),
		"Jobs.Sign": writes(uint64(3), Signer(nil)), "Attempts.HoldUnsigned": writes(uint64(4), 1),
		"Attempts.BeforeClaim": reads(uint64(4), 1), "Jobs.SetCommand": writes(uint64(4), []string{"true"}),
		"Attempts.LaunchEnded": writes(uint64(4), error(nil), 3), "Attempts.StopAgain": writes(job),
		"Jobs.Finish": writes(uint64(4), 0, ""), "Jobs.Cancel": writes(uint64(4), ""),
		"Jobs.Hold":   writes(uint64(6), ""),
		"Jobs.Unhold": writes(uint64(3)), "Jobs.Requeue": writes(uint64(4), ""),
		"Jobs.RequeueHeld": writes(uint64(4), ""), "Jobs.Retry": writes([]uint64{4}, Signer(nil)),
		"Attempts.Signal": writes(uint64(4), 10), "Attempts.Signalled": writes(uint64(4), 1, Nonce{1}, 1),
		"Jobs.Named": reads("NAME", true), "Attempts.Unreached": writes(uint64(4), 1, "no route"),
		"Attempts.LeftOver": writes(uint64(4), 1, Nonce{1}, "processes are left"), "Jobs.Release": writes(uint64(4)),
		"Jobs.Extend": writes(uint64(4), 7000*time.Second),
		"Cycle.Run":   writes(CycleSpec{}), "Nodes.Names": reads([]uint32{1, 2}),
		"Nodes.Owner":  reads(timeline.Busy{Owner: row.JobOwner(4)}),
		"Nodes.Number": reads("n00"), "Nodes.ByNumber": reads(uint32(0)), "Nodes.Get": reads("n00"),
		"Nodes.Each": reads(func(*index.Node) error { return nil }),
		"Nodes.Scan": reads(func(*index.Node) error { return nil }),
		"Preemption": reads(), "Nodes.Resolve": reads("n[00-03]"), "Nodes.Put": writes(&index.Node{Name: "n00"}),
		"Nodes.SetState": writes(uint32(0), index.Down, "test"),
		"Nodes.SetLoad":  writes(uint32(0), 1.5), "Nodes.Remove": writes(uint32(39)), "Nodes.Left": reads(node),
		"Nodes.Occupancy": reads(node), "Nodes.Allocations": reads(uint32(3)), "Ask.Buckets": reads(),
		"Nodes.Used": reads(node),
		"Usage":      reads(), "Pools": reads(), "Accounts": reads(), "Views": reads(), "Limits": reads(),
		"Queues.All": reads(), "Queues.Get": reads("q"), "Queues.Add": writes(Queue{Name: "p"}),
		"Queues.Set": writes(Queue{Name: "q", Policy: "tetris"}), "Queues.Remove": writes("q"),
		"Reservations.Get":  reads("r1"),
		"Reservations.Each": reads(func(*Reservation) error { return nil }), "Reservations.ReserveNodes": writes("new",
			[]uint32{38}, later, later.Add(time.Minute)),
		"Reservations.Reserve": writes("new", ask, later),
		"Reservations.Add": writes(ReserveSpec{Name: "new", Nodes: []uint32{38}, Start: later,
			End: later.Add(time.Minute)}),
		"Reservations.Remove": writes("r1"), "Reservations.Standing": reads("s0"),
		"Reservations.EachStanding": reads(func(*Standing) error { return nil }),
		"Reservations.Occurrences":  reads("s0"),
		"Config.Resources":          reads(),
		"Config.AddResource":        writes(index.Def{Name: "shape", Type: index.String}),
		"Config.RemoveResource":     writes("lic"),
		"Ask.PlacementSets":         reads("", []string{"color"}), "Ask.WaitsFor": reads(plan),
		"Ask.Guess": reads(plan), "Config.Settings": reads(), "Cycle.Pending": reads(), "Cycle.Startable": reads(),
		"Cycle.NextChange": reads(), "Cycle.LastTook": reads(), "Cycle.LastBegan": reads(), "Cycle.Overdue": reads(),
		"Config.AllSettings": reads(),
		"Config.Set":         writes("signature", "ncpus"), "Shares.State": reads(), "Shares.Get": reads(),
		"Shares.Set":   writes(&fairshare.Settings{Loads: []fairshare.ClassLoad{{Class: "a", Load: 100}}}),
		"Shares.Timer": reads(), "Shares.SetTimer": writes(fairshare.Timer{Running: true, Since: 5}),
		"Shares.ClassOf": reads("ann"),
		"Jobs.Alter":     writes(array[0].ID, Alteration{}), "Ask.Stats": reads(), "Ask.Metrics": reads(),
		"Writable": reads(), "Now": reads(),
		"EachEvent":      reads(uint64(0), func(*Event) (bool, error) { return true, nil }),
		"RecordedEvents": reads(), "Query": reads(context.Background(), statement[0], Query{}), "QueryTables": reads(),
		"Batches.Each": reads(func(*Batch) error { return nil }), "Batches.Get": reads("work0"),
		"Batches.Files":  reads("work0", locality.Span{}),
		"Batches.Remove": writes("work0"), "Batches.Make": writes("more", locality.Settings{}),
		"Batches.EachRange": reads("work0", func(*locality.Cursor) error { return nil }),
		"Batches.EachHost":  reads("work0", func(*locality.Host, *locality.Member) error { return nil }),
		"Batches.Places":    reads("work0"),
		"Batches.EachJob":   reads("work0", func(int, *locality.Job, *locality.Task) error { return nil }),
		"Batches.Next":      writes("work0", "h9", "", locality.Want{}),
		"Batches.Done":      writes("work0", "h1", []int{0}), "Batches.Fail": writes("work0", "h1", []int{0}),
		"Once": writes(&Once{Key: "k"}, func() error { return nil }), "ResetClock": writes(time.Unix(1, 0)),
		"Amend": writes("k", []byte("answer")), "Adopt": writes(false), "Copy": reads(),
		"Devices.Drain":    writes(uint32(0), "ngpus", []string{"0"}, "ecc"),
		"Devices.Detected": writes("n1", []devices.Held(nil)), "Devices.Resume": writes(uint32(0), "ngpus",
			[]string{"0"}),
		"Devices.SplitNode": writes(uint32(0)), "Devices.JoinNode": writes("n00"),
		"Devices.Cut": writes(uint32(0), "ngpus", []string{"0"}, 2, "gslices"), "Devices.HeldBy": reads(job),
		"Devices.Of": reads(job), "Nodes.Moved": reads(), "Devices.OfNode": reads(node),
		"Devices.On": reads(job, uint32(0)),
		"Attempts.Claim": writes(Claim{Job: 4, Attempt: 1, By: BySupervisor, Nonce: Nonce{1},
			Process: Process{Host: "n00", PID: 7}}),
		"Attempts.Report": writes(Result{Job: 4, Attempt: 1, Nonce: Nonce{1}, Outcome: OutcomeUnbegun}),
		"Attempts.Finish": writes(Finished{Job: 4, Attempt: 1}), "Attempts.GiveBack": writes(executed),
		"Attempts.Lose": writes(uint32(0), "test"), "Attempts.PutBack": writes(uint32(0), "test"),
		"Attempts.Attend":     writes(uint64(4), Attendant{Nonce: Nonce{5}, Process: Process{Host: "n00"}}),
		"Attempts.AttendedOn": reads("n00"), "Attempts.LaunchBy": writes(LaunchWork), "Hook": reads(), "Hosts": reads(),
		"Attempts.Get": reads(uint64(4), 0), "Attempts.Each": reads(uint64(0), func(*Attempt) error { return nil }),
		"Attempts.Unclaimed": reads(func(*Job) error { return nil }),
		"Attempts.ClaimedOn": reads("n00", func(*Job, *Attempt) error { return nil }), "Attempts.HostOf": reads(job),
		"Identity":       reads(),
		"Batches.Expire": writes("work0"), "Batches.Recompute": writes("work0"),
	}
}

// method returns a method of a transaction, or of a topic of it: "Jobs.Get".
func method(tx *Tx, name string) reflect.Value {
	topic, name, of := strings.Cut(name, ".")
	m := reflect.ValueOf(tx).MethodByName(topic)
	if of && m.IsValid() {
		m = m.Call(nil)[0].MethodByName(name)
	}
	return m
}

// methods lists all methods: each one of a topic, unless the topic has a case for itself.
func methods(cases map[string]call) (names []string) {
	typ := reflect.TypeFor[*Tx]()
	for i := range typ.NumMethod() {
		m := typ.Method(i)
		if _, itself := cases[m.Name]; itself || m.Type.NumIn() != 1 || m.Type.NumOut() != 1 ||
			m.Type.Out(0).NumMethod() == 0 {
			names = append(names, m.Name)
			continue
		}
		for k := range m.Type.Out(0).NumMethod() {
			names = append(names, m.Name+"."+m.Type.Out(0).Method(k).Name)
		}
	}
	return names
}

// make calls a method and returns its answer and its error.
func (c call) make(tx *Tx, name string) (answer string, err error) {
	m := method(tx, name)
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
		case map[string][]tables.Column:
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

// TestEveryMethodInAFreshView calls every method of a transaction in one that has read nothing
// yet. It answers as in one that has read everything. If it would change something, it returns
// ErrReadOnly and changes nothing.
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
	there := methods(all)
	for name := range all {
		if !slices.Contains(there, name) {
			t.Fatalf("there is a case for %s, and no such method", name)
		}
	}
	for _, name := range there {
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
						t.Errorf("%s answers in a View that has read all %v, %s\nand in a fresh one %s", name, err,
							again, answer)
					}
				})
			}
		})
	}
}
