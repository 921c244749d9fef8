package file

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/internal/row"
)

// TestBesideIsAsAlone: a writer beside readers sees what it would see if it had the file for
// itself, and leaves the same rows.
func TestBesideIsAsAlone(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	tables := []row.Table{row.Jobs, row.Config, row.Nodes}
	beside, by := newFile(t), newFile(t)
	for n := range 150 {
		work, keep := rng.Uint64(), rng.IntN(6) > 0
		var said [2][]string
		run := func(of int) func(r *Recorder) (bool, error) {
			return func(r *Recorder) (bool, error) {
				said[of] = nil
				rng := rand.New(rand.NewPCG(work, 2))
				for range rng.IntN(60) {
					err := randomStep(r, tables[rng.IntN(len(tables))], rng.IntN, func(format string, args ...any) {
						said[of] = append(said[of], fmt.Sprintf(format, args...))
					})
					if err != nil {
						return false, err
					}
				}
				said[of] = append(said[of], fmt.Sprint("changed ", r.Changed(), r.Writable()))
				return keep, nil
			}
		}
		if err := errors.Join(beside.UpdateBeside(run(0)), by.Update(run(1))); err != nil {
			t.Fatal(n, err)
		}
		if diff := cmp.Diff(said[1], said[0]); diff != "" {
			t.Fatalf("transaction %d (-alone +beside)\n%s", n, diff)
		}
	}
	if diff := cmp.Diff(stored(t, by), stored(t, beside)); diff != "" {
		t.Fatalf("(-alone +beside)\n%s", diff)
	}
	if err := beside.Check(t.Errorf, func(*Recorder) error { return nil }); err != nil {
		t.Error(err)
	}
}

// randomStep does something, and reports the result.
func randomStep(r *Recorder, table row.Table, draw func(int) int, say func(string, ...any)) error {
	key := func() []byte { return row.Key64(uint64(draw(40))) }
	switch draw(9) {
	case 0, 1, 2:
		return r.Put(table, key(), []byte{1, byte(draw(3))})
	case 3:
		return r.Remove(table, key())
	case 4:
		if draw(4) == 0 {
			return r.Clear(table)
		}
	case 5:
		k := key()
		b, err := r.Get(table, k)
		say("%s %x is %x", table, k, b)
		return err
	case 6:
		k, b, err := r.Before(table, key())
		last, errLast := r.Last(table)
		say("%s before %x %x %v, last %x %v", table, k, b, err, last, errLast)
		return errors.Join(err, errLast)
	case 7: // a walk that changes what it walks through
		return r.Each(table, nil, func(k, b []byte) (bool, error) {
			say("%s walks %x %x", table, k, b)
			if draw(3) == 0 {
				return true, r.Remove(table, key())
			}
			return true, r.Put(table, key(), []byte{2, byte(draw(3))})
		})
	case 8:
		find := r.Finder(table)
		for range 3 {
			k := key()
			b, err := find.Find(k)
			say("%s finds %x %x", table, k, b)
			if err != nil {
				return err
			}
		}
		for c := r.Range(table, key(), row.Key64(30)); c.Next(); {
			say("%s has %x %x", table, c.Key, c.Payload)
		}
	}
	return nil
}

// stored returns all rows of a file.
func stored(t *testing.T, f *File) (all []string) {
	t.Helper()
	err := f.View(func(r *Recorder) error {
		for table := range row.TableCount {
			err := r.EachStored(table, func(k, v []byte) error {
				if table != row.Meta {
					all = append(all, fmt.Sprintf("%s %x %x", table, k, v))
				}
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

// TestThinking: while a writer computes, others read, and other writers wait. A process that
// brings the file up to date with a log does not wait. It then writes nothing, unless the
// writer allows that.
func TestThinking(t *testing.T) {
	t.Parallel()
	f := newFile(t)
	put := func(key string) func(r *Recorder) (bool, error) {
		return func(r *Recorder) (bool, error) { return true, r.Put(row.Config, []byte(key), []byte{1}) }
	}
	has := func(want ...string) {
		t.Helper()
		var got []string
		err := f.View(func(r *Recorder) error {
			return r.Each(row.Config, nil, func(k, _ []byte) (bool, error) {
				got = append(got, string(k))
				return true, nil
			})
		})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q is there, want %q: %v", got, want, err)
		}
	}
	hasty := &File{path: f.path, opt: Options{LockTimeout: 20 * time.Millisecond}}
	waits := func() {
		t.Helper()
		for _, err := range []error{hasty.Update(put("w")), hasty.UpdateBeside(put("w"))} {
			if !errors.Is(err, ErrLocked) || !strings.Contains(err.Error(), "which has written since") {
				t.Errorf("another writer: %v", err)
			}
		}
	}
	err := f.Reserve(func(h *Reserved) error {
		d, err := h.Try(func(r *Recorder) (bool, error) {
			keep, err := put("a")(r)
			has()
			waits()
			return keep, err
		})
		if err != nil {
			return err
		}
		has()
		waits()
		done, err := h.Write(d, nil)
		if !done || err != nil {
			t.Errorf("%v, %v", done, err)
		}
		has("a")
		waits()
		began := time.Now()
		d, err = h.Try(func(r *Recorder) (bool, error) {
			if _, err := put("c")(r); err != nil {
				return false, err
			}
			err := f.Follow(put("b")) // it waits for the writer to leave the file, no longer
			if b, got := r.Get(row.Config, []byte("b")); b != nil || got != nil {
				t.Errorf("the writer sees what came after it began: %x, %v", b, got)
			}
			return true, err
		})
		if took := time.Since(began); err != nil || took > 5*time.Second {
			t.Errorf("after %v: %v", took, err)
		}
		has("a", "b")
		if done, err := h.Write(d, nil); done || err != nil {
			t.Errorf("the file is another: %v, %v", done, err)
		}
		has("a", "b")
		if done, err := h.Write(d, func(r *Recorder) (bool, error) { return true, nil }); !done || err != nil {
			t.Errorf("it may be: %v, %v", done, err)
		}
		has("a", "b", "c")
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	runs := 0
	err = f.UpdateBeside(func(r *Recorder) (bool, error) {
		if runs++; runs < besideMost {
			if err := f.Follow(put(fmt.Sprint("older", runs))); err != nil {
				return false, err
			}
		}
		return put("d")(r)
	})
	if err != nil || runs != besideMost {
		t.Errorf("after %d runs: %v", runs, err)
	}
	has("a", "b", "c", "d", "older1", "older2")
	if err := f.UpdateBeside(func(r *Recorder) (bool, error) { _, err := put("e")(r); return false, err }); err != nil {
		t.Error(err)
	}
	has("a", "b", "c", "d", "older1", "older2")
}
