package engine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/placer"
	"github.com/placectl/placectl/placer/fairshare"
	"github.com/placectl/placectl/placer/preempt"
	"github.com/placectl/placectl/placer/subject"
)

// TestOperatorsAlone: only operators can do what is reserved for operators, whatever program others
// ask with, and a refusal changes nothing.
func TestOperatorsAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	if err := Create(path, nil, nil); err != nil {
		t.Fatal(err)
	}
	rule, err := preempt.Parse("queue=a over queue=b")
	if err != nil {
		t.Fatal(err)
	}
	changes := map[string]func(*Tx) error{
		"a role":          func(tx *Tx) error { return tx.Roles().Add("eve", Operator) },
		"a role less":     func(tx *Tx) error { return tx.Roles().Remove("ann") },
		"an account":      func(tx *Tx) error { return tx.Accounts().Set(Account{Name: "lab"}) },
		"an account less": func(tx *Tx) error { return tx.Accounts().Remove("none") },
		"a number": func(tx *Tx) error {
			return tx.Priorities().Set(Number{Subject: subject.User.Of("eve"), Number: 9})
		},
		"a limit": func(tx *Tx) error {
			return tx.Limits().Set(Limit{Key: "user=eve", Measure: "running", Max: 9})
		},
		"preemption":      func(tx *Tx) error { return tx.Preemption().Set(rule) },
		"less preemption": func(tx *Tx) error { return tx.Preemption().Remove(rule.String()) },
		"a node":          func(tx *Tx) error { _, err := tx.Nodes().Put(&index.Node{Name: "n2"}); return err },
		"a node's state":  func(tx *Tx) error { return tx.Nodes().SetState(0, index.Down, "") },
		"a node's load":   func(tx *Tx) error { return tx.Nodes().SetLoad(0, 1) },
		"a node less":     func(tx *Tx) error { return tx.Nodes().Remove(0) },
		"a node's parts":  func(tx *Tx) error { _, err := tx.Devices().SplitNode(0); return err },
		"a node's whole":  func(tx *Tx) error { _, _, err := tx.Devices().JoinNode("n1"); return err },
		"a device":        func(tx *Tx) error { _, err := tx.Devices().Drain(0, "ngpus", nil, ""); return err },
		"a device, back":  func(tx *Tx) error { _, err := tx.Devices().Resume(0, "ngpus", nil); return err },
		"a device, cut":   func(tx *Tx) error { _, err := tx.Devices().Cut(0, "ngpus", nil, 2, "x"); return err },
		"a pool":          func(tx *Tx) error { return tx.Pools().Set(Pool{Name: "p", Amount: 1}, true) },
		"a pool less":     func(tx *Tx) error { return tx.Pools().Remove("p") },
		"a queue":         func(tx *Tx) error { return tx.Queues().Add(Queue{Name: "q"}) },
		"another queue":   func(tx *Tx) error { return tx.Queues().Set(Queue{Name: "q"}) },
		"a queue less":    func(tx *Tx) error { return tx.Queues().Remove("q") },
		"a resource": func(tx *Tx) error {
			return tx.Config().AddResource(index.Def{Name: "color", Type: index.String})
		},
		"a resource less": func(tx *Tx) error { return tx.Config().RemoveResource("color") },
		"a setting":       func(tx *Tx) error { return tx.Config().Set("overdue", "finish") },
		"classes":         func(tx *Tx) error { return tx.Shares().Set(new(fairshare.Settings)) },
		"statistics":      func(tx *Tx) error { return tx.Usage().Reset() },
		"a view":          func(tx *Tx) error { return tx.Views().Set(SQLView{Name: "v", Select: "SELECT 1"}) },
		"a view less":     func(tx *Tx) error { return tx.Views().Remove("v") },
		"the clock":       func(tx *Tx) error { _, err := tx.ResetClock(time.Unix(1, 0)); return err },
		"a reservation": func(tx *Tx) error {
			_, err := tx.Reservations().ReserveNodes("r", nil, time.Now(), time.Now())
			return err
		},
		"one less":    func(tx *Tx) error { _, err := tx.Reservations().Remove("r"); return err },
		"a lost node": func(tx *Tx) error { _, err := tx.Attempts().Lose(0, ""); return err },
		"a launch":    func(tx *Tx) error { return tx.Attempts().LaunchEnded(1, nil, 3) },
		"a stop":      func(tx *Tx) error { return tx.Attempts().StopAgain(new(Job)) },
		"over limits": func(tx *Tx) error {
			_, err := tx.Jobs().Place(placer.Request{Select: "1:ncpus=1", User: "eve", OverLimits: true})
			return err
		},
		"another's job": func(tx *Tx) error { _, err := tx.Jobs().Cancel(1, ""); return err },
		"another's claim": func(tx *Tx) error {
			_, err := tx.Attempts().Claim(Claim{Job: 1, Attempt: 1, By: BySupervisor, Nonce: Nonce{1},
				Process: Process{Host: "n1"}})
			return err
		},
		"another's result": func(tx *Tx) error {
			_, err := tx.Attempts().Report(Result{Job: 1, Attempt: 1, Nonce: Nonce{1}, Outcome: OutcomeExited})
			return err
		},
		"another's beat":    func(tx *Tx) error { return tx.Hosts().Beat("n1", "ann", "1") },
		"another's command": func(tx *Tx) error { return tx.Jobs().SetCommand(1, []string{"id"}) },
		"a group": func(tx *Tx) error {
			_, err := tx.Jobs().Submit(
				Submission{Request: placer.Request{Select: "1:ncpus=1", User: "eve", Group: "lab"}})
			return err
		},
		"a user": func(tx *Tx) error {
			_, err := tx.Jobs().Submit(Submission{Request: placer.Request{Select: "1:ncpus=1", User: "ann"}})
			return err
		},
		"a high priority": func(tx *Tx) error {
			_, err := tx.Jobs().Submit(Submission{Request: placer.Request{Select: "1:ncpus=1", User: "eve"},
				Priority: 1001})
			return err
		},
	}
	uids := map[string]uint32{"ann": 1001, "eve": 65432}
	as := func(user string) *Options {
		return &Options{Actor: &Actor{User: user, UID: uids[user]}, UIDOf: func(name string) (uint32, bool) {
			uid, ok := uids[name]
			return uid, ok
		}}
	}
	if err := os.Chmod(path, 0o660); err != nil {
		t.Fatal(err)
	}
	ann, err := Open(path, as("ann"))
	if err == nil {
		err = ann.Update(func(tx *Tx) error {
			_, err := tx.Jobs().Submit(Submission{Request: placer.Request{Select: "1:ncpus=1", User: "ann"}})
			return err
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	defer ann.Close()
	eve, err := Open(path, as("eve"))
	if err != nil {
		t.Fatal(err)
	}
	defer eve.Close()
	for name, change := range changes {
		if err := eve.Update(change); !errors.Is(err, ErrNotPermitted) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// On another machine ann is a different user.
	if err := ann.View(func(tx *Tx) error {
		j, err := tx.Jobs().Get(1)
		if err == nil && (j.UID == nil || *j.UID != 1001) {
			t.Errorf("ann's job is that of %v", j.UID)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	uids["ann"] = 2002
	impostor, err := Open(path, as("ann"))
	if err != nil {
		t.Fatal(err)
	}
	defer impostor.Close()
	if err := impostor.Update(changes["another's job"]); !errors.Is(err, ErrNotPermitted) {
		t.Errorf("another ann cancels ann's job: %v", err)
	}
	for what, do := range map[string]func() error{
		"compact": func() error { _, err := eve.Compact(nil); return err },
		"repair":  func() error { return eve.Repair(func(string) {}) },
		"upgrade": func() error { _, err := eve.Upgrade(); return err },
		"archive": func() error { _, err := eve.Archive(path+".archive.jsonl", time.Now(), nil); return err },
		"restore": func() error {
			_, err := Restore(path, path+".backup", &RestoreOptions{Options: *as("eve")})
			return err
		},
	} {
		if err := do(); !errors.Is(err, ErrNotPermitted) {
			t.Errorf("%s: %v", what, err)
		}
	}
	away := as("ann")
	away.Actor.Namespaced, away.Actor.UID = true, 0
	if _, err := Open(path, away); !errors.Is(err, ErrNotPermitted) {
		t.Errorf("from a user namespace: %v", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	private, err := Open(path, away)
	if err != nil {
		t.Fatalf("a private file, from a user namespace: %v", err)
	}
	defer private.Close()
}

// TestOwnerRow: the owner of a database stays when its file is made again, and another user
// replaces it.
func TestOwnerRow(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s.db")
	if err := Create(path, nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o660); err != nil {
		t.Fatal(err)
	}
	db, err := Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	owner := func() (uid uint32) {
		t.Helper()
		if err := db.View(func(tx *Tx) (err error) { uid, _, err = tx.Roles().Owner(); return err }); err != nil {
			t.Fatal(err)
		}
		return uid
	}
	if got := owner(); got != uint32(os.Getuid()) {
		t.Fatalf("the owner is %d", got)
	}
	backup := filepath.Join(dir, "b.db")
	if _, err := db.Backup(backup, nil); err != nil {
		t.Fatal(err)
	}
	if err := db.file.Update(func(r *file.Recorder) (bool, error) {
		uid := uint32(4711)
		return true,
			r.PutOwner(&uid)
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Compact(nil); err != nil || owner() != 4711 {
		t.Errorf("after compact the owner is %d, %v", owner(), err)
	}
	if _, err := Restore(path, backup, nil); err != nil || owner() != 4711 {
		t.Errorf("after restore the owner is %d, %v", owner(), err)
	}
	if err := db.View(func(tx *Tx) error {
		tx.k.Opt.Actor = &Actor{UID: 4711}
		return tx.Roles().Permit(Owners, "all")
	}); err != nil {
		t.Error(err)
	}
	// The owner of the file on disk counts, too, but only while no others may write it.
	const other = 4712
	if err := os.Chown(path, other, -1); errors.Is(err, fs.ErrPermission) {
		t.Skip("needs root: the file cannot be given to another user")
	} else if err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[os.FileMode]error{0o660: ErrNotPermitted, 0o600: nil} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		err := db.View(func(tx *Tx) error {
			tx.k.Opt.Actor = &Actor{UID: other}
			return tx.Roles().Permit(Owners, "all")
		})
		if !errors.Is(err, want) {
			t.Errorf("the owner of a file of mode %o: %v, want %v", mode, err, want)
		}
	}
}
