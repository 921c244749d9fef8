package replica

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
)

// TestChange: a change makes the new row from the old one.
func TestChange(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		old := make([]byte, rng.IntN(100_000))
		for k := range old {
			old[k] = byte(rng.IntN(1 + i%255))
		}
		value := bytes.Clone(old)
		for range rng.IntN(5) {
			at := rng.IntN(len(value) + 1)
			value = append(value[:at:at], append(make([]byte, rng.IntN(300)), value[at:]...)...)
		}
		key := []byte("key")
		old, value = row.Seal(key, append([]byte{1}, old...)), row.Seal(key, append([]byte{2}, value...))
		o, same, err := change(key, old, value)
		if err != nil || same {
			t.Fatal(same, err)
		}
		got, err := o.becomes(row.Config, old)
		if err != nil || !bytes.Equal(got, value) {
			t.Fatalf("run %d, %d bytes, change of kind %d: %v", i, len(value), o.kind, err)
		}
	}
}

// emptyFile returns an empty replica.
func emptyFile(t testing.TB) *file.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "first.db")
	if err := file.Create(path, func(string) error { return nil }); err != nil {
		t.Fatal(err)
	}
	f, err := file.Open(path, file.Options{Replica: true})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestProof: an entry that does not give the rows of the transaction is found before it is
// appended.
func TestProof(t *testing.T) {
	t.Parallel()
	f := emptyFile(t)
	set := func(r *file.Recorder, key, value string) error {
		return r.Put(row.Config, []byte(key), append([]byte{1}, value...))
	}
	err := f.Follow(func(r *file.Recorder) (bool, error) {
		return true, set(r, "k", strings.Repeat("a long row ", 100))
	})
	if err != nil {
		t.Fatal(err)
	}
	err = f.Follow(func(r *file.Recorder) (bool, error) {
		if err := errors.Join(set(r, "k", strings.Repeat("a long row ", 99)), set(r, "l", "v"),
			r.Remove(row.Config, []byte("none"))); err != nil {
			return false, err
		}
		return false, r.Previous(func(before func(t row.Table, key []byte) []byte) error {
			tables, err := changesOf(r.Changes(), before)
			if err != nil {
				return err
			}
			for what, spoil := range map[string]func([]tableChange){
				"":             func([]tableChange) {},
				"left out":     func(ts []tableChange) { ts[0].ops = ts[0].ops[:1] },
				"another row":  func(ts []tableChange) { ts[0].ops[1].value = []byte("w") },
				"another key":  func(ts []tableChange) { ts[0].ops[1].key = []byte("m") },
				"cleared":      func(ts []tableChange) { ts[0].cleared = true },
				"spoilt delta": func(ts []tableChange) { ts[0].ops[0].value = bytes.Repeat([]byte("x"), 30) },
			} {
				list := []tableChange{{name: tables[0].name, ops: append([]op{}, tables[0].ops...)}}
				spoil(list)
				b, err := (&Entry{tables: list}).Encode()
				if err != nil {
					return err
				}
				if err := prove(b, r.Changes(), before); (err == nil) != (what == "") {
					t.Errorf("%q: %v", what, err)
				}
			}
			return nil
		})
	})
	if err != nil {
		t.Error(err)
	}
}
