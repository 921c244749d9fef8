package dispatch

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/engine"
	"github.com/placectl/placectl/placer"
)

// TestClaimVerifies: an attempt cannot be claimed if its user has not signed what it executes, whoever
// started its supervisor.
func TestClaimVerifies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	if err := engine.Create(path, nil, nil); err != nil {
		t.Fatal(err)
	}
	db, err := engine.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.Update(func(tx *engine.Tx) error {
		defs, err := tx.Config().Resources()
		node := &index.Node{Name: "n"}
		if err == nil {
			err = node.SetAmount(defs, "ncpus", "4")
		}
		if err == nil {
			_, err = tx.Nodes().Put(node)
		}
		if err == nil {
			_, err = tx.Jobs().Submit(engine.Submission{Request: placer.Request{Select: "1:ncpus=1"},
				Command: []string{"true"}})
		}
		if err == nil {
			_, err = tx.Cycle().Run(engine.CycleSpec{By: engine.BySupervisor})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, signed := range []bool{false, true} {
		d := &DB{View: db.View, Update: func(fn func(*engine.Tx) error) error { return db.Update(fn) }, Host: "n",
			Environ: func() []string { return nil },
			Verify:  func(_, _ []byte) bool { return signed }, Distrusts: func() string { return "" }}
		_, err := d.Claim(t.Context(), engine.Claim{Job: 1, Attempt: 1, By: engine.BySupervisor, Nonce: engine.Nonce{1},
			Process: engine.Process{Host: "n", PID: 3}})
		if signed && err != nil || !signed && !errors.Is(err, engine.ErrConflict) {
			t.Errorf("signed %v: Claim = %v", signed, err)
		}
		var claimed bool
		if err := db.View(func(tx *engine.Tx) error {
			j, err := tx.Jobs().Get(1)
			if err == nil {
				claimed = j.Claimed
			}
			return err
		}); err != nil || claimed != signed {
			t.Errorf("signed %v: claimed %v, %v", signed, claimed, err)
		}
	}
}
