package file

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/internal/row"
	"pgregory.net/rapid"
)

// TestChanges puts and removes rows in a change-set, enough for several pages, and in a map.
func TestChanges(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var c changes
		want := make(map[string]string)
		// prime to 1000: ascending, or all over the place
		step := rapid.SampledFrom([]int{1, 7, 11, 999}).Draw(t, "step")
		count := rapid.IntRange(0, 1000).Draw(t, "count")
		for i := range count {
			key := fmt.Sprintf("k%03d", i*step%1000)
			c.set([]byte(key), []byte(key))
			want[key] = key
		}
		for range rapid.IntRange(0, 50).Draw(t, "more") {
			key := fmt.Sprintf("k%04d", rapid.IntRange(0, 9999).Draw(t, "key"))
			if want[key] = rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "row"); want[key] == "" {
				c.set([]byte(key), nil)
			} else {
				c.set([]byte(key), []byte(want[key]))
			}
		}
		var keys []string
		for r, page, i := c.at(0, 0); r.key != nil; r, page, i = c.at(page, i+1) {
			keys = append(keys, string(r.key))
			if value, known := c.get(r.key); !known || string(value) != want[string(r.key)] ||
				!bytes.Equal(value, r.value) || (value == nil) != (want[string(r.key)] == "") {
				t.Fatalf("%s is %q, want %q", r.key, value, want[string(r.key)])
			}
		}
		sorted := slices.Sorted(maps.Keys(want))
		if diff := cmp.Diff(sorted, keys); diff != "" {
			t.Fatalf("(-put +there)\n%s", diff)
		}
		from := fmt.Sprintf("k%04d", rapid.IntRange(0, 9999).Draw(t, "from"))
		page, i, found := c.search([]byte(from))
		r, _, _ := c.at(page, i)
		at, known := slices.BinarySearch(sorted, from)
		if first := append(sorted, "")[at]; found != known || first != string(r.key) {
			t.Fatalf("from %s on the first is %q, want %q", from, r.key, first)
		}
		for _, p := range c.pages {
			if len(p) == 0 || len(p) > changesPage {
				t.Fatalf("a page of %d rows", len(p))
			}
		}
	})
}

// newFile makes an empty database.
func newFile(t testing.TB) *File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.db")
	if err := Create(path, func(string) error { return nil }); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path, Options{LockTimeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// view is a table as it should be, and a transaction that has it.
type view struct {
	file *Recorder
	rows map[string]string
}

// after returns the keys after one, or from it on.
func (v *view) after(key string, past bool) []string {
	keys := slices.Sorted(maps.Keys(v.rows))
	at, found := slices.BinarySearch(keys, key)
	if found && past {
		at++
	}
	return keys[at:]
}

// change puts a row, removes one or, seldom, clears the table.
func (v *view) change(t *rapid.T, key string) {
	var err error
	switch rapid.SampledFrom([]string{"put", "put", "put", "put", "remove", "remove", "remove", "remove", "remove",
		"clear"}).Draw(t, "change") {
	case "put":
		value := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "row")
		err, v.rows[key] = v.file.Put(row.Config, []byte(key), []byte(value)), value
	case "remove":
		err = v.file.Remove(row.Config, []byte(key))
		delete(v.rows, key)
	case "clear":
		if rapid.IntRange(0, 5).Draw(t, "seldom") == 0 {
			err = v.file.Clear(row.Config)
			clear(v.rows)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// walk goes through a part of the table and changes it meanwhile. Each row that was there at
// the beginning comes once, as it is now, or as it was if it is gone.
func (v *view) walk(t *rapid.T, key *rapid.Generator[string], nested int) {
	from, prefix := key.Draw(t, "from"), rapid.SampledFrom([]string{"", "k", "k0"}).Draw(t, "prefix")
	var want []string
	for _, k := range v.after(from, false) {
		if !strings.HasPrefix(k, prefix) {
			break
		}
		want = append(want, k)
	}
	then := maps.Clone(v.rows)
	err := v.file.EachFrom(row.Config, []byte(from), []byte(prefix), func(k, value []byte) (bool, error) {
		now, there := v.rows[string(k)]
		switch {
		case len(want) == 0 || want[0] != string(k):
			t.Fatalf("%s comes, of %q", k, want)
		case there && string(value) != now:
			t.Fatalf("%s is %q, and not %q", k, value, now)
		case !there && string(value) != then[string(k)]:
			t.Fatalf("%s was %q, and not %q", k, then[string(k)], value)
		}
		want = want[1:]
		for range rapid.SampledFrom([]int{0, 0, 0, 1, 3}).Draw(t, "changes") {
			v.change(t, key.Draw(t, "key"))
		}
		if nested > 0 && rapid.IntRange(0, 9).Draw(t, "deeper") == 0 {
			v.walk(t, key, nested-1)
		}
		return true, nil
	})
	if err != nil || len(want) > 0 {
		t.Fatalf("%v; %q did not come", err, want)
	}
}

// leap goes through the table with a cursor that skips, and changes it meanwhile. It gets the
// first row after the last one, in the table as it is then.
func (v *view) leap(t *rapid.T, key *rapid.Generator[string]) {
	c := v.file.Cursor(row.Config)
	at, past := "", false
	for {
		more := false
		if rapid.IntRange(0, 3).Draw(t, "skip") == 0 {
			if to := key.Draw(t, "to"); to > at {
				at, past = to, false
			}
			more = c.Seek([]byte(at))
		} else {
			more = c.Next()
		}
		rest := v.after(at, past)
		if more != (len(rest) > 0) || c.Err != nil ||
			more && (rest[0] != string(c.Key) || v.rows[rest[0]] != string(c.Payload)) {
			t.Fatalf("%v: %s is %q, want the first of %q", c.Err, c.Key, c.Payload, rest)
		}
		if !more {
			return
		}
		at, past = rest[0], true
		for range rapid.SampledFrom([]int{0, 0, 0, 1, 3}).Draw(t, "changes") {
			v.change(t, key.Draw(t, "key"))
		}
	}
}

// TestReaderPatches: a writer changes a table in the file, a reader has a patch over it, and
// both see what they should, whatever they iterate over meanwhile.
func TestReaderPatches(test *testing.T) {
	test.Parallel()
	key := rapid.Custom(func(t *rapid.T) string {
		return fmt.Sprintf("k%02d", rapid.IntRange(0, 60).Draw(t, "number"))
	})
	rapid.Check(test, func(t *rapid.T) {
		f := newFile(test) // a transaction that fails by a panic leaves it locked
		rows := make(map[string]string)
		err := f.Update(func(r *Recorder) (bool, error) {
			if err := r.Clear(row.Config); err != nil {
				return false, err
			}
			for range rapid.IntRange(0, 60).Draw(t, "rows") {
				k := key.Draw(t, "key")
				rows[k] = "0"
				if err := r.Put(row.Config, []byte(k), []byte("0")); err != nil {
					return false, err
				}
			}
			return true, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		run := func(r *Recorder) error {
			v := &view{file: r, rows: maps.Clone(rows)}
			for range rapid.IntRange(1, 8).Draw(t, "steps") {
				switch rapid.SampledFrom([]string{"change", "walk", "leap"}).Draw(t, "step") {
				case "change":
					v.change(t, key.Draw(t, "key"))
				case "walk":
					v.walk(t, key, 2)
				case "leap":
					v.leap(t, key)
				}
				for i := range 61 {
					k := fmt.Sprintf("k%02d", i)
					value, err := r.Get(row.Config, []byte(k))
					if want, there := v.rows[k]; err != nil || string(value) != want || (value != nil) != there {
						t.Fatalf("%v: %s is %q, want %q", err, k, value, want)
					}
				}
			}
			return nil
		}
		if rapid.Bool().Draw(t, "writer") {
			err = f.Update(func(r *Recorder) (bool, error) {
				if err := run(r); err != nil {
					return false, err
				}
				return false, r.CheckRows(func(_ row.Table, format string, args ...any) {
					if strings.Contains(format, "with the sum") { // the rows here are none that could be decoded
						t.Fatalf(format, args...)
					}
				})
			})
		} else {
			err = f.View(func(r *Recorder) error {
				if err := r.Clear(row.Config); !errors.Is(err, ErrReadOnly) {
					t.Fatalf("a reader clears a table: %v", err)
				}
				defer r.Pass()()
				return run(r)
			})
		}
		if err != nil {
			t.Fatal(err)
		}
	})
}

// TestBackAgain: rows that return to what they were are no change, and nothing is committed.
func TestBackAgain(t *testing.T) {
	f := newFile(t)
	defer f.Close()
	put := func(key, value string) func(*Recorder) error {
		return func(r *Recorder) error { return r.Put(row.Jobs, []byte(key), []byte(value)) }
	}
	remove := func(key string) func(*Recorder) error {
		return func(r *Recorder) error { return r.Remove(row.Jobs, []byte(key)) }
	}
	for _, update := range []func(func(*Recorder) (bool, error)) error{f.Update, f.UpdateBeside} {
		for _, c := range []struct {
			steps []func(*Recorder) error
			want  bool
		}{
			{[]func(*Recorder) error{put("a", "1"), put("b", "1")}, true},
			{[]func(*Recorder) error{remove("a"), put("a", "1")}, false},
			{[]func(*Recorder) error{put("a", "2"), put("b", "2"), put("a", "3"), put("b", "1"), put("a", "1")}, false},
			{[]func(*Recorder) error{remove("a"), put("a", "2")}, true},
			{[]func(*Recorder) error{remove("a"), remove("b"), put("b", "1")}, true},
			{[]func(*Recorder) error{remove("b")}, true},
		} {
			err := update(func(r *Recorder) (bool, error) {
				for _, step := range c.steps {
					if err := step(r); err != nil {
						return false, err
					}
				}
				if r.Changed() != c.want {
					t.Errorf("changed %v, want %v", r.Changed(), c.want)
				}
				return r.Changed(), nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}
