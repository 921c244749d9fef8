// Package inlogs holds the handles of a run on databases that are kept in logs: one of each, for
// it has a connection.
package inlogs

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/placectl/placectl/store"
)

// Handles are the handles of a run. The zero value holds none.
type Handles struct {
	mu      sync.Mutex
	open    map[string]*store.DB
	ends    string // where the log that is watched ended when it was looked at last
	version int64  // how often it ended elsewhere
	watched bool
	changed chan struct{} // tells of that, if that is wanted
}

// Changed tells that the log that is watched may end elsewhere than it did.
func (h *Handles) Changed() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.changed == nil {
		h.changed = make(chan struct{}, 1)
	}
	return h.changed
}

// Open is the handle on a database, which is made where there is none yet.
func (h *Handles) Open(name string, connect func() (*store.DB, error)) (*store.DB, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if db := h.open[name]; db != nil {
		return db, nil
	}
	db, err := connect()
	if err == nil {
		if h.open == nil {
			h.open = map[string]*store.DB{}
		}
		h.open[name] = db
	}
	return db, err
}

// Leave gives the connections up. What is due for a log is done now that the answer is given:
// a snapshot is kept where so many times as much has been written as calls for one.
func (h *Handles) Leave(times float64, failed func(name string, err error)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for name, db := range h.open {
		if err := errors.Join(db.Log().Keep(times), db.Close()); err != nil {
			failed(name, err)
		}
	}
	h.open = nil
}

// lookAgain is how long a watch waits after an error.
const lookAgain = 200 * time.Millisecond

// Stamp identifies the state of a log: from the first call on, a watch follows it until ctx ends.
// The first look takes at most patience, in case the log does not answer.
func (h *Handles) Stamp(ctx context.Context, db *store.DB, patience time.Duration) int64 {
	h.mu.Lock()
	watched := h.watched
	h.watched = true
	h.mu.Unlock()
	if !watched {
		first, cancel := context.WithTimeout(ctx, patience)
		h.look(first, db)
		cancel()
		go func() {
			for ctx.Err() == nil {
				h.look(ctx, db)
			}
		}()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.version
}

// look notes where the log ends when it ends elsewhere than it did.
func (h *Handles) look(ctx context.Context, db *store.DB) {
	h.mu.Lock()
	since := h.ends
	h.mu.Unlock()
	ends, err := db.Log().Watch(ctx, since)
	if err != nil {
		time.Sleep(lookAgain)
		return
	}
	h.mu.Lock()
	h.ends = ends
	h.version++
	select {
	case h.changed <- struct{}{}:
	default: // it is known already, or of no interest
	}
	h.mu.Unlock()
}
