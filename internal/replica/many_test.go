package replica_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/internal/file"
	. "github.com/placectl/placectl/internal/replica"
	"github.com/placectl/placectl/internal/replica/memlog"
)

var manyEntries = flag.Int("entries", 200, "how many entries are put into a log before a machine comes back to it")

// TestManyEntries: however much was written, the log stays short, because writers make
// snapshots after their answers. A machine that was away all the time is soon up to date: by
// entries, or by the newest snapshot and what came after it.
func TestManyEntries(t *testing.T) {
	t.Parallel()
	m := newLog(t)
	busy, away := machine(t, m), machine(t, m)
	longest, snapshots := 0, 0
	value := make([]byte, 4000) // a few of them make a snapshot due
	for range *manyEntries {
		for i := range value {
			value[i] = byte(rand.Uint32())
		}
		err := busy.Update(func(r *file.Recorder) (bool, error) {
			return true, set(r, fmt.Sprint("key", rand.IntN(1000)), string(value))
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := busy.Keep(2); err != nil { // as the command does
			t.Fatal(err)
		}
		longest = max(longest, entries(m))
		if newest(t, m).At == m.Head() {
			snapshots++
		}
	}
	began := time.Now()
	if err := away.View(func(*file.Recorder) error { return nil }); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	t.Logf("%d entries, %d of them in the log at once, at most, %d snapshots; caught up in %v", m.Head().N, longest,
		snapshots, took)
	if snapshots == 0 {
		t.Error("no snapshot was made")
	}
	if most := 2*2*DueEntries + 2; longest > most { // from the snapshot before the newest on
		t.Errorf("there were %d entries in the log, at most %d are of use", longest, most)
	}
	if diff := cmp.Diff(contents(t, busy), contents(t, away)); diff != "" {
		t.Error(diff)
	}
	if err := away.Audit(func(f string) { t.Error(f) }); err != nil {
		t.Error(err)
	}
}

func entries(m *memlog.Log) int { _, n := m.First(); return n }

func newest(t testing.TB, m *memlog.Log) *Snapshot {
	t.Helper()
	snap, err := m.Snapshot(context.Background(), false)
	if err != nil {
		t.Fatal(err)
	}
	return snap
}
