package replica

import (
	"context"
	"crypto/rand"
	"sync"

	"github.com/placectl/placectl/store/internal/row"
)

// Restless is a log in which another writer is always faster, for tests. Before it puts an entry or
// reports that nothing is newer, it inserts an entry that changes nothing. So every transaction's
// first run is discarded, whether it changes something or refuses.
type Restless struct {
	Driver

	mu  sync.Mutex
	let uint64 // the position after which the next entry may be put
}

// Append puts an entry only when it is tried again, see Log.
func (d *Restless) Append(ctx context.Context, at Position, entry []byte, place Place) (*Tail, error) {
	d.mu.Lock()
	let := d.let == at.N
	d.let = at.N + 1
	d.mu.Unlock()
	if !let {
		h, err := DecodeHead(entry)
		if err != nil {
			return nil, err
		}
		if tail, err := d.Driver.Append(ctx, at, nothing(at, h.Log, h.Format), place); tail != nil || err != nil {
			return tail, err
		}
		return d.Driver.After(ctx, at)
	}
	return d.Driver.Append(ctx, at, entry, place)
}

// After finds an entry after the end of the log, see Log.
func (d *Restless) After(ctx context.Context, at Position) (*Tail, error) {
	tail, err := d.Driver.After(ctx, at)
	if err != nil || at != tail.Head {
		return tail, err
	}
	format := uint32(row.Format)
	if snap, err := d.Snapshot(ctx); err == nil {
		format = snap.Format
	}
	if tail, err = d.Driver.Append(ctx, at, nothing(at, [4]byte(tail.Log[:4]), format), nil); tail != nil ||
		err != nil {
		return tail, err
	}
	return d.Driver.After(ctx, at)
}

// nothing returns an entry that changes nothing.
func nothing(at Position, log [4]byte, format uint32) []byte {
	e := Entry{Head: Head{Position: at.N + 1, Log: log, Before: at.Chain, Format: format, Version: "restless",
		Verb: "nothing"}}
	rand.Read(e.ID[:]) //nolint:errcheck // it never fails
	b, _ := e.encode() // short enough not to fail
	return b
}
