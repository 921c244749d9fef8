package session

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"sync"
	"time"

	"github.com/placectl/placectl/internal/engine"
)

// handles are a run's handles on databases, one for each, which all callers share: a handle keeps its file open
// between transactions, or a connection to its log. The zero value holds none.
type handles struct {
	mu      sync.Mutex
	held    map[string]handle
	ends    string // where the watched log ended at the last look
	version int64  // how often its end has moved
	watched bool
	changed chan struct{} // receives when its end moves; nil if not wanted
}

// handle is a handle, and the file that it was made for.
type handle struct {
	db *engine.DB
	of fs.FileInfo // nil for a log
}

// LogMoves returns a channel that receives when the end of the watched log may have moved.
func (r *Run) LogMoves() <-chan struct{} {
	h := r.handles
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.changed == nil {
		h.changed = make(chan struct{}, 1)
	}
	return h.changed
}

// open returns the handle on a database. It connects if there is none, and, unless kept is set, if another file has
// got the name.
func (h *handles) open(name string, kept bool, connect func() (*engine.DB, error)) (*engine.DB, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var of fs.FileInfo
	if !engine.IsLog(name) {
		of, _ = os.Stat(name) // if it fails, connecting says why
	}
	if is, ok := h.held[name]; ok && (kept || is.of == nil || of != nil && os.SameFile(is.of, of)) {
		return is.db, nil
	}
	db, err := connect()
	if err == nil {
		if h.held == nil {
			h.held = make(map[string]handle)
		}
		h.held[name] = handle{db, of}
	}
	return db, err
}

// drop lets the next caller connect anew: a transaction of the handle has failed, and another database may have been
// copied over its file.
func (h *handles) drop(db *engine.DB) {
	h.mu.Lock()
	defer h.mu.Unlock()
	maps.DeleteFunc(h.held, func(_ string, is handle) bool { return is.db == db && is.of != nil })
}

// close closes the handles. As the answer is out, it first does what is due for each log: it takes a snapshot if
// times as much has been written as normally calls for one.
func (h *handles) close(times float64, failed func(name string, err error)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for name, is := range h.held {
		err := error(nil)
		if log := is.db.Log(); log != nil {
			err = log.Keep(times)
		}
		if err = errors.Join(err, is.db.Close()); err != nil {
			failed(name, err)
		}
	}
	h.held = nil
}

// lookAgain is how long a watch waits after an error.
const lookAgain = 200 * time.Millisecond

// stamp identifies the state of a log. From the first call on, a watch follows the log until ctx ends.
// The first look takes at most patience, in case the log does not answer.
func (h *handles) stamp(ctx context.Context, db *engine.DB, patience time.Duration) int64 {
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
func (h *handles) look(ctx context.Context, db *engine.DB) {
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
