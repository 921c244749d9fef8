package store

import (
	"bytes"
	"runtime"
	"strconv"
	"sync"
)

// running knows which goroutines are in a transaction of a handle, and whether that one
// writes. Other goroutines may wait for their turn. The same one would wait for itself,
// and has a Tx to use.
type running struct {
	mu sync.Mutex
	by map[uint64]bool
}

// enter notes that the goroutine begins a transaction, and returns what to call at its
// end. Readers that share the file may be inside each other.
func (r *running) enter(writes, alone bool) (leave func(), err error) {
	id := goroutine()
	r.mu.Lock()
	defer r.mu.Unlock()
	outer, inside := r.by[id]
	switch {
	case inside && (outer || writes || alone):
		return nil, ErrNested
	case inside:
		return func() {}, nil
	case r.by == nil:
		r.by = make(map[uint64]bool)
	}
	r.by[id] = writes
	return func() {
		r.mu.Lock()
		delete(r.by, id)
		r.mu.Unlock()
	}, nil
}

// goroutine is the number of the goroutine that calls, which begins its stack trace:
// "goroutine 7 [running]:".
func goroutine() uint64 {
	var buf [64]byte
	words := bytes.Fields(buf[:runtime.Stack(buf[:], false)])
	id, _ := strconv.ParseUint(string(words[1]), 10, 64)
	return id
}
