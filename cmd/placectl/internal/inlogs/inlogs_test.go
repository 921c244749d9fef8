package inlogs

import (
	"testing"
	"time"

	"github.com/placectl/placectl/store"
	_ "github.com/placectl/placectl/store/logtest" // memory:///PATH
)

// TestChanged: a change of the log is signalled without polling, and changes the stamp.
func TestChanged(t *testing.T) {
	const name = "memory:///inlogs"
	if err := store.Create(name, nil, nil); err != nil {
		t.Fatal(err)
	}
	open := func() *store.DB {
		db, err := store.Open(name, &store.Options{Replica: store.ReplicaOptions{Folder: t.TempDir()}})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	h := new(Handles)
	changed := h.Changed()
	told := func() {
		t.Helper()
		select {
		case <-changed:
		case <-time.After(20 * time.Second):
			t.Fatal("Changed did not signal the change")
		}
	}
	was := h.Stamp(t.Context(), open(), time.Minute)
	told() // the first signal tells where the log ends
	if err := open().Update(func(tx *store.Tx) error { return tx.Queues().Add(store.Queue{Name: "q"}) }); err != nil {
		t.Fatal(err)
	}
	told()
	if now := h.Stamp(t.Context(), nil, 0); now == was {
		t.Errorf("the stamp is still %d after a change", now)
	}
}
