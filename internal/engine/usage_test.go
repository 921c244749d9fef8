package engine

import (
	"testing"
	"time"

	"github.com/placectl/placectl/placer"
)

// TestUsage: what a job has of a node counts until it has ended, however it ended, and no
// longer.
func TestUsage(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*Tx) error{
		"released":  func(tx *Tx) error { _, err := tx.Jobs().Release(1); return err },
		"done":      func(tx *Tx) error { _, err := tx.Jobs().Finish(1, 0, ""); return err },
		"failed":    func(tx *Tx) error { _, err := tx.Jobs().Finish(1, 3, ""); return err },
		"cancelled": func(tx *Tx) error { _, err := tx.Jobs().Cancel(1, ""); return err },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, clock := newDB(t)
			addNodes(t, db, "n", 1, 4)
			must := func(fn func(*Tx) error) {
				t.Helper()
				if err := db.Update(fn); err != nil {
					t.Fatal(err)
				}
			}
			used := func() (part float64) {
				must(func(tx *Tx) error {
					n, err := tx.Nodes().ByNumber(0)
					if err == nil {
						part, err = tx.Nodes().Used(n)
					}
					return err
				})
				return part
			}
			must(func(tx *Tx) error { return tx.Usage().Reset() })
			must(func(tx *Tx) error {
				_, err := tx.Jobs().Place(placer.Request{Select: "1:ncpus=2", Place: "shared", Walltime: time.Hour})
				return err
			})
			clock.t += 100
			if got := used(); got != 0.5 {
				t.Errorf("used %v while it runs, want a half", got)
			}
			must(end)
			clock.t += 100
			if got := used(); got != 0.25 {
				t.Errorf("used %v after as long without it, want a quarter", got)
			}
		})
	}
}
