package session

import (
	"testing"
	"time"

	"github.com/placectl/placectl/internal/engine"
	_ "github.com/placectl/placectl/internal/replica/memlog" // memory:///PATH
)

// TestLogMoves: a change of the log is signalled without polling, and changes the stamp.
func TestLogMoves(t *testing.T) {
	const name = "memory:///moves"
	if err := engine.Create(name, nil, nil); err != nil {
		t.Fatal(err)
	}
	open := func() *engine.DB {
		db, err := engine.Open(name, &engine.Options{Replica: engine.ReplicaOptions{Folder: t.TempDir()}})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	h := new(handles)
	changed := (&Run{handles: h}).LogMoves()
	told := func() {
		t.Helper()
		select {
		case <-changed:
		case <-time.After(20 * time.Second):
			t.Fatal("LogMoves did not signal the change")
		}
	}
	was := h.stamp(t.Context(), open(), time.Minute)
	told() // the first signal tells where the log ends
	if err := open().Update(func(tx *engine.Tx) error { return tx.Queues().Add(engine.Queue{Name: "q"}) }); err != nil {
		t.Fatal(err)
	}
	told()
	if now := h.stamp(t.Context(), nil, 0); now == was {
		t.Errorf("the stamp is still %d after a change", now)
	}
}
