package engine

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/placectl/placectl/index"
	"github.com/placectl/placectl/internal/nodes"
	"github.com/placectl/placectl/placer"
)

// clock is a test's notion of now.
type clock struct{ t int64 }

func (c *clock) now() time.Time { return time.Unix(c.t, 0) }

// newDB makes an empty database with a clock of its own.
func newDB(t testing.TB) (*DB, *clock) {
	t.Helper()
	c := &clock{t: 1_000_000}
	path := filepath.Join(t.TempDir(), "test.db")
	opt := &Options{Now: c.now, LockTimeout: 5 * time.Second}
	if err := Create(path, opt, nil); err != nil {
		t.Fatal(err)
	}
	db, err := Open(path, opt)
	if err != nil {
		t.Fatal(err)
	}
	return db, c
}

// addNodes adds n nodes called prefix0... with some ncpus.
func addNodes(t testing.TB, db *DB, prefix string, n int, ncpus int64) {
	t.Helper()
	err := db.Update(func(tx *Tx) error {
		for i := range n {
			node := &index.Node{Name: fmt.Sprintf("%s%d", prefix, i)}
			node.Set(index.NCPUs, index.Value{Num: ncpus})
			if _, err := tx.Nodes().Put(node); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func place(db *DB, sel string, walltime time.Duration) (job *Job, vnodes string, err error) {
	err = db.Update(func(tx *Tx) error {
		if job, err = tx.Jobs().Place(placer.Request{Select: sel, Place: "scatter:excl",
			Walltime: walltime}); err != nil {
			return err
		}
		vnodes, err = tx.Jobs().ExecVNode(job)
		return err
	})
	return job, vnodes, err
}

func TestPlaceReleaseReopen(t *testing.T) {
	db, clock := newDB(t)
	addNodes(t, db, "n", 4, 2)
	job, vnodes, err := place(db, "3:ncpus=1", time.Hour)
	if err != nil || vnodes != "(n0:ncpus=1)+(n1:ncpus=1)+(n2:ncpus=1)" {
		t.Fatal(vnodes, err)
	}
	var refusal *placer.Refusal
	if _, _, err = place(db, "2:ncpus=1", time.Hour); !errors.As(err, &refusal) || !refusal.HasStart ||
		refusal.Start != clock.t+3600 {
		t.Fatal(err, refusal)
	}
	clock.t += 7200 // overdue: nodes stay taken
	if _, _, err = place(db, "2:ncpus=1", time.Hour); !errors.As(err, &refusal) ||
		refusal.Start != clock.t+nodes.Grace {
		t.Fatal(err, refusal)
	}
	if err := db.Update(func(tx *Tx) error { _, err := tx.Jobs().Release(job.ID); return err }); err != nil {
		t.Fatal(err)
	}
	if _, vnodes, err = place(db, "4:ncpus=2", time.Hour); err != nil {
		t.Fatal(vnodes, err)
	}
	if _, _, err = place(db, "5:ncpus=2", time.Hour); !errors.Is(err, placer.ErrNever) {
		t.Fatal(err)
	}
}
