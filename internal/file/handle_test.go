package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/placectl/placectl/internal/row"
)

// another returns another handle on a file.
func another(t *testing.T, f *File) *File {
	t.Helper()
	g, err := Open(f.Path(), f.opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g
}

// set puts a row of Config.
func set(t *testing.T, f *File, key, value string) {
	t.Helper()
	if err := f.Update(func(r *Recorder) (bool, error) {
		return true, r.Put(row.Config, []byte(key), []byte(value))
	}); err != nil {
		t.Fatal(err)
	}
}

// value returns a row of Config.
func value(t *testing.T, f *File, key string) (is string) {
	t.Helper()
	if err := f.View(func(r *Recorder) error {
		b, err := r.Get(row.Config, []byte(key))
		is = string(b)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return is
}

// idle returns the files that a handle keeps for reading and writing, nil for none.
func idle(f *File) (reader, writer *opened) {
	f.kept.mu.Lock()
	defer f.kept.mu.Unlock()
	if n := len(f.kept.readers); n > 0 {
		reader = f.kept.readers[n-1]
	}
	return reader, f.kept.writer
}

// warmed returns a handle that keeps a reader and a writer, unless the file system is not one for it.
func warmed(t *testing.T) (f *File, reader, writer *opened) {
	t.Helper()
	f = newFile(t)
	t.Cleanup(func() { f.Close() })
	set(t, f, "a", "1")
	value(t, f, "a")
	if reader, writer = idle(f); reader == nil || writer == nil {
		if f.kept.never {
			t.Skip("files are not kept open on this file system")
		}
		t.Fatalf("reader %p, writer %p", reader, writer)
	}
	return f, reader, writer
}

// TestKeptOpen: a handle uses its files again, for as long as they are right. The locks are free meanwhile.
func TestKeptOpen(t *testing.T) {
	copied := func(f *File) error { // the same content in another file, with the time of the old one
		b, err := os.ReadFile(f.Path())
		if err != nil {
			return err
		}
		info, err := os.Stat(f.Path())
		if err != nil {
			return err
		}
		tmp := f.Path() + ".new"
		return errors.Join(os.WriteFile(tmp, b, 0o600), os.Chtimes(tmp, time.Time{}, info.ModTime()),
			os.Rename(tmp, f.Path()))
	}
	for _, c := range []struct {
		name           string
		happens        func(t *testing.T, f *File) error
		reader, writer bool // used again
	}{
		{"nothing", func(*testing.T, *File) error { return nil }, true, true},
		{"a commit of another", func(t *testing.T, f *File) error { set(t, another(t, f), "b", "2"); return nil }, true,
			false},
		{"a look of another", func(t *testing.T, f *File) error { value(t, another(t, f), "a"); return nil }, true,
			true},
		{"growth by another", func(t *testing.T, f *File) error {
			set(t, another(t, f), "b", string(bytes.Repeat([]byte("x"), 1<<20)))
			return nil
		}, false, false},
		{"another file", func(_ *testing.T, f *File) error { return copied(f) }, false, false},
		{"another mode", func(_ *testing.T, f *File) error { return os.Chmod(f.Path(), 0o640) }, false, false},
		{"another lock file", func(_ *testing.T, f *File) error { return os.Remove(lockPath(f.Path())) }, true, false},
		{"a mark", func(_ *testing.T, f *File) error {
			l := &fileLock{path: lockPath(f.Path())}
			return errors.Join(l.open(os.O_RDWR), l.mark(7), l.f.Close())
		}, true, false}, // the meta page is written again
		{"a compaction", func(t *testing.T, f *File) error {
			_, err := another(t, f).Compact(false, true, nil)
			return err
		}, false, false},
		{"a copy over it", func(_ *testing.T, f *File) error {
			b, err := os.ReadFile(f.Path())
			return errors.Join(err, os.WriteFile(f.Path(), b, 0o600))
		}, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, reader, writer := warmed(t)
			l, err := acquire(context.Background(), f.Path(), writing, 0)
			if err != nil {
				t.Fatal(err)
			}
			data, err := os.Open(f.Path())
			if err != nil {
				t.Fatal(err)
			}
			if err := lockWhole(data, forWriting); err != nil {
				t.Errorf("bbolt's lock: %v", err)
			}
			if err := errors.Join(data.Close(), l.release()); err != nil {
				t.Fatal(err)
			}
			if err := c.happens(t, f); err != nil {
				t.Fatal(err)
			}
			if is := value(t, f, "a"); is != "1" {
				t.Errorf("read %q", is)
			}
			if again, _ := idle(f); (again == reader) != c.reader {
				t.Errorf("the reader is used again: %v", again == reader)
			}
			set(t, f, "a", "3")
			if _, again := idle(f); (again == writer) != c.writer {
				t.Errorf("the writer is used again: %v", again == writer)
			}
			if is := value(t, another(t, f), "a"); is != "3" {
				t.Errorf("written: %q", is)
			}
			if err := f.Check(t.Errorf, func(*Recorder) error { return nil }); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestKeptIdle: an idle file is closed after a time, and by Close.
func TestKeptIdle(t *testing.T) {
	f, _, _ := warmed(t)
	f.closeIdle(time.Hour)
	if r, w := idle(f); r == nil || w == nil || f.kept.sweep == nil {
		t.Errorf("%p and %p are left", r, w)
	}
	f.closeIdle(0)
	if r, w := idle(f); r != nil || w != nil || f.kept.sweep != nil {
		t.Errorf("%p and %p are left", r, w)
	}
	value(t, f, "a")
	if r, _ := idle(f); r == nil || f.kept.sweep == nil {
		t.Error("it is not kept again")
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if r, w := idle(f); r != nil || w != nil {
		t.Error("open after Close")
	}
}

// TestKeptMapping: a mapping that is not coherent with its file is not read: here it is one of a copy.
func TestKeptMapping(t *testing.T) {
	f, reader, writer := warmed(t)
	if is := reader.mapping(); int64(len(is)) < reader.last.size || len(writer.mapping()) == 0 {
		t.Fatalf("a mapping of %d bytes was found, for a file of %d", len(is), reader.last.size)
	}
	old, err := copyFile(reader.data, reader.last.size, new(atomic.Bool))
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	if err := mapOver(reader.bolt.Info().Data, reader.last.size, old); err != nil {
		t.Fatal(err)
	}
	set(t, another(t, f), "a", "2")
	if is := value(t, f, "a"); is != "2" {
		t.Errorf("read %q", is)
	}
}

// TestKeptElsewhere: a file whose name is relative is another one after a change of the working directory.
func TestKeptElsewhere(t *testing.T) {
	f := newFile(t)
	t.Chdir(filepath.Dir(f.Path()))
	g, err := Open(filepath.Base(f.Path()), f.opt)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	set(t, g, "a", "1")
	t.Chdir(t.TempDir())
	set(t, g, "a", "2")
	if is := value(t, f, "a"); is != "2" {
		t.Errorf("it is %q", is)
	}
}

// TestKeptByTurns: handles that keep one file open write and read in any order, while it is compacted and
// copied over. Each sees what was committed last.
func TestKeptByTurns(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	f := newFile(t)
	handles := []*File{f, another(t, f), another(t, f)}
	defer f.Close()
	want := map[string]string{}
	var kept []byte // an older state of the file, and its rows
	var keptRows map[string]string
	clone := func(m map[string]string) map[string]string {
		c := make(map[string]string, len(m))
		for k, v := range m {
			c[k] = v
		}
		return c
	}
	for n := range 1500 {
		g := handles[rng.IntN(len(handles))]
		var err error
		switch what := rng.IntN(40); {
		case what < 12:
			next := clone(want)
			change := func(r *Recorder) (bool, error) {
				for range 1 + rng.IntN(30) {
					k, v := fmt.Sprint(rng.IntN(60)), string(bytes.Repeat([]byte{byte(rng.IntN(250))}, 1+rng.IntN(900)))
					if err := r.Put(row.Config, []byte(k), []byte(v)); err != nil {
						return false, err
					}
					next[k] = v
				}
				return true, nil
			}
			if what == 0 {
				err = g.UpdateBeside(change)
			} else {
				err = g.Update(change)
			}
			want = next
		case what < 14:
			err = g.Update(func(r *Recorder) (bool, error) {
				return false, r.Put(row.Config, []byte("no"), []byte("x"))
			})
		case what == 14:
			_, err = g.Compact(false, true, nil)
		case what == 15:
			kept, err = os.ReadFile(f.Path())
			keptRows = clone(want)
		case what == 16 && kept != nil:
			err = os.WriteFile(f.Path(), kept, 0o600)
			want = clone(keptRows)
		case what == 17:
			g.closeIdle(0)
		default:
			got := map[string]string{}
			err = g.View(func(r *Recorder) error {
				return r.Each(row.Config, nil, func(k, v []byte) (bool, error) {
					got[string(k)] = string(v)
					return true, nil
				})
			})
			if len(got) != len(want) {
				t.Fatalf("step %d: %d rows, want %d", n, len(got), len(want))
			}
			for k, v := range want {
				if got[k] != v {
					t.Fatalf("step %d: row %s is not the last one", n, k)
				}
			}
		}
		if err != nil {
			t.Fatalf("step %d: %v", n, err)
		}
	}
	if err := f.Check(t.Errorf, func(r *Recorder) error {
		return r.CheckRows(func(_ row.Table, format string, args ...any) { t.Errorf(format, args...) })
	}); err != nil {
		t.Error(err)
	}
}
