package replica_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/internal/file"
	. "github.com/placectl/placectl/internal/replica"
	"github.com/placectl/placectl/internal/replica/memlog"
	"github.com/placectl/placectl/internal/row"
)

// write puts a row through a replica.
func write(t testing.TB, rep *Replica, key, value string) {
	t.Helper()
	if err := rep.Update(func(r *file.Recorder) (bool, error) { return true, set(r, key, value) }); err != nil {
		t.Fatal(err)
	}
}

// gap is a driver that omits an entry from what it reads.
type gap struct{ *memlog.Log }

func (g gap) After(ctx context.Context, at Position, wait bool) (*Tail, error) {
	t, err := g.Log.After(ctx, at, wait)
	if err == nil && len(t.Entries) > 1 {
		t.Entries = t.Entries[1:]
	}
	return t, err
}

// TestGap: a tail that does not begin right after the replica is not applied.
func TestGap(t *testing.T) {
	t.Parallel()
	m := newLog(t)
	a, b := machine(t, m), machine(t, gap{m})
	for _, key := range []string{"k", "l", "m"} {
		write(t, a, key, "v")
	}
	err := b.View(func(*file.Recorder) error { t.Error("it answered"); return nil })
	if !errors.Is(err, row.ErrDamaged) || !strings.Contains(err.Error(), "entry 2 came behind entry 0") {
		t.Error(err)
	}
}

// TestGoneBack: a log in an earlier state than a replica answers no read and accepts no write.
func TestGoneBack(t *testing.T) {
	t.Parallel()
	m := newLog(t)
	a := machine(t, m)
	write(t, a, "k", "v")
	earlier, err := m.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	write(t, a, "k", "w")
	if err := m.SetBytes(earlier); err != nil {
		t.Fatal(err)
	}
	refuses := func(what string) {
		t.Helper()
		for _, err := range []error{
			a.View(func(*file.Recorder) error { t.Error("it answered"); return nil }),
			a.Update(func(r *file.Recorder) (bool, error) { return true, set(r, "l", "v") }),
		} {
			if !errors.Is(err, ErrGoneBack) || !errors.Is(err, row.ErrDamaged) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	refuses("the log ends before the replica")
	write(t, machine(t, m), "k", "other")
	refuses("another entry has the position")
	write(t, machine(t, m), "k", "more")
	refuses("another entry has the position, and the log goes on")
	a.Opt().Stale = -1
	if err := a.View(func(r *file.Recorder) error {
		if get(r, "k") != "w" {
			return errors.New(get(r, "k"))
		}
		return nil
	}); err != nil {
		t.Error("the replica as it is: ", err)
	}
}

// TestOtherLog: a log that was made again under the same name has another id, and nothing of
// the earlier one gets into its replicas.
func TestOtherLog(t *testing.T) {
	t.Parallel()
	m := newLog(t)
	a := machine(t, m)
	write(t, a, "k", "v")
	other, err := newLog(t).Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if err := m.SetBytes(other); err != nil {
		t.Fatal(err)
	}
	write(t, a, "l", "v")
	if diff := cmp.Diff(contents(t, machine(t, m)), contents(t, a)); diff != "" {
		t.Error(diff)
	}
	if _, is := contents(t, a)[`config "k"`]; is {
		t.Error("a row of the log before is there")
	}
}

// TestDamagedReplica: a replica that is damaged, missing, or different from the log is made
// again, for readers and writers.
func TestDamagedReplica(t *testing.T) {
	t.Parallel()
	m := newLog(t)
	a := machine(t, m)
	write(t, a, "k", strings.Repeat("a long row ", 100))
	for name, break_ := range map[string]func(path string) error{
		"gone":      os.Remove,
		"truncated": func(path string) error { return os.Truncate(path, 100) },
		"garbled": func(path string) error {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for at := 8192; at < len(b); at += 512 {
				b[at] ^= 0xff
			}
			return os.WriteFile(path, b, 0o600)
		},
		"differs": func(string) error {
			return a.File().Follow(func(r *file.Recorder) (bool, error) {
				return true, set(r, "k", strings.Repeat("another row ", 100))
			})
		},
	} {
		b := machine(t, m)
		for _, way := range []func() error{
			func() error { return a.View(func(r *file.Recorder) error { get(r, "k"); return nil }) },
			func() error {
				return a.Update(func(r *file.Recorder) (bool, error) { return true, set(r, "k", get(r, "k")+name) })
			},
		} {
			if err := break_(a.Path()); err != nil {
				t.Fatal(err)
			}
			// a change of the row that was garbled
			write(t, b, "k", strings.Repeat("a long row ", 100)+name+time.Now().String())
			if err := way(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if diff := cmp.Diff(contents(t, machine(t, m)), contents(t, a)); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	}
}

// TestNewerFormat: a machine that is too old for the log stops, changes nothing, and gets an
// error that says what to install. The same is true if only the snapshot is newer.
func TestNewerFormat(t *testing.T) {
	t.Parallel()
	m := newLog(t)
	a := machine(t, m)
	id := a.ID()
	e := &Entry{Head: Head{Position: 1, Log: [4]byte(id[:4]), Before: id.Start().Chain, Format: row.Format + 1,
		Version: "v9.1.0", Verb: "upgrade"}}
	b, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if tail, err := m.Append(context.Background(), id.Start(), b, nil); tail != nil || err != nil {
		t.Fatal(tail, err)
	}
	for what, err := range map[string]error{
		"read":  a.View(func(*file.Recorder) error { return nil }),
		"write": a.Update(func(r *file.Recorder) (bool, error) { return true, set(r, "k", "v") }),
		"log":   a.Each(0, func(*Change) error { return nil }),
	} {
		if !errors.Is(err, file.ErrNewer) || !strings.Contains(err.Error(), "install placectl v9.1.0") {
			t.Errorf("%s: %v", what, err)
		}
	}
	snap, err := m.Snapshot(context.Background(), false)
	if err != nil {
		t.Fatal(err)
	}
	newer := *snap
	newer.At, newer.Format = m.Head(), row.Format+1
	if kept, err := m.Keep(context.Background(), id, &snap.At, &newer); !kept || err != nil {
		t.Fatal(kept, err)
	}
	opt := Options{Folder: t.TempDir(), LockTimeout: 20 * time.Second}
	_, err = Connected("memory://x/y", m, Config{Scheme: "memory", Members: []string{"x"}, Prefix: "y"}, opt)
	if !errors.Is(err, file.ErrNewer) || !strings.Contains(err.Error(), "install placectl v9.1.0") {
		t.Errorf("a new machine: %v", err)
	}
	if m.Head().N != 1 {
		t.Errorf("the log ends at %v", m.Head())
	}
}

// doubledAndTrimmed is a driver with which an entry arrives twice, the second time after the
// first was trimmed; the writer gets the second answer.
type doubledAndTrimmed struct {
	*memlog.Log
	between func()
}

func (d *doubledAndTrimmed) Append(ctx context.Context, at Position, entry []byte, turn Turn) (
	*Tail, error) {
	if d.between == nil {
		return d.Log.Append(ctx, at, entry, turn)
	}
	if tail, err := d.Log.Append(ctx, at, entry, turn); tail != nil || err != nil {
		return tail, err
	}
	d.between()
	d.between = nil
	return nil, ErrLost
}

// TestTrimmedMeanwhile: a writer that finds that the log now begins after an entry which may
// have been put says so, and does not put it again.
func TestTrimmedMeanwhile(t *testing.T) {
	t.Parallel()
	m := newLog(t)
	way := &doubledAndTrimmed{Log: m}
	a, b := machine(t, way), machine(t, m)
	way.between = func() {
		for range 2 {
			write(t, b, "other", time.Now().String())
			if err := b.Trim(); err != nil {
				t.Error(err)
			}
		}
	}
	add := func(r *file.Recorder) (bool, error) { return true, set(r, "k", get(r, "k")+"x") }
	if err := a.Update(add); !errors.Is(err, file.ErrUnknown) {
		t.Error(err)
	}
	if err := b.View(func(r *file.Recorder) error {
		if got := get(r, "k"); got != "x" {
			t.Errorf("it was done %d times", len(got))
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// TestGoneBackFar: a log that has gone back and on counts as another one for a replica that is too far behind to
// apply entries, too.
func TestGoneBackFar(t *testing.T) {
	t.Parallel()
	m := newLog(t)
	a := machine(t, m)
	earlier, err := m.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	write(t, a, "k", "acknowledged")
	if err := m.SetBytes(earlier); err != nil {
		t.Fatal(err)
	}
	b := machine(t, m)
	write(t, b, "k", "other")
	write(t, b, "l", strings.Repeat("long", MostBytes/4))
	write(t, b, "m", strings.Repeat("long", MostBytes/4))
	if err := b.Trim(); err != nil {
		t.Fatal(err)
	}
	if err := a.View(func(*file.Recorder) error { return nil }); !errors.Is(err, ErrGoneBack) {
		t.Error(err)
	}
}
