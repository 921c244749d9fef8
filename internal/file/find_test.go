package file

import (
	"bytes"
	"errors"
	"os"
	"testing"

	"github.com/placectl/placectl/internal/row"
)

// TestHeadLost: a small table whose rows are inside another page seems empty once its head has
// lost their number. That must not count as a row that does not exist.
func TestHeadLost(t *testing.T) {
	t.Parallel()
	f := newFile(t)
	key := row.TimeKey(0x1234567, 0x89abcde)
	err := f.Update(func(r *Recorder) (bool, error) { return true, r.Mark(row.Releases, key) })
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(f.Path())
	if err != nil {
		t.Fatal(err)
	}
	heads := 0
	// bbolt's page head (its last six bytes count the rows) and the head of its only row are 16 bytes each
	for rest := data; ; heads++ {
		at := bytes.Index(rest, key)
		if at < 0 {
			break
		}
		clear(rest[at-22 : at-16])
		rest = rest[at+len(key):]
	}
	if err := os.WriteFile(f.Path(), data, 0o600); err != nil || heads == 0 {
		t.Fatal(heads, err)
	}
	again, err := Open(f.Path(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = again.View(func(r *Recorder) error {
		_, err := r.Get(row.Releases, key)
		return err
	})
	if !errors.Is(err, row.ErrDamaged) {
		t.Errorf("a row of a table whose head is lost: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// TestLastOfNone: a transaction that has removed every row of a table of many pages finds no
// last one, and continues.
func TestLastOfNone(t *testing.T) {
	t.Parallel()
	const rows = 2000
	for name, look := range map[string]func(r *Recorder) error{
		"last": func(r *Recorder) error {
			key, err := r.Last(row.Jobs)
			if key != nil {
				t.Errorf("the last row of none is %x", key)
			}
			return err
		},
		"before": func(r *Recorder) error {
			key, _, err := r.Before(row.Jobs, row.Key64(rows))
			if key != nil {
				t.Errorf("the row before is %x", key)
			}
			return err
		},
		"put": func(r *Recorder) error { return r.Put(row.Jobs, row.Key64(7), []byte{1}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFile(t)
			stamp(t, f, rows, 1)
			if err := f.Update(func(r *Recorder) (bool, error) {
				for i := range uint64(rows) {
					if err := r.Remove(row.Jobs, row.Key64(i)); err != nil {
						return false, err
					}
				}
				return true, look(r)
			}); err != nil {
				t.Fatal(err)
			}
		})
	}
}
