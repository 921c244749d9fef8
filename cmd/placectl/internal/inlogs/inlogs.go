// Package inlogs holds a run's handles on databases in logs. There is one for each database, because it
// has a connection.
package inlogs

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/placectl/placectl/store"
)

// Handles are a run's handles. The zero value holds none.
type Handles struct {
	mu      sync.Mutex
	open    map[string]*store.DB
	ends    string // where the watched log ended at the last look
	version int64  // how often its end has moved
	watched bool
	changed chan struct{} // receives when its end moves; nil if not wanted
}

// Changed returns a channel that receives when the end of the watched log may have moved.
func (h *Handles) Changed() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.changed == nil {
		h.changed = make(chan struct{}, 1)
	}
	return h.changed
}

// Open returns the handle on a database, which it makes if necessary.
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

// Leave closes the connections. As the answer is out, it first does what is due for each log: it takes
// a snapshot if times as much has been written as normally calls for one.
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

// Stamp identifies the state of a log. From the first call on, a watch follows the log until ctx ends.
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

// look waits for the end of the log to move, and records it.
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
	default: // a notification is pending, or not wanted
	}
	h.mu.Unlock()
}
