// Package storetest makes databases for the tests of programs.
package storetest

import (
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/placectl/placectl/store"
)

// Clock is a clock that stands until it is moved. Several goroutines may use it.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock forward.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// New makes a database in a folder of the test, and closes it when the test ends. Its clock begins on 2026-01-05, a
// Monday, at 9:00 in UTC. setup, which may be nil, runs on it first.
func New(t testing.TB, setup func(*store.Tx) error) (*store.DB, *Clock) {
	t.Helper()
	clock := &Clock{now: time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)}
	opt := &store.Options{Now: clock.Now, Simulation: true}
	path := filepath.Join(t.TempDir(), "test.db")
	if err := store.Create(path, opt, setup); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(path, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db, clock
}
