package replica_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/internal/file"
	. "github.com/placectl/placectl/internal/replica"
	"github.com/placectl/placectl/internal/row"
)

// asked returns the result of every way in which a verb uses a log.
func asked(rep *Replica) map[string]error {
	return map[string]error{
		"read":  rep.View(func(*file.Recorder) error { return nil }),
		"write": rep.Update(func(r *file.Recorder) (bool, error) { return true, set(r, "k", "v") }),
		"alone": rep.UpdateAlone(func(r *file.Recorder) (bool, error) { return true, set(r, "k", "v") }),
		"log":   rep.Each(0, func(*Change) error { return nil }),
		"check": rep.Audit(func(string) {}),
		"trim":  rep.Trim(),
		"late": func() error {
			rep.NoteCrowd(true)
			return rep.Update(func(*file.Recorder) (bool, error) { return true, nil })
		}(),
	}
}

// TestVanished: if a log is gone, no machine's replica is removed, and each verb says that it
// is the last copy.
func TestVanished(t *testing.T) {
	t.Parallel()
	m := newLog(t)
	a := machine(t, m)
	write(t, a, "k", "acknowledged")
	if err := m.SetBytes(nil); err != nil {
		t.Fatal(err)
	}
	for again := range 2 {
		for what, err := range asked(a) {
			if !errors.Is(err, ErrVanished) || !errors.Is(err, row.ErrDamaged) || errors.Is(err, row.ErrNotFound) ||
				!strings.Contains(err.Error(), "--stale any") {
				t.Errorf("%s: %v", what, err)
			}
		}
		if again == 0 {
			a = machineAgain(t, a, m)
		}
	}
	a.Opt().Stale = -1
	if err := a.View(func(r *file.Recorder) error {
		if got := get(r, "k"); got != "acknowledged" {
			t.Errorf("the last copy has %q", got)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// TestDamagedLastCopy: a damaged replica is not removed before there is another one.
func TestDamagedLastCopy(t *testing.T) {
	t.Parallel()
	m := newLog(t)
	a := machine(t, m)
	write(t, a, "k", "v")
	if err := m.SetBytes(nil); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(a.Path(), 100); err != nil {
		t.Fatal(err)
	}
	for what, err := range asked(a) {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	if _, err := os.Stat(a.Path()); err != nil {
		t.Error(err)
	}
}

// rot leaves a replica with a row that does not match its checksum.
func rot(t *testing.T, rep *Replica, key string) {
	t.Helper()
	contents(t, rep) // it stands at the end
	err := rep.File().Follow(func(r *file.Recorder) (bool, error) {
		value, err := r.Stored(row.Config, []byte(key))
		if err != nil {
			return false, err
		}
		value = bytes.Clone(value)
		value[1] ^= 1
		return true, r.PutStored(row.Config, []byte(key), value)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestRotStaysLocal: a machine with a damaged replica makes no snapshot or entry from it, but
// makes it again.
func TestRotStaysLocal(t *testing.T) {
	t.Parallel()
	m := newLog(t)
	a, b := machine(t, m), machine(t, m)
	long := strings.Repeat("a long row ", 100)
	write(t, a, "k", long)
	rot(t, a, "k")
	if err := a.Trim(); err != nil {
		t.Error(err)
	}
	if snap, _ := m.Snapshot(context.Background(), false); snap.At.N == 0 {
		t.Error("no snapshot was made")
	} else if err := snap.MakeReplica(t.TempDir()+"/x", a.ID()); err != nil {
		t.Error(err)
	}
	rot(t, a, "k")
	write(t, a, "k", long+"more") // recognized by what it has in common with the row before
	for _, rep := range []*Replica{b, machine(t, m)} {
		if err := rep.View(func(r *file.Recorder) error {
			if got := get(r, "k"); got != long+"more" {
				t.Errorf("it has %q", got)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
}

// TestDamagedSnapshot: no replica is made from a snapshot with a damaged row: the one before
// and the entries still exist. log check finds it, and also a snapshot with intact rows that
// differ from those of the log.
func TestDamagedSnapshot(t *testing.T) {
	t.Parallel()
	for what, spoil := range map[string]func(*file.Recorder) error{
		"damaged": func(r *file.Recorder) error {
			value, err := r.Stored(row.Config, []byte("k"))
			value = bytes.Clone(value)
			value[1] ^= 1
			return errors.Join(err, r.PutStored(row.Config, []byte("k"), value))
		},
		"other": func(r *file.Recorder) error { return set(r, "k", "a guess") },
		"less":  func(r *file.Recorder) error { return r.Remove(row.Config, []byte("k")) },
	} {
		m := newLog(t)
		a := machine(t, m)
		write(t, a, "k", "v")
		was, _ := m.Snapshot(context.Background(), false)
		bad := machine(t, m)
		contents(t, bad) // it stands at the end
		if err := bad.File().Follow(func(r *file.Recorder) (bool, error) { return true, spoil(r) }); err != nil {
			t.Fatal(err)
		}
		snap := unverified(t, bad, m.Head())
		if kept, err := m.Keep(context.Background(), a.ID(), &was.At, snap); !kept || err != nil {
			t.Fatal(kept, err)
		}
		var found []string
		if err := a.Audit(func(f string) { found = append(found, f) }); err != nil || len(found) == 0 ||
			!strings.Contains(found[0], "log trim") {
			t.Errorf("%s: log check finds %q, %v", what, found, err)
		}
		if what == "damaged" {
			if diff := cmp.Diff(contents(t, a), contents(t, machine(t, m))); diff != "" {
				t.Error(diff)
			}
		}
	}
}

// unverified makes a snapshot as versions did that did not verify what they copied.
func unverified(t *testing.T, rep *Replica, at Position) *Snapshot {
	t.Helper()
	var snap *Snapshot
	if err := rep.File().View(func(r *file.Recorder) (err error) {
		snap, err = TakeSnapshotOf(r, at, func(t row.Table, fn func(key, value []byte) error) error {
			if t != row.Config {
				return r.EachStored(t, fn)
			}
			value, err := r.Stored(t, []byte("k"))
			if value == nil || err != nil {
				return err
			}
			return fn([]byte("k"), value)
		})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return snap
}

// TestLongWork: a transaction that works longer than its timeout for waiting succeeds.
func TestLongWork(t *testing.T) {
	t.Parallel()
	m := newLog(t)
	a := machine(t, m, func(o *Options) { o.LockTimeout = 200 * time.Millisecond })
	b := machine(t, m)
	runs := 0
	err := a.Update(func(r *file.Recorder) (bool, error) {
		if runs++; runs == 1 {
			write(t, b, "other", "v") // so it runs again
		}
		time.Sleep(300 * time.Millisecond)
		return true, set(r, "k", "v")
	})
	if err != nil || runs != 2 {
		t.Errorf("after %d runs: %v", runs, err)
	}
}

// TestJoinsAtOnce: processes of a machine that is behind the log's first entry make its
// replica again at once, and beside those that already have it; none of them reports damage.
func TestJoinsAtOnce(t *testing.T) {
	t.Parallel()
	m := newLog(t)
	a, b := machine(t, m), machine(t, m)
	for i := range 12 {
		write(t, a, fmt.Sprint("k", i), "v")
		if i%2 == 1 {
			if err := a.Trim(); err != nil {
				t.Fatal(err)
			}
			write(t, a, fmt.Sprint("more", i), "v")
		}
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				c := machineAgain(t, b, m)
				if err := c.View(func(*file.Recorder) error { return nil }); err != nil {
					t.Error(err)
				}
				if err := c.Join(); err != nil {
					t.Error(err)
				}
				if err := c.View(func(*file.Recorder) error { return nil }); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
	}
	// The replica was behind the log's first entry when the log was asked, and is made again from the newest
	// snapshot, which is not the log's end, before what was read is applied.
	behind := Position{N: 1}
	tail, err := m.After(context.Background(), behind, false)
	if err != nil || len(tail.Entries) > 0 || tail.Snapshot.N >= tail.Head.N {
		t.Fatal(tail, err)
	}
	if err := b.Join(); err != nil {
		t.Fatal(err)
	}
	if err := b.CatchUp(behind, tail); !errors.Is(err, ErrAgain) {
		t.Errorf("what was read for an earlier position: %v", err)
	}
	// The replica falls back between what was asked and what is applied.
	write(t, a, "last", "v")
	if tail, err = m.After(context.Background(), Position{N: m.Head().N - 1}, false); err != nil {
		t.Fatal(err)
	}
	if err := b.Join(); err != nil {
		t.Fatal(err)
	}
	if err := b.CatchUp(Position{N: m.Head().N - 1}, tail); !errors.Is(err, ErrAgain) {
		t.Errorf("entries of a later position: %v", err)
	}
}

// TestSharedFolder: in a folder of replicas that machines share, such as a home, each keeps
// those of the others.
func TestSharedFolder(t *testing.T) {
	t.Parallel()
	m := newLog(t)
	a := machine(t, m)
	other := filepath.Join(a.Opt().Folder, fmt.Sprintf("%s-%s-%s-%d.db", a.ID(), strings.Repeat("0", 32), "0a0b0c0d",
		os.Getuid()))
	old := filepath.Join(a.Opt().Folder, fmt.Sprintf("%s-%s-%s-%d.db", a.ID(), strings.Repeat("0", 32), MachineID(),
		os.Getuid()))
	for _, path := range []string{other, old, old + ".fresh"} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Join(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
	for _, path := range []string{old, old + ".fresh"} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is left", path)
		}
	}
}
