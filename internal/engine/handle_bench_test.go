package engine

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/placectl/placectl/placer"
)

// BenchmarkHandle measures transactions of a handle that keeps its file open and lets others in. The folder is that
// of the tests, or PLACECTL_BENCH_DIR.
func BenchmarkHandle(b *testing.B) {
	dir, err := os.MkdirTemp(os.Getenv("PLACECTL_BENCH_DIR"), "handle-")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { os.RemoveAll(dir) })
	view := func(db *DB) error { return db.View(func(tx *Tx) error { _, err := tx.k.Index(); return err }) }
	release := func(db *DB) (err error) {
		var job *Job
		if err = db.Update(func(tx *Tx) error {
			job, err = tx.Jobs().Place(placer.Request{Select: "1:ncpus=1", Walltime: time.Hour})
			return err
		}); err != nil {
			return err
		}
		return db.Update(func(tx *Tx) error { _, err := tx.Jobs().Release(job.ID); return err })
	}
	for _, c := range []struct {
		name string
		does func(*DB) error
	}{
		{"View", view},
		{"PlaceRelease", release},
	} {
		b.Run(c.name, func(b *testing.B) {
			path := filepath.Join(dir, "h.db")
			os.Remove(path)
			os.Remove(path + ".lock")
			if err := Create(path, nil, nil); err != nil {
				b.Fatal(err)
			}
			db, err := Open(path, nil)
			if err != nil {
				b.Fatal(err)
			}
			defer db.Close()
			addNodes(b, db, "n", 50, 16)
			for b.Loop() {
				if err := c.does(db); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
