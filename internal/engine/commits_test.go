package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/placectl/placectl/internal/file"
	"github.com/placectl/placectl/internal/row"
	"github.com/placectl/placectl/placer"
	"go.etcd.io/bbolt"
)

// rawRows holds the rows of every table as they are stored.
type rawRows [row.TableCount]map[string]string

func readRaw(t *testing.T, db *DB) (rows rawRows) {
	t.Helper()
	b, err := bbolt.Open(db.Path(), 0o600, &bbolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	err = b.View(func(btx *bbolt.Tx) error {
		for t := range row.TableCount {
			rows[t] = make(map[string]string)
			b := btx.Bucket([]byte(t.String()))
			if b == nil {
				continue // of a later format
			}
			if err := b.ForEach(func(k, v []byte) error { rows[t][string(k)] = string(v); return nil }); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// do applies the changes of a commit.
func (rows *rawRows) do(set *file.ChangeSet) {
	for t := range row.TableCount {
		if set.Cleared(t) {
			clear(rows[t])
		}
		set.Each(t, func(key, value []byte) {
			if value != nil {
				rows[t][string(key)] = string(value)
			} else {
				delete(rows[t], string(key))
			}
		})
	}
}

// TestCommitted: the changes of a commit, applied to a copy of the rows before it, give the
// rows of the file after it.
func TestCommitted(t *testing.T) {
	t.Parallel()
	full, clock := fullDB(t)
	work := []func(*Tx) error{
		fillMore, stir,
		func(tx *Tx) error {
			_, err := tx.Cycle().Run(CycleSpec{Backfill: Conservative})
			clock.t += 50_000
			return err
		},
		func(*Tx) error { return nil }, // plans begin, reservations end
		func(tx *Tx) error { return tx.Config().Set("signature", "ncpus") },
		func(tx *Tx) error { return tx.Usage().Reset() },
		func(tx *Tx) error { _, err := tx.Batches().Remove("work1"); return err },
	}
	for i, fn := range work {
		commits(t, fmt.Sprint("step ", i), full, func() error { return full.Update(fn) })
	}
	rewrite(t, full, row.Nodes, func(_, value []byte) []byte { value[2]++; return value })
	commits(t, "repair", full, func() error { return full.Repair(func(string) {}) })
}

func fillMore(tx *Tx) error {
	for i := range 20 {
		err := tx.Once(&Once{Key: fmt.Sprint("key", i)}, func() error {
			_, err := tx.Jobs().Place(placer.Request{Select: "1:ncpus=1", Place: "scatter", Walltime: time.Hour})
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// commits does something that must commit exactly once.
func commits(t *testing.T, name string, db *DB, work func() error) {
	t.Helper()
	rows, count := readRaw(t, db), 0
	db.file.Committed = func(set *file.ChangeSet) { rows.do(set); count++ }
	if err := work(); err != nil || count != 1 {
		t.Fatalf("%s: %d commits: %v", name, count, err)
	}
	if diff := cmp.Diff(readRaw(t, db), rows); diff != "" {
		t.Errorf("%s (-file +what was told)\n%s", name, diff)
	}
}
