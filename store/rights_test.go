package store_test

import (
	"context"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/store"
	"github.com/placectl/placectl/store/storetest"
)

// Who may call a method: everybody; the user whose job it is, or no operator either; operators; or the owner of the
// database.
const (
	everybody = iota + 1
	theirs
	private
	operators
	owner
)

// rights has a call of each method of Tx. Job 1 runs, job 2 waits, job 3 has ended: they are ann's.
var rights = map[string]struct {
	least int
	call  func(*store.Tx) error
}{
	"Now":       {everybody, func(tx *store.Tx) error { tx.Now(); return nil }},
	"Identity":  {everybody, func(tx *store.Tx) error { _, err := tx.Identity(); return err }},
	"Query":     {everybody, func(tx *store.Tx) error { return asks(tx) }},
	"Suppose":   {everybody, func(tx *store.Tx) error { return tx.Suppose(func(*store.Tx) error { return nil }) }},
	"Resources": {everybody, func(tx *store.Tx) error { _, err := tx.Resources(); return err }},
	"Shares":    {everybody, func(tx *store.Tx) error { _, err := tx.Shares(); return err }},
	"Items":     {everybody, func(tx *store.Tx) error { _, err := tx.Items(); return err }},
	"Settings":  {everybody, func(tx *store.Tx) error { _, err := tx.Settings(); return err }},
	"Events": {everybody, func(tx *store.Tx) error {
		for _, err := range tx.Events(0) {
			return err
		}
		return nil
	}},
	"EventsSince": {everybody, func(tx *store.Tx) error { _, err := tx.EventsSince(time.Time{}); return err }},
	"Job":         {everybody, func(tx *store.Tx) error { _, err := tx.Job(1); return err }},
	"Jobs": {everybody, func(tx *store.Tx) error {
		for _, err := range tx.Jobs() {
			return err
		}
		return nil
	}},
	"Array":      {everybody, func(tx *store.Tx) error { _, err := tx.Array(4); return err }},
	"NextChange": {everybody, func(tx *store.Tx) error { _, err := tx.NextChange(); return err }},
	"Play": {everybody, func(tx *store.Tx) error {
		_, err := tx.Play(context.Background(), store.CycleOptions{}, time.Time{})
		return err
	}},
	"When":        {everybody, func(tx *store.Tx) error { _, err := tx.When(one, tx.Now(), 1); return err }},
	"Explain":     {everybody, func(tx *store.Tx) error { _, err := tx.Explain(one); return err }},
	"Prospect":    {everybody, func(tx *store.Tx) error { _, err := tx.Prospect(2); return err }},
	"ExplainJob":  {everybody, func(tx *store.Tx) error { _, _, err := tx.ExplainJob(2); return err }},
	"Node":        {everybody, func(tx *store.Tx) error { _, err := tx.Node("n1"); return err }},
	"Nodes":       {everybody, func(tx *store.Tx) error { return nodes(tx) }},
	"Occupancy":   {everybody, func(tx *store.Tx) error { _, err := tx.Occupancy("n1"); return err }},
	"Devices":     {everybody, func(tx *store.Tx) error { _, err := tx.Devices("n1"); return err }},
	"Reservation": {everybody, func(tx *store.Tx) error { _, err := tx.Reservation("kept"); return err }},

	"Cycle": {everybody, func(tx *store.Tx) error {
		_, err := tx.Cycle(context.Background(), store.CycleOptions{})
		return err
	}},
	"Place": {theirs, func(tx *store.Tx) error { _, err := tx.Place(one); return err }},
	"PlaceAt": {theirs, func(tx *store.Tx) error {
		_, err := tx.PlaceAt(one,
			tx.Now().Add(time.Hour))
		return err
	}},
	"PlaceEarliest": {theirs, func(tx *store.Tx) error { _, err := tx.PlaceEarliest(one); return err }},
	"Submit": {theirs, func(tx *store.Tx) error {
		_,
			err := tx.Submit(store.Submission{Request: one})
		return err
	}},
	"Payload": {private, func(tx *store.Tx) error { _, err := tx.Payload(2); return err }},
	"Alter": {theirs, func(tx *store.Tx) error {
		note := "a note"
		_, err := tx.Alter(2, store.Alteration{Comment: &note})
		return err
	}},
	"Extend":  {theirs, func(tx *store.Tx) error { _, err := tx.Extend(2, time.Minute); return err }},
	"Hold":    {theirs, func(tx *store.Tx) error { _, err := tx.Hold(2, ""); return err }},
	"Unhold":  {theirs, func(tx *store.Tx) error { _, err := tx.Unhold(6); return err }},
	"Cancel":  {theirs, func(tx *store.Tx) error { _, err := tx.Cancel(2, ""); return err }},
	"Release": {theirs, func(tx *store.Tx) error { _, err := tx.Release(1); return err }},
	"Requeue": {theirs, func(tx *store.Tx) error { _, err := tx.Requeue(7, "", false); return err }},
	"Finish":  {theirs, func(tx *store.Tx) error { _, err := tx.Finish(1, 0, ""); return err }},
	"Retry":   {theirs, func(tx *store.Tx) error { _, err := tx.Retry(3); return err }},

	"AddResource": {operators, func(tx *store.Tx) error {
		return tx.AddResource(index.Def{Name: "scratch",
			Type: index.Size})
	}},
	"RemoveResource": {operators, func(tx *store.Tx) error { return tx.RemoveResource("colour") }},
	"SetShares":      {operators, func(tx *store.Tx) error { return tx.SetShares(&fairshare.Settings{}) }},
	"PutNode": {operators, func(tx *store.Tx) error {
		_,
			err := tx.PutNode(&index.Node{Name: "n9"})
		return err
	}},
	"RemoveNode":   {operators, func(tx *store.Tx) error { return tx.RemoveNode("empty") }},
	"SetNodeState": {operators, func(tx *store.Tx) error { return tx.SetNodeState("empty", index.Offline, "") }},
	"SetLoad":      {operators, func(tx *store.Tx) error { return tx.SetLoad("n1", 1) }},
	"SetDevices": {operators, func(tx *store.Tx) error {
		return tx.SetDevices("n1", "ngpus", nil,
			store.DeviceChange{Resume: true})
	}},
	"SplitNode": {operators, func(tx *store.Tx) error { _, err := tx.SplitNode("empty"); return err }},
	"JoinNode":  {operators, func(tx *store.Tx) error { _, err := tx.JoinNode("empty"); return err }},
	"Reserve": {operators, func(tx *store.Tx) error {
		_, err := tx.Reserve(store.ReserveSpec{Name: "r", Nodes: "empty", Start: tx.Now(),
			End: tx.Now().Add(time.Hour)})
		return err
	}},
	"Unreserve": {operators, func(tx *store.Tx) error { return tx.Unreserve("kept") }},
	"Set":       {operators, func(tx *store.Tx) error { return tx.Set(store.Queue{Name: "q"}) }},
	"Remove":    {operators, func(tx *store.Tx) error { return tx.Remove(store.Queue{Name: "old"}) }},
	"Set Role":  {owner, func(tx *store.Tx) error { return tx.Set(store.Role{User: "eve", Role: "operator"}) }},
}

var one = placer.Request{Select: "1:ncpus=1", Walltime: time.Minute, User: "ann"}

func asks(tx *store.Tx) error {
	_, err := tx.Query(context.Background(), store.Query{Text: "SELECT count(*) FROM jobs"})
	return err
}

func nodes(tx *store.Tx) error {
	for _, err := range tx.Nodes() {
		return err
	}
	return nil
}

// furnish makes what the calls are about.
func furnish(tx *store.Tx) error {
	defs, err := tx.Resources()
	if err != nil {
		return err
	}
	for _, name := range []string{"n1", "empty"} {
		n := &index.Node{Name: name}
		if err := n.SetAmount(defs, "ncpus", "4"); err != nil {
			return err
		}
		if _, err := tx.PutNode(n); err != nil {
			return err
		}
	}
	submit := func(s store.Submission) func() error {
		return func() error { s.Request = one; _, err := tx.Submit(s); return err }
	}
	for _, do := range []func() error{
		func() error { _, err := tx.Place(one); return err },
		submit(store.Submission{Payload: &store.Payload{Script: "true", Dir: "/"}}),
		submit(store.Submission{}),
		func() error { _, err := tx.Cancel(3, ""); return err },
		submit(store.Submission{Array: []store.Element{{Index: 0}}, Hold: true}),
		submit(store.Submission{Hold: true}),
		func() error { return tx.AddResource(index.Def{Name: "colour", Type: index.String}) },
		func() error { return tx.Set(store.Queue{Name: "old"}, store.Role{User: "olga", Role: "operator"}) },
		func() error {
			_, err := tx.Reserve(store.ReserveSpec{Name: "kept", Nodes: "empty", Start: tx.Now().Add(time.Hour),
				End: tx.Now().Add(2 * time.Hour)})
			return err
		},
	} {
		if err := do(); err != nil {
			return err
		}
	}
	_, err = tx.Submit(store.Submission{Request: one})
	if err == nil {
		_, err = tx.Hold(2, "")
	}
	if err == nil {
		_, err = tx.Cycle(context.Background(), store.CycleOptions{})
	}
	if err == nil {
		_, err = tx.Unhold(2)
	}
	return err
}

// TestRights calls every method of Tx as the owner, an operator, the user whose jobs are there, and a stranger. Only
// those who lack the right are refused.
func TestRights(t *testing.T) {
	t.Parallel()
	made, clock := storetest.New(t, furnish)
	path := made.Path()
	for i := range reflect.TypeFor[*store.Tx]().NumMethod() {
		if name := reflect.TypeFor[*store.Tx]().Method(i).Name; rights[name].call == nil {
			t.Errorf("no call of %s", name)
		}
	}
	for who, is := range map[string]struct {
		store.Actor
		may []int
	}{
		"owner": {store.Actor{UID: uint32(os.Getuid()), User: "root"}, []int{everybody, theirs, private, operators,
			owner}},
		"operator": {store.Actor{UID: 4001, User: "olga"}, []int{everybody, theirs, operators}},
		"user":     {store.Actor{UID: 4002, User: "ann"}, []int{everybody, theirs, private}},
		"stranger": {store.Actor{UID: 4003, User: "bob"}, []int{everybody}},
	} {
		db, err := store.Open(path, &store.Options{Actor: &is.Actor, Now: clock.Now, LockTimeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		for name, m := range rights {
			may := false
			for _, right := range is.may {
				may = may || right == m.least
			}
			run := db.DryRun
			if m.least == everybody && name != "Cycle" {
				run = db.View
			}
			err := run(m.call)
			if refused := errors.Is(err, store.ErrNotPermitted); refused == may {
				t.Errorf("%s calls %s: %v", who, name, err)
			}
			if who == "owner" && err != nil && !strings.Contains(name, "Device") && !strings.HasSuffix(name, "Node") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
