package store

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/placectl/placectl/placer/preempt"
)

// TestOperatorsAlone: what is for operators nobody else does, whose own program he asks
// with, and nothing is changed.
func TestOperatorsAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	if err := Create(path, nil, nil); err != nil {
		t.Fatal(err)
	}
	rule, err := preempt.Parse("queue:a over queue:b")
	if err != nil {
		t.Fatal(err)
	}
	changes := map[string]func(*Tx) error{
		"a role":          func(tx *Tx) error { return RolesOf(tx).Add("eve", Operator) },
		"a role less":     func(tx *Tx) error { return RolesOf(tx).Remove("ann") },
		"an account":      func(tx *Tx) error { return tx.Accounts().Set(Account{Name: "lab"}) },
		"an account less": func(tx *Tx) error { return tx.Accounts().Remove("none") },
		"a number":        func(tx *Tx) error { return PrioritiesOf(tx).Set(Number{Kind: "user", Name: "eve", Number: 9}) },
		"a limit":         func(tx *Tx) error { return tx.Limits().Set(Limit{Key: "user:eve", Measure: "running", Max: 9}) },
		"preemption":      func(tx *Tx) error { return tx.Preemption().Set(rule) },
		"less preemption": func(tx *Tx) error { return tx.Preemption().Remove(rule.String()) },
	}
	eve, err := Open(path, &Options{Actor: &Actor{User: "eve", UID: 65432}})
	if err != nil {
		t.Fatal(err)
	}
	defer eve.Close()
	for name, change := range changes {
		if err := eve.Update(change); !errors.Is(err, ErrNotPermitted) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
