package store

import (
	"bytes"
	"fmt"
	"iter"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/placer/cycle"
	"github.com/placectl/placectl/store/internal/row"
)

// memory is what cycles hand on to later ones: what they have decided of requests, the
// last invalidation of that for each bucket, and the nodes on which room was made since a
// cycle has looked at all plans. The last are kept only as long as anybody waits. It is
// the cycle.Memory of a transaction, which writes it down as it commits.
type memory struct {
	tx      *Tx
	buckets map[uint32]uint64 // the last invalidation of each, of those in this transaction
	freed   *roaring.Bitmap   // nodes on which room was made in this transaction; nil for none
	all     uint64            // the last invalidation of everything in this transaction, 0 for none
	began   uint64            // the last invalidation before the cycle under way
}

// invalidate notes that room was made on nodes.
func (m *memory) invalidate(nodes []uint32) error {
	m.next()
	for _, n := range nodes {
		bucket, _, err := m.tx.loaded.nodes.head(n)
		if err != nil {
			return err
		}
		m.buckets[bucket] = m.tx.state.Invalidations
	}
	if m.freed == nil {
		m.freed = roaring.New()
	}
	m.freed.AddMany(nodes)
	return nil
}

// invalidateAll notes that any request may fit now.
func (m *memory) invalidateAll() {
	m.next()
	m.all = m.tx.state.Invalidations
}

func (m *memory) next() {
	m.tx.state.Invalidations++
	m.tx.dirty = m.tx.dirty || m.tx.Writable()
}

// Version makes it a cycle.Memory, as the other exported methods.
func (m *memory) Version() uint64 { return m.tx.state.Invalidations }

func (m *memory) Invalidated(r *cycle.Request, since uint64) (bool, error) {
	if m.tx.state.Invalidations == since || r.Beyond {
		return m.tx.state.Invalidations != since, nil
	}
	last, err := m.lastOfAll()
	for _, b := range r.Buckets {
		if err != nil || last > since {
			break
		}
		n, known := m.buckets[b.ID]
		if !known {
			n, err = m.stored(row.InvalidationKey(b.ID))
		}
		last = max(last, n)
	}
	return last > since, err
}

// lastOfAll is the last invalidation of everything.
func (m *memory) lastOfAll() (uint64, error) {
	stored, err := m.stored(row.KeyInvalidatedAll)
	return max(stored, m.all), err
}

// stored reads the number of an invalidation.
func (m *memory) stored(key []byte) (uint64, error) {
	payload, err := m.tx.file.Get(row.Invalidations, key)
	if payload == nil || err != nil {
		return 0, err
	}
	return row.DecodeInvalidation(key, payload)
}

func (m *memory) Freed(r *cycle.Request) (*roaring.Bitmap, error) {
	some, err := m.Invalidated(r, m.tx.state.Planned)
	if err != nil || !some {
		return roaring.New(), err
	}
	return m.freedNodes()
}

// freedNodes are the nodes on which room was made since a cycle has looked at all plans,
// in this transaction and before; nil when that may be any node.
func (m *memory) freedNodes() (*roaring.Bitmap, error) {
	if all, err := m.lastOfAll(); err != nil || all > m.tx.state.Planned {
		return nil, err
	}
	nodes := roaring.New()
	payload, err := m.tx.file.Get(row.Invalidations, row.KeyFreed)
	if err == nil && payload != nil {
		nodes, err = row.DecodeFreed(payload)
	}
	if err != nil {
		return nil, err
	}
	if m.freed != nil {
		nodes.Or(m.freed)
	}
	return nodes, nil
}

func (m *memory) Recall(kind string) (*cycle.Decision, error) {
	key := row.DecidedKey(kind)
	payload, err := m.tx.file.Get(row.Decided, key)
	if payload == nil || err != nil {
		return nil, err
	}
	return row.DecodeDecision(key, payload)
}

// Keep writes down what was decided, and forgets what nobody asks for any more.
func (m *memory) Keep(kinds iter.Seq2[string, *cycle.Decision], whole bool) error {
	seen := make(map[string]bool)
	for kind, d := range kinds {
		key := row.DecidedKey(kind)
		seen[string(key)] = true
		if d == nil {
			continue
		}
		if err := m.tx.file.Put(row.Decided, key, row.EncodeDecision(d)); err != nil {
			return err
		}
	}
	if !whole {
		return nil
	}
	if m.tx.state.Planned != m.began {
		m.tx.state.Planned, m.tx.dirty = m.began, true
		if err := m.tx.file.Remove(row.Invalidations, row.KeyFreed); err != nil {
			return err
		}
	}
	var gone [][]byte
	err := m.tx.file.Each(row.Decided, nil, func(key, _ []byte) (bool, error) {
		if !seen[string(key)] {
			gone = append(gone, bytes.Clone(key))
		}
		return true, nil
	})
	for _, key := range gone {
		if err == nil {
			err = m.tx.file.Remove(row.Decided, key)
		}
	}
	if err != nil {
		return fmt.Errorf("forgetting what was decided: %w", err)
	}
	return nil
}

// flush writes down what was invalidated.
func (m *memory) flush() error {
	if err := m.flushFreed(); err != nil {
		return err
	}
	for bucket, n := range m.buckets {
		if err := m.tx.file.Put(row.Invalidations, row.InvalidationKey(bucket), row.EncodeInvalidation(n)); err != nil {
			return err
		}
	}
	if m.all == 0 {
		return nil
	}
	return m.tx.file.Put(row.Invalidations, row.KeyInvalidatedAll, row.EncodeInvalidation(m.all))
}

func (m *memory) flushFreed() error {
	if m.freed == nil || !m.tx.Writable() {
		return nil
	}
	if m.tx.file.Last(row.Waiting) == nil {
		return m.tx.file.Remove(row.Invalidations, row.KeyFreed)
	}
	nodes, err := m.freedNodes()
	if err != nil || nodes == nil {
		return err
	}
	payload, err := row.EncodeFreed(nodes)
	if err != nil {
		return err
	}
	return m.tx.file.Put(row.Invalidations, row.KeyFreed, payload)
}
