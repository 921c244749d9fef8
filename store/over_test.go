package store_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/placectl/placectl/store"
	"github.com/placectl/placectl/store/storetest"
)

// TestWaitClosed: Wait fails on a handle that is closed before it or while it waits, whether the database is kept in a
// file or in a log.
func TestWaitClosed(t *testing.T) {
	t.Parallel()
	for _, path := range []string{filepath.Join(t.TempDir(), "file.db"), "memory:///wait/" + t.TempDir()} {
		if err := store.Create(path, nil, nil); err != nil {
			t.Fatal(err)
		}
		db, err := store.Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		state, err := db.Wait(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(50*time.Millisecond, func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
		defer stop()
		for _, since := range []string{state, state, ""} {
			if is, err := db.Wait(ctx, since); !errors.Is(err, store.ErrClosed) {
				t.Errorf("%s, %q: %q, %v", path, since, is, err)
			}
		}
	}
}

// TestTxOver: a transaction that is used after its function has returned fails, unless it
// still knows the answer.
func TestTxOver(t *testing.T) {
	t.Parallel()
	db, _ := storetest.New(t, furnish)
	var tx *store.Tx
	keep := func(now *store.Tx) error { tx = now; return nil }
	keepUsed := func(now *store.Tx) error {
		tx = now
		_, err := tx.Submit(store.Submission{Request: one})
		return err
	}
	for name, run := range map[string]func(func(*store.Tx) error) error{"View": db.View, "Update": db.Update,
		"Batch": db.Batch, "DryRun": db.DryRun} {
		for _, fn := range []func(*store.Tx) error{keep, keepUsed} {
			if err := run(fn); err != nil && name != "View" {
				t.Fatal(err)
			}
			for what, use := range map[string]func() error{
				"Job":    func() error { _, err := tx.Job(1); return err },
				"Node":   func() error { _, err := tx.Node("n1"); return err },
				"Submit": func() error { _, err := tx.Submit(store.Submission{Request: one}); return err },
				"Query": func() error {
					rows, err := tx.Query(t.Context(), store.Query{Text: "SELECT count(*) FROM events"})
					if err == nil && !rows.Next() {
						err = rows.Err()
					}
					return err
				},
				"Items":       func() error { _, err := tx.Items(); return err },
				"Identity":    func() error { _, err := tx.Identity(); return err },
				"Settings":    func() error { _, err := tx.Settings(); return err },
				"Shares":      func() error { _, err := tx.Shares(); return err },
				"EventsSince": func() error { _, err := tx.EventsSince(time.Time{}); return err },
				"Occupancy":   func() error { _, err := tx.Occupancy("n1"); return err },
				"When":        func() error { _, err := tx.When(one, time.Time{}, 1); return err },
				"Explain":     func() error { _, err := tx.Explain(one); return err },
				"Array":       func() error { _, err := tx.Array(1); return err },
				"RemoveNode":  func() error { return tx.RemoveNode("n1") },
				"Jobs": func() error {
					for _, err := range tx.Jobs() {
						return err
					}
					return nil
				},
				"Set":      func() error { return tx.Set(store.Queue{Name: "q"}) },
				"Cycle":    func() error { _, err := tx.Cycle(t.Context(), store.CycleOptions{}); return err },
				"Prospect": func() error { _, err := tx.Prospect(2); return err },
			} {
				err := use()
				if name == "View" && errors.Is(err, store.ErrReadOnly) {
					continue
				}
				if err == nil || !strings.Contains(err.Error(), "the transaction is over") {
					t.Errorf("%s after %s: %v", what, name, err)
				}
			}
		}
	}
}
