package replica_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/internal/file"
	. "github.com/placectl/placectl/internal/replica"
	"github.com/placectl/placectl/internal/replica/memlog"
	"github.com/placectl/placectl/internal/row"
)

// newLog returns a log in memory that holds an empty database.
func newLog(t testing.TB) *memlog.Log {
	t.Helper()
	path := filepath.Join(t.TempDir(), "first.db")
	if err := file.Create(path, func(string) error { return nil }); err != nil {
		t.Fatal(err)
	}
	f, err := file.Open(path, file.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m := memlog.New()
	if err := Create(m, time.Minute, f); err != nil {
		t.Fatal(err)
	}
	return m
}

// machine returns a replica of a log on a machine of its own.
func machine(t testing.TB, d Driver, change ...func(*Options)) *Replica {
	t.Helper()
	opt := Options{Folder: t.TempDir(), LockTimeout: 20 * time.Second, Version: "test", Verb: "test"}
	for _, c := range change {
		c(&opt)
	}
	rep, err := Connected("memory://x/y", d, Config{Scheme: "memory", Members: []string{"x"}, Prefix: "y"}, opt)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// set puts a row whose key and payload are text.
func set(r *file.Recorder, key, value string) error {
	return r.Put(row.Config, []byte(key), append([]byte{1}, value...))
}

func get(r *file.Recorder, key string) string {
	b, err := r.Get(row.Config, []byte(key))
	if err != nil {
		panic(err)
	}
	if b == nil {
		return ""
	}
	return string(b[1:])
}

// contents returns all rows of a replica.
func contents(t testing.TB, rep *Replica) map[string]string {
	t.Helper()
	var all map[string]string
	err := rep.View(func(r *file.Recorder) error {
		all = make(map[string]string)
		for tab := range row.TableCount {
			err := r.EachStored(tab, func(key, value []byte) error {
				all[fmt.Sprintf("%s %q", tab, key)] = string(value)
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestTwoMachines: each reads what the other has written, and neither overwrites the other.
func TestTwoMachines(t *testing.T) {
	t.Parallel()
	m := newLog(t)
	a, b := machine(t, m), machine(t, m)
	const each = 40
	var wg sync.WaitGroup
	for _, rep := range []*Replica{a, b} {
		wg.Go(func() {
			for range each {
				err := rep.Update(func(r *file.Recorder) (bool, error) {
					return true, set(r, "count", get(r, "count")+"x")
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	one, two := contents(t, a), contents(t, b)
	if diff := cmp.Diff(one, two); diff != "" {
		t.Error(diff)
	}
	err := a.View(func(r *file.Recorder) error {
		if n := len(get(r, "count")); n != 2*each {
			return fmt.Errorf("%d of %d changes", n, 2*each)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestRefusalNeedsFreshReplica: an answer that changes nothing is based on what the log holds.
func TestRefusalNeedsFreshReplica(t *testing.T) {
	t.Parallel()
	m := newLog(t)
	a, b := machine(t, m), machine(t, m)
	if err := a.Update(func(r *file.Recorder) (bool, error) { return true, set(r, "k", "v") }); err != nil {
		t.Fatal(err)
	}
	missing := errors.New("there is no k")
	err := b.Update(func(r *file.Recorder) (bool, error) {
		if get(r, "k") == "" {
			return false, missing
		}
		return false, nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestJoin: a replica that is behind the beginning of the log is made again.
func TestJoin(t *testing.T) {
	t.Parallel()
	m := newLog(t)
	a, b := machine(t, m), machine(t, m)
	for i := range 10 {
		if err := a.Update(func(r *file.Recorder) (bool, error) {
			return true,
				set(r, fmt.Sprint("k", i), "v")
		}); err != nil {
			t.Fatal(err)
		}
		if i%4 == 3 {
			if err := a.Trim(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if first, _ := m.First(); first < 2 {
		t.Fatal("nothing was trimmed")
	}
	if diff := cmp.Diff(contents(t, a), contents(t, b)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(contents(t, a), contents(t, machine(t, m))); diff != "" {
		t.Error(diff)
	}
}

// slow is a driver whose appends report when they are sent and when they are done, and wait each
// time for permission to continue.
type slow struct {
	*memlog.Log
	at, on chan string
}

func (d *slow) Append(ctx context.Context, at Position, entry []byte, turn Turn) (*Tail, error) {
	d.at <- "sent"
	<-d.on
	tail, err := d.Log.Append(ctx, at, entry, turn)
	d.at <- "done"
	<-d.on
	return tail, err
}

// TestReadersDoNotWait: readers on a machine wait neither for its transaction that computes
// nor for the log that it calls. They see exactly what is in the log, even before the writer
// has written it to the file.
func TestReadersDoNotWait(t *testing.T) {
	t.Parallel()
	m := newLog(t)
	way := &slow{m, make(chan string), make(chan string)}
	writer := machine(t, way)
	reader := machineAgain(t, writer, m)
	reader.Opt().LockTimeout = 5 * time.Second
	other := machine(t, m)
	sees := func(when, want string) {
		t.Helper()
		err := reader.View(func(r *file.Recorder) error {
			if got := get(r, "k") + " " + get(r, "other"); got != want {
				t.Errorf("%s: %q, want %q", when, got, want)
			}
			return nil
		})
		if err != nil {
			t.Errorf("%s: %v", when, err)
		}
	}
	thinking, decided := make(chan bool), make(chan bool)
	ended := make(chan error, 1)
	go func() {
		ended <- writer.Update(func(r *file.Recorder) (bool, error) {
			if err := set(r, "k", "after "+get(r, "other")); err != nil {
				return false, err
			}
			thinking <- true
			<-decided
			return true, nil
		})
	}()
	<-thinking
	sees("it thinks", " ")
	write(t, other, "other", "1")
	sees("it thinks, and another machine has written", " 1")
	decided <- true
	for range 2 { // the first time another machine was faster
		<-way.at
		sees("the log is asked", " 1")
		way.on <- ""
		<-way.at
		if m.Head().N == 2 {
			break
		}
		way.on <- ""
		<-thinking
		decided <- true
	}
	sees("it is in the log, and the writer does not know yet", "after 1 1")
	write(t, other, "other", "2")
	sees("the log goes on", "after 1 2")
	way.on <- ""
	if err := <-ended; err != nil {
		t.Error(err)
	}
	sees("in the end", "after 1 2")
	if diff := cmp.Diff(contents(t, other), contents(t, reader)); diff != "" {
		t.Error(diff)
	}
}

// counted counts how often the log is asked for newer entries.
type counted struct {
	*memlog.Log
	asked int
}

func (d *counted) After(ctx context.Context, at Position, wait bool) (*Tail, error) {
	d.asked++
	return d.Log.After(ctx, at, wait)
}

// TestFreshOnceItHasCaughtUp: a replica that was behind, or missing, and has read what was
// new, is fresh, and says so to callers that accept that.
func TestFreshOnceItHasCaughtUp(t *testing.T) {
	t.Parallel()
	m := newLog(t)
	write := machine(t, m)
	put := func() {
		t.Helper()
		if err := write.Update(func(r *file.Recorder) (bool, error) {
			return true,
				set(r, "k", get(r, "k")+"x")
		}); err != nil {
			t.Fatal(err)
		}
	}
	put()
	d := &counted{Log: m}
	var said []string
	late := machine(t, d, func(o *Options) { o.Warn = func(text string) { said = append(said, text) } })
	for range 2 { // again, and behind
		if err := late.View(func(*file.Recorder) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if age, known := late.Age(); !known || age > time.Minute {
			t.Errorf("fresh %v ago, known: %v", age, known)
		}
		asked := d.asked
		late.Opt().Stale = time.Minute
		if err := late.View(func(*file.Recorder) error { return nil }); err != nil || d.asked != asked {
			t.Errorf("asked %d times: %v", d.asked-asked, err)
		}
		late.Opt().Stale = 0
		put()
	}
	if err := os.Remove(late.FreshPath()); err != nil {
		t.Fatal(err)
	}
	late.Opt().Stale = -1
	if err := late.View(func(*file.Recorder) error { return nil }); err != nil || len(said) != 1 {
		t.Errorf("%q, %v", said, err)
	}
}

// TestLongSilent: a writer that has not read the log for long asks for new entries before it
// decides.
func TestLongSilent(t *testing.T) {
	t.Parallel()
	m := newLog(t)
	a, b := machine(t, m), machine(t, m)
	for i := range 3 {
		runs := 0
		for _, rep := range []*Replica{a, b} {
			Touch(rep.FreshPath(), time.Now().Add(-LongSilent))
			runs = 0
			err := rep.Update(func(r *file.Recorder) (bool, error) {
				runs++
				return true, set(r, "k", get(r, "k")+"x")
			})
			if err != nil || runs != 1 {
				t.Errorf("round %d: %d runs, %v", i, runs, err)
			}
		}
	}
	if n := m.Head().N; n != 6 {
		t.Errorf("%d entries", n)
	}
}
