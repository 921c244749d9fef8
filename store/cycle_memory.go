package store

import (
	"bytes"
	"fmt"
	"iter"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/placectl/placectl/placer/cycle"
	"github.com/placectl/placectl/store/internal/row"
)

// cycleMemory is what cycles hand on to later ones, in the tables Decided and Wakes. It
// is the cycle.Memory of a transaction.
type cycleMemory struct {
	tx    *Tx
	began uint64 // the last invalidation before the cycle
}

// decision finds what cycles have decided for a kind of request, nil for nothing.
func (tx *Tx) decision(kind string) (*cycle.Decision, error) {
	key := row.DecidedKey(kind)
	payload, err := tx.file.Get(row.Decided, key)
	if payload == nil || err != nil {
		return nil, err
	}
	return row.DecodeDecision(key, payload)
}

func (m *cycleMemory) Recall(kind string) (*cycle.Decision, error) { return m.tx.decision(kind) }

func (m *cycleMemory) Version() uint64 { return m.tx.state.Wakes }

func (m *cycleMemory) Invalidated(r *cycle.Request, since uint64) (bool, error) {
	if m.tx.state.Wakes == since || r.Beyond {
		return m.tx.state.Wakes != since, nil
	}
	last, err := m.tx.lastWake(r.Buckets)
	return last > since, err
}

func (m *cycleMemory) Freed(r *cycle.Request) (*roaring.Bitmap, error) {
	some, err := m.Invalidated(r, m.tx.state.Planned)
	if err != nil || !some {
		return roaring.New(), err
	}
	nodes, known, err := m.tx.wokenNodes()
	if err != nil || !known {
		return nil, err
	}
	return nodes, nil
}

// Keep writes down what was decided, and forgets what nobody asks for any more.
func (m *cycleMemory) Keep(kinds iter.Seq2[string, *cycle.Decision], whole bool) error {
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
		if err := m.tx.file.Remove(row.Wakes, row.KeyWoken); err != nil {
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
