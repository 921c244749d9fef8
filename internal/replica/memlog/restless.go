package memlog

import (
	"context"
	"crypto/rand"
	"sync"

	"github.com/placectl/placectl/internal/replica"
	"github.com/placectl/placectl/internal/row"
)

// Restless is a log in which another writer is always faster. Before it puts an entry or reports that
// nothing is newer, it inserts an entry that changes nothing. So every transaction's first run is
// discarded, whether it changes something or refuses.
type Restless struct {
	replica.Driver

	mu  sync.Mutex
	let uint64 // the position after which the next entry may be put
}

// Append puts an entry only when it is tried again.
func (d *Restless) Append(ctx context.Context, at replica.Position, entry []byte, turn replica.Turn) (*replica.Tail,
	error) {
	d.mu.Lock()
	let := d.let == at.N
	d.let = at.N + 1
	d.mu.Unlock()
	if let {
		return d.Driver.Append(ctx, at, entry, turn)
	}
	h, err := replica.DecodeHead(entry)
	if err != nil {
		return nil, err
	}
	return d.insert(ctx, at, h.Log, h.Format)
}

// After finds an entry after the end of the log.
func (d *Restless) After(ctx context.Context, at replica.Position, wait bool) (*replica.Tail, error) {
	tail, err := d.Driver.After(ctx, at, wait)
	if err != nil || at != tail.Head {
		return tail, err
	}
	format := uint32(row.Format)
	if snap, err := d.Snapshot(ctx, false); err == nil {
		format = snap.Format
	}
	return d.insert(ctx, at, [4]byte(tail.Log[:4]), format)
}

// insert puts an entry that changes nothing, and returns what is behind the position.
func (d *Restless) insert(ctx context.Context, at replica.Position, log [4]byte, format uint32) (*replica.Tail, error) {
	e := replica.Entry{Head: replica.Head{Position: at.N + 1, Log: log, Before: at.Chain, Format: format,
		Version: "restless", Verb: "nothing"}}
	rand.Read(e.ID[:])   //nolint:errcheck // it never fails
	b, err := e.Encode() // short enough not to fail
	if err != nil {
		return nil, err
	}
	if tail, err := d.Driver.Append(ctx, at, b, nil); tail != nil || err != nil {
		return tail, err
	}
	return d.Driver.After(ctx, at, false)
}
